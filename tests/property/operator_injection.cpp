// SPDX-License-Identifier: BSD-3-Clause
// Laws of injections, between degrees on one mesh and from a refined mesh, on every shape: they keep polynomials of the
// coarse degree and take back what prolongation does; broken spaces take the mean of their cells; threads do not
// change a bit.
#include <gtest/gtest.h>

#include <rafter/operator/levels/injection.hpp>
#include <rafter/space/evaluate.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/operator_laws.hpp>
#include <tests/support/reference_transfer.hpp>
#include <tests/support/transfer_problems.hpp>

namespace rafter::test {
namespace {

op::InjectionSpecification injection_of(const op::TransferSpecification& of) {
  return {.fine = of.fine.spaces[0], .coarse = of.coarse.spaces[0], .refinement = of.refinement};
}

Vector injected(const op::TransferSpecification& of, const Vector& fine) {
  Vector result(fine.device(), static_cast<std::size_t>(of.coarse.size()));
  std::ranges::fill(result.host_overwrite(), 17.0);
  op::Injection(injection_of(of)).apply(fine, result);
  return result;
}

class Injections : public ::testing::TestWithParam<TransferCase> {
protected:
  const std::string& shape() const { return GetParam().shape; }
  const TransferWay& way() const { return GetParam().way; }
};

TEST_P(Injections, KeepPolynomialsOfTheCoarseDegree) {
  const auto device = device::make_device("host", 2);
  for (const auto& [coarse, fine] : {std::pair{1, 4}, {2, 3}, {3, 4}}) {
    const TransferProblem problem(scrambled(sheared(box(shape())), 3, way().axes), way(),
                                  {.coarse_degree = coarse, .fine_degree = fine, .components = {2}});
    const auto& of = problem.specification;
    const Power power{.degree = coarse, .dim = box_dimension(shape())};
    const auto f = [&power](std::span<const double> x, std::size_t c) { return power(x, c) + static_cast<double>(c); };
    const auto expected = values_of(interpolated_on(of.coarse, device, f));
    const auto found = values_of(injected(of, interpolated_on(of.fine, device, f)));
    EXPECT_LE(distance(found, expected), rounding(fine) * largest(expected)) << fine << " to " << coarse;
  }
}

TEST_P(Injections, TakeBackWhatProlongationDoes) {
  // Children of pyramids are no subspace, but at degree 1 their vertices hold those of the parents.
  const int degree = shape() == "pyramid" || shape() == "mixed" ? 1 : 3;
  const auto device = device::make_device("host", 1);
  const TransferProblem problem(scrambled(box(shape()), 2, way().axes), way(),
                                {.coarse_degree = degree, .fine_degree = degree + 1, .components = {2}});
  const auto& of = problem.specification;
  Vector x = vector_on(of.coarse, device, 1), fine = vector_on(of.fine, device, 2);
  for (const auto entry : of.coarse.padding()) x.host_write()[static_cast<std::size_t>(entry)] = 0;
  ReferenceTransfer(of).prolongate(x, fine);
  EXPECT_LE(distance(values_of(injected(of, fine)), values_of(x)), rounding(degree + 1) * largest(values_of(x)));
}

TEST_P(Injections, GiveTheSameBitsOnAnyNumberOfThreads) {
  const auto made = [&](int threads) {
    const auto device = device::make_device("host", threads);
    const TransferProblem problem(box(shape(), 4), way(), {.coarse_degree = 2, .fine_degree = 3});
    return values_of(injected(problem.specification, vector_on(problem.specification.fine, device, 1)));
  };
  EXPECT_EQ(made(1), made(3));
}

INSTANTIATE_TEST_SUITE_P(shapes, Injections, ::testing::ValuesIn(transfer_cases()),
                         [](const auto& of) { return name(of.param); });

TEST(Injection, OfABrokenSpaceTakesTheMeanOfTheChildrenAtANode) {
  const auto generations =
      mesh::refined_generations(std::make_shared<const mesh::Mesh>(mesh::make_box({.cells = {1}, .shape = ""})), 1);
  const auto on = [](const std::shared_ptr<const mesh::Mesh>& mesh, int degree) {
    return space::FunctionSpace::make(
        std::make_shared<const space::Discretisation>(mesh, space::DiscretisationOptions{.degree = degree}),
        {.degree = degree, .is_broken = true});
  };
  const auto fine = on(generations.finest(), 1), coarse = on(generations.meshes[0], 2);
  const auto device = device::make_device("host", 1);
  Vector values(device, static_cast<std::size_t>(fine->num_local())),
      result(device, static_cast<std::size_t>(coarse->num_local()));
  // One half has 1 everywhere, the other 3.
  const auto to = values.host_overwrite();
  std::ranges::fill(to, 0.0);
  std::vector<std::int32_t> entries(2);
  for (std::int32_t cell = 0; cell < 2; ++cell) {
    const auto position = fine->position(0, cell);
    fine->cell_dofs(position.block, position.batch, position.cell, entries);
    for (const auto entry : entries) to[static_cast<std::size_t>(entry)] = 1.0 + 2.0 * cell;
  }
  op::Injection({.fine = fine, .coarse = coarse, .refinement = &generations.refinements[0]}).apply(values, result);
  const std::vector<double> points{-1, 0, 1};
  const auto found = space::tabulate_field(*coarse, result.host_read(), 0, 0, points);
  EXPECT_DOUBLE_EQ(found[0] + found[2], 4);
  EXPECT_DOUBLE_EQ(found[1], 2);
}

TEST(Injection, OfSpacesThatDoNotFitIsRefused) {
  const auto refined = TransferProblem(box("triangle"), true, {}), other = TransferProblem(box("triangle"), true, {}),
             vectors = TransferProblem(box("triangle"), true, {.components = {2}});
  auto of = injection_of(refined.specification);
  EXPECT_THROW(op::Injection({.fine = of.fine, .coarse = of.coarse}), base::InputError);
  EXPECT_THROW(op::Injection({of.fine, of.coarse, other.specification.refinement}), base::InputError);
  EXPECT_THROW(op::Injection({vectors.specification.fine.spaces[0], of.coarse, of.refinement}), base::InputError);
  const auto device = device::make_device("host", 1);
  Vector short_one(device, 1), result(device, static_cast<std::size_t>(of.coarse->num_local()));
  EXPECT_THROW(op::Injection(of).apply(short_one, result), base::InputError);
}

} // namespace
} // namespace rafter::test
