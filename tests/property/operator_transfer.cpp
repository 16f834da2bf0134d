// SPDX-License-Identifier: BSD-3-Clause
// Laws of compiled transfers, between degrees on one mesh and between a mesh and its refinement, along all axes and
// along some, on every shape: they
// do what the reference does, compiled and interpreted; they keep polynomials of the coarse degree; restriction is the
// transpose of prolongation; on nested spaces P^T A P is the coarse operator; threads do not change a bit.
#include <gtest/gtest.h>

#include <rafter/form/parser.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_laws.hpp>
#include <tests/support/reference_transfer.hpp>
#include <tests/support/transfer_problems.hpp>

namespace rafter::test {
namespace {

/// Kernels run a few times here, so that they get the flags that compile fastest.
op::TransferOptions on(std::shared_ptr<device::Device> device, const std::string& plan = "") {
  return {.device = std::move(device), .plan = schedule::parse_plan("flags=quick " + plan), .planner = planner()};
}

/// A transfer makes these of random vectors.
struct Moved {
  std::vector<double> prolongated, added, restricted;
};
Moved moved(const op::Transfer& transfer, const op::TransferSpecification& of,
            const std::shared_ptr<device::Device>& device) {
  const Vector x = vector_on(of.coarse, device, 1), y = vector_on(of.fine, device, 2);
  Vector fine = vector_on(of.fine, device, 3), coarse = vector_on(of.coarse, device, 4);
  transfer.prolongate(x, fine);
  Moved result{.prolongated = values_of(fine), .added = {}, .restricted = {}};
  fill_random(fine, 5);
  transfer.prolongate_and_add(x, fine);
  result.added = values_of(fine);
  transfer.restrict_to(y, coarse);
  result.restricted = values_of(coarse);
  return result;
}

/// Compares with the reference, relative to the largest number.
void expect_same(const Moved& found, const Moved& expected, double tolerance) {
  EXPECT_LE(distance(found.prolongated, expected.prolongated), tolerance * largest(expected.prolongated));
  EXPECT_LE(distance(found.added, expected.added), tolerance * largest(expected.added));
  EXPECT_LE(distance(found.restricted, expected.restricted), tolerance * largest(expected.restricted));
}

class Transfers : public ::testing::TestWithParam<TransferCase> {
protected:
  const std::string& shape() const { return GetParam().shape; }
  const TransferWay& way() const { return GetParam().way; }
  bool is_refined() const { return way().is_refined; }
  int dim() const { return box_dimension(shape()); }
  TransferProblem problem(const TransferFields& fields) const {
    return {scrambled(box(shape()), 2, way().axes), way(), fields};
  }
  static void expect_reference(const TransferProblem& problem, bool is_interpreted, const std::string& plan = "") {
    const auto& of = problem.specification;
    const auto device = is_interpreted ? std::make_shared<InterpreterDevice>() : device::make_device("checked", 2);
    const int degree = std::max(of.coarse.spaces[0]->degree, of.fine.spaces[0]->degree);
    SCOPED_TRACE((is_interpreted ? "interpreted " : "compiled ") + plan);
    expect_same(moved(*op::make_transfer(of, on(device, plan)), of, device), moved(ReferenceTransfer(of), of, device),
                rounding(degree));
  }
};

TEST_P(Transfers, DoWhatTheReferenceDoes) {
  for (const auto& [coarse, fine] : {std::pair{1, 1}, {2, 4}})
    if (coarse < fine || is_refined()) expect_reference(problem({.coarse_degree = coarse, .fine_degree = fine}), true);
  expect_reference(problem({.coarse_degree = 1, .fine_degree = 2}), false);
  auto fixed = problem({.coarse_degree = 2, .fine_degree = 3, .components = {dim(), 0}});
  fixed.constrain({});
  expect_reference(fixed, false);
  if (dim() == 1) return;
  auto sliding = problem({.coarse_degree = 1, .fine_degree = 3, .components = {dim()}});
  sliding.constrain({1});
  expect_reference(sliding, true);
}

TEST_P(Transfers, DoSoWithEveryPlan) {
  auto vectors = problem({.coarse_degree = 1, .fine_degree = 3, .components = {2}});
  vectors.constrain({0});
  for (const auto* plan : {"mapping=plain", "vector_width=4 patches=0 prefetch=0", "indices=dofs gathers=scalar",
                           "vector_width=4 subbatches=2 unroll=0 rows=8 even_odd=0"})
    for (const bool is_interpreted : {true, false}) expect_reference(vectors, is_interpreted, plan);
}

TEST_P(Transfers, KeepPolynomialsOfTheCoarseDegree) {
  const auto device = std::make_shared<InterpreterDevice>();
  for (const auto& [coarse, fine] : {std::pair{1, 2}, {3, 5}, {4, 6}}) {
    const TransferProblem problem(scrambled(sheared(box(shape())), 3, way().axes), way(),
                                  {.coarse_degree = coarse, .fine_degree = fine, .components = {2}});
    const auto& of = problem.specification;
    const Power power{.degree = coarse, .dim = dim()};
    const auto f = [&power](std::span<const double> x, std::size_t c) { return power(x, c) + static_cast<double>(c); };
    Vector found = vector_on(of.fine, device, 1);
    op::make_transfer(of, on(device))->prolongate(interpolated_on(of.coarse, device, f), found);
    const auto expected = values_of(interpolated_on(of.fine, device, f));
    EXPECT_LE(distance(values_of(found), expected), rounding(fine) * largest(expected)) << coarse << " to " << fine;
  }
}

TEST_P(Transfers, RestrictByTheTranspose) {
  const auto device = device::make_device("host", 2);
  for (const bool is_curved : {false, true}) {
    TransferProblem problem(is_curved ? curved_box(shape(), 2) : box(shape()), way(),
                            {.coarse_degree = 2, .fine_degree = 3, .components = {2, 0}});
    problem.constrain({1});
    const auto& of = problem.specification;
    const auto transfer = op::make_transfer(of, on(device));
    const Vector x = vector_on(of.coarse, device, 1), y = vector_on(of.fine, device, 2);
    Vector Px = vector_on(of.fine, device, 3), Py = vector_on(of.coarse, device, 4);
    transfer->prolongate(x, Px);
    transfer->restrict_to(y, Py);
    EXPECT_NEAR(dot(Px, y), dot(x, Py), 1e-14 * norm(Px) * norm(y));
    EXPECT_GT(norm(Px), 0);
    for (const auto entry : of.constrained_fine) EXPECT_EQ(Px.host_read()[static_cast<std::size_t>(entry)], 0);
    for (const auto entry : of.constrained_coarse) EXPECT_EQ(Py.host_read()[static_cast<std::size_t>(entry)], 0);
    for (const auto entry : of.fine.padding()) EXPECT_EQ(Px.host_read()[static_cast<std::size_t>(entry)], 0);
  }
}

/// Vectors of floats, from a fixed random sequence.
device::SingleVector floats_on(const op::System& system, const std::shared_ptr<device::Device>& device, unsigned seed) {
  const auto values = values_of(vector_on(system, device, seed));
  return {device, base::AlignedVector<float>(values.begin(), values.end())};
}
template <class T> Vector widened(const device::Array<T>& x) {
  const auto values = x.host_read();
  return {x.device(), base::AlignedVector<double>(values.begin(), values.end())};
}

TEST_P(Transfers, MoveFloatsAsDoublesUpToTheirRounding) {
  const int fine_degree = 3;
  const double float_rounding = 0x1p-24 / 0x1p-53 * rounding(fine_degree);
  TransferProblem problem(scrambled(box(shape()), 2, way().axes), way(),
                          {.coarse_degree = 2, .fine_degree = fine_degree, .components = {2, 0}});
  problem.constrain({1});
  const auto& of = problem.specification;
  for (const bool is_interpreted : {false, true}) {
    const std::shared_ptr<device::Device> device =
        is_interpreted ? std::make_shared<InterpreterDevice>() : device::make_device("checked", 2);
    auto options = on(device);
    const auto in_double = op::make_transfer(of, options);
    options.precision = schedule::Precision::single_precision;
    const auto in_floats = op::make_transfer(of, options);
    const auto x = floats_on(of.coarse, device, 1), y = floats_on(of.fine, device, 2);
    auto Px = floats_on(of.fine, device, 3), Py = floats_on(of.coarse, device, 4);
    in_floats->prolongate(x, Px);
    in_floats->restrict_to(y, Py);
    Vector fine = widened(Px), coarse = widened(Py);
    EXPECT_NEAR(dot(fine, widened(y)), dot(widened(x), coarse), float_rounding * norm(fine) * norm(widened(y)));
    in_double->prolongate(widened(x), fine);
    in_double->restrict_to(widened(y), coarse);
    EXPECT_LE(distance(values_of(widened(Px)), values_of(fine)), float_rounding * largest(values_of(fine)));
    EXPECT_LE(distance(values_of(widened(Py)), values_of(coarse)), float_rounding * largest(values_of(coarse)));
    auto sum = floats_on(of.fine, device, 5);
    Vector expected = widened(sum);
    in_floats->prolongate_and_add(x, sum);
    in_double->prolongate_and_add(widened(x), expected);
    EXPECT_LE(distance(values_of(widened(sum)), values_of(expected)), float_rounding * largest(values_of(expected)));
    EXPECT_THROW(in_double->prolongate(x, Px), base::InternalError);
    EXPECT_THROW(in_floats->prolongate(widened(x), fine), base::InternalError);
  }
}

TEST_P(Transfers, MakeTheCoarseOperatorOfTheFineOne) {
  // Functions on pyramids are no polynomials, so that no rule is exact, but on one mesh both operators may have the
  // same rule. Children of pyramids are no subspace: P keeps polynomials alone there, whose energies stay.
  const bool has_pyramids = shape() == "pyramid" || shape() == "mixed";
  const TransferProblem problem(sheared(box(shape())), way(), {.coarse_degree = 2, .fine_degree = 3});
  const auto& of = problem.specification;
  const auto helmholtz = [](const op::System& system) {
    form::Scope scope(system.mesh->gdim);
    scope.add_arguments(
        std::vector<std::shared_ptr<const form::FieldSpace>>(system.spaces.begin(), system.spaces.end()));
    return form::parse_form("inner(grad(u0), grad(v))*dx + 0.7*u0*v*dx", scope);
  };
  auto options = planned({.threads = 1, .plan = "flags=quick"});
  if (has_pyramids) options.quadrature.points = 6;
  const op::Operator coarse(helmholtz(of.coarse), options), fine(helmholtz(of.fine), options);
  const auto transfer = op::make_transfer(of, on(fine.device()));
  if (has_pyramids && is_refined()) {
    const Power power{.degree = 2, .dim = dim()};
    const Vector f = interpolated_on(of.coarse, fine.device(), power);
    Vector Pf = fine.make_vector();
    transfer->prolongate(f, Pf);
    const double energy = dot(applied(coarse, f), f);
    EXPECT_NEAR(dot(applied(fine, Pf), Pf), energy, 1e-10 * energy);
    return;
  }
  const Vector x = random_vector(coarse, 1);
  Vector Px = fine.make_vector(), result = coarse.make_vector();
  transfer->prolongate(x, Px);
  transfer->restrict_to(applied(fine, Px), result);
  const auto expected = values_of(applied(coarse, x));
  EXPECT_LE(distance(values_of(result), expected), rounding(3) * largest(expected));
}

TEST_P(Transfers, GiveTheSameBitsOnAnyNumberOfThreads) {
  const auto made = [&](int threads) {
    const auto device = device::make_device("host", threads);
    TransferProblem problem(box(shape(), 5), way(), {.coarse_degree = 2, .fine_degree = 3});
    problem.constrain({});
    const auto transfer = op::make_transfer(problem.specification, {.device = device, .planner = planner()});
    return moved(*transfer, problem.specification, device);
  };
  const auto one = made(1), three = made(3);
  EXPECT_EQ(one.prolongated, three.prolongated);
  EXPECT_EQ(one.added, three.added);
  EXPECT_EQ(one.restricted, three.restricted);
}

INSTANTIATE_TEST_SUITE_P(shapes, Transfers, ::testing::ValuesIn(transfer_cases()),
                         [](const auto& of) { return name(of.param); });

TEST(Transfer, BetweenPeriodicSpacesDoesWhatTheReferenceDoes) {
  const auto device = device::make_device("checked", 2);
  for (const auto& way : {TransferWay{false}, {true}, {true, mesh::Axes{6}}}) {
    const TransferProblem problem(
        box("hexahedron", 3).periodic({{.from = {"xmin"}, .to = {"xmax"}}, {.from = {"ymin"}, .to = {"ymax"}}}), way,
        {.coarse_degree = 2, .fine_degree = 3});
    const auto& of = problem.specification;
    expect_same(moved(*op::make_transfer(of, on(device)), of, device), moved(ReferenceTransfer(of), of, device),
                rounding(3));
  }
}

TEST(Transfer, OfSystemsThatDoNotFitIsRefused) {
  const auto complaint = [](const op::TransferSpecification& of) -> std::string {
    try {
      (void)op::make_transfer(of, on(device::make_device("host", 1)));
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto refined = TransferProblem(box("triangle"), true, {}), other = TransferProblem(box("triangle"), true, {});
  const auto wide = TransferProblem(box("triangle"), false, {.components = {2}}),
             narrow = TransferProblem(box("triangle"), false, {.components = {2, 0}});
  auto of = refined.specification;
  of.refinement = nullptr;
  EXPECT_NE(complaint(of).find("on one discretisation"), std::string::npos);
  of.refinement = other.specification.refinement;
  EXPECT_NE(complaint(of).find("another mesh"), std::string::npos);
  of = wide.specification;
  of.fine = narrow.specification.fine;
  EXPECT_NE(complaint(of).find("the same fields"), std::string::npos);
  const auto degrees = TransferProblem(box("triangle"), false, {.fine_degree = 4});
  of = degrees.specification;
  const auto& dofs = of.fine.spaces[0]->block(0);
  const auto edge = std::ranges::find(dofs.layout.run_lengths, 3) - dofs.layout.run_lengths.begin();
  of.constrained_fine = {dofs.run_starts[static_cast<std::size_t>(edge * of.fine.batches->cells_per_batch)]};
  EXPECT_NE(complaint(of).find("part of an edge"), std::string::npos);
  of.constrained_fine = {dofs.interior_starts[0] + 1};
  EXPECT_NE(complaint(of).find("interior of a cell"), std::string::npos);
}

} // namespace
} // namespace rafter::test
