// SPDX-License-Identifier: BSD-3-Clause
// Singular systems with conditions that fix the null space have one solution, whatever method and preconditioner find
// it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rafter/mesh/locate.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/evaluate.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

using solvers::NullSpaceCondition;
using Kind = NullSpaceCondition::Kind;

struct Variant {
  std::string name;
  solvers::SolverOptions options;
};

std::vector<Variant> every_variant() {
  std::vector<Variant> variants;
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"})
    for (const char* method : {"cg, plain", "cg, fused", "gmres, right", "gmres, left"}) {
      solvers::SolverOptions options{.preconditioner = preconditioner, .control = {.rtol = 1e-13}, .restart = 400};
      const std::string text = method;
      options.method = text.substr(0, text.find(','));
      options.is_fused = text != "cg, plain";
      options.side = text == "gmres, left" ? solvers::Side::left : solvers::Side::right;
      variants.push_back({text + ", " + preconditioner, options});
    }
  return variants;
}

std::vector<double> solved(const op::Operator& A, const solvers::ConstrainedNullSpace& space, const Vector& b,
                           solvers::SolverOptions options) {
  options.null_space = space.null_space();
  Vector x = A.make_vector();
  solvers::VectorOps(A.device()).fill(0, x);
  const auto preconditioner = solvers::make_preconditioner(A, options);
  const auto result = solvers::method_of(options).run(A, b, x, *preconditioner, options);
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  space.constrain(x);
  return values_of(x);
}

Vector vector_of(const op::Operator& A, const std::vector<double>& values) {
  Vector result = A.make_vector();
  std::ranges::copy(values, result.host_overwrite().begin());
  return result;
}

class PureNeumann : public ::testing::TestWithParam<std::string> {};

TEST_P(PureNeumann, EveryMethodAndPreconditionerFindsTheSolutionOfThatMean) {
  Problem problem(scrambled(box(GetParam()), 3), 2);
  problem.with("kappa", 0.0);
  const op::Operator A(problem.form(helmholtz_form()), planned());
  const auto space = solvers::make_null_space(
      A, std::vector<NullSpaceCondition>{{.space = problem.space(), .kind = Kind::mean, .values = {0.7}}}, planned());
  Vector load = A.make_vector();
  op::LinearForm(problem.form("v*dx"), A.system(), planned()).assemble(load);

  // The right-hand side has no solution until a constant source is removed.
  Vector b = random_vector(A, 5);
  const auto before = values_of(b);
  double part = 0, volume = 0;
  for (std::size_t i = 0; i < before.size(); ++i) part += before[i];
  for (const double entry : load.host_read()) volume += entry;
  EXPECT_NEAR(space.balance(b), std::abs(part) / volume * norm(load) / norm(vector_of(A, before)), 1e-14);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(b.host_read()[i], before[i] - part / volume * load.host_read()[i], 1e-13);
  EXPECT_LE(space.balance(b), 1e-15);

  std::vector<double> first;
  for (const auto& variant : every_variant()) {
    SCOPED_TRACE(variant.name);
    const auto x = solved(A, space, b, variant.options);
    EXPECT_NEAR(dot(vector_of(A, x), load), 0.7 * volume, 1e-13 * largest(x) * volume);
    EXPECT_LE(distance(values_of(applied(A, vector_of(A, x))), values_of(b)), 1e-11 * largest(b.host_read()));
    if (first.empty()) first = x;
    EXPECT_LE(distance(x, first), 1e-10 * largest(first));
  }
}

TEST_P(PureNeumann, PointKeepsTheValueThere) {
  Problem problem(curved_box(GetParam(), 2), 2);
  problem.with("kappa", 0.0);
  const op::Operator A(problem.form(helmholtz_form()), planned());
  const auto at =
      space::FieldEvaluator(problem.space(), 0, std::vector<double>(static_cast<std::size_t>(problem.dim()), -0.3))
          .points(1);
  const auto space = solvers::make_null_space(
      A,
      std::vector<NullSpaceCondition>{{.space = problem.space(), .kind = Kind::point, .values = {-2.5}, .point = at}},
      planned());
  Vector b = random_vector(A, 6);
  space.balance(b);
  const auto x = solved(A, space, b, {});
  const auto place = mesh::locate(problem.mesh(), at);
  ASSERT_TRUE(place);
  EXPECT_NEAR(space::tabulate_field(*problem.space(), x, place->group, place->cell, place->reference)[0], -2.5,
              1e-12 * largest(x));
}

INSTANTIATE_TEST_SUITE_P(every_shape, PureNeumann, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

class FreeBody : public ::testing::TestWithParam<std::string> {
protected:
  FreeBody() : problem_(box(GetParam()), 2, box_dimension(GetParam())) { problem_.with("kappa", 1.5); }
  int dim() const { return problem_.dim(); }
  std::size_t num_modes() const { return static_cast<std::size_t>(dim() * (dim() + 1) / 2); }
  op::Operator make_operator(std::vector<op::FieldCondition> conditions = {}) const {
    return {problem_.form(elasticity_form(dim())), planned({.dirichlet = std::move(conditions)})};
  }
  solvers::ConstrainedNullSpace rigid_modes(const op::Operator& A) const {
    return solvers::make_null_space(
        A, std::vector<NullSpaceCondition>{{.space = problem_.space(), .kind = Kind::rigid_modes}}, planned());
  }
  /// Fixes one component on the boundary with this tag.
  op::FieldCondition slides(std::int32_t tag, int component) const {
    return {
        problem_.space(),
        {.tags = {tag},
         .value = [](std::span<const double> x, std::span<double> values) { std::ranges::fill(values, 0.1 * x[1]); },
         .components = {component}}};
  }
  Problem problem_;
};

TEST_P(FreeBody, SolutionIsOrthogonalToTheRigidModes) {
  const auto A = make_operator();
  const auto space = rigid_modes(A);
  EXPECT_EQ(space.null_space()->basis().size(), num_modes());
  Vector b = random_vector(A, 7);
  EXPECT_GT(space.balance(b), 1e-3);
  std::vector<double> first;
  for (const bool is_fused : {false, true})
    for (const char* preconditioner : {"jacobi", "chebyshev"}) {
      const auto x =
          solved(A, space, b, {.preconditioner = preconditioner, .control = {.rtol = 1e-12}, .is_fused = is_fused});
      if (first.empty()) first = x;
      EXPECT_LE(distance(x, first), 1e-9 * largest(first));
    }
  const Vector x = vector_of(A, first);
  std::vector<std::string> integrands;
  for (int i = 0; i < dim(); ++i) {
    integrands.push_back(fmt::format("u[{}]", i));
    for (int j = 0; j < i; ++j) integrands.push_back(fmt::format("(u[{0}]*x[{1}] - u[{1}]*x[{0}])", i, j));
  }
  const double size = largest(first);
  for (const auto& integrand : integrands)
    EXPECT_NEAR(op::Functional(problem_.functional(integrand + "*dx"), A.system(), planned())(x), 0, 1e-12 * size)
        << integrand;
}

TEST_P(FreeBody, SlidingSupportsLeaveSomeOfThem) {
  // The body rotates about the first axis (3D) and moves along the side on which x = 0.
  const auto one = make_operator({slides(1, 0)});
  const auto space = rigid_modes(one);
  EXPECT_EQ(space.null_space()->basis().size(), dim() == 2 ? 1u : 3u);
  Vector b = random_vector(one, 8), x = one.make_vector();
  one.apply_boundary_values(b, x);
  space.balance(b);
  const auto result = solvers::solve(one, b, x, {.control = {.rtol = 1e-12}, .null_space = space.null_space()});
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  space.constrain(x);
  EXPECT_LE(distance(values_of(applied(one, x)), values_of(b)), 1e-10 * largest(b.host_read()));
  for (std::size_t i = 0; i < one.constraints().entries.size(); ++i)
    EXPECT_EQ(x.host_read()[static_cast<std::size_t>(one.constraints().entries[i])], one.constraints().values[i]);
}

INSTANTIATE_TEST_SUITE_P(some_shapes, FreeBody, ::testing::Values("triangle", "quadrilateral", "hexahedron"),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
