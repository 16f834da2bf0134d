// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/rafter.hpp>
#include <tests/support/operator_problems.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Status;

namespace {

/// Zero values of a field on the whole boundary.
FieldCondition zero_on_boundary(const FunctionSpace& V) {
  return {V.ptr(), {.is_all = true, .value = [](std::span<const double>, std::span<double> values) {
                      std::ranges::fill(values, 0.0);
                    }}};
}

/// Stokes flow in a closed square with Taylor-Hood elements of this degree, on so many cells per edge.
class Stokes {
public:
  Stokes(const std::string& shape, int cells, int degree)
      : meshes(box_generations({.cells = {cells, cells}, .shape = shape}, 0)),
        V(meshes, {.degree = degree, .components = 2, .name = "u"}), Q(V, {.degree = degree - 1, .name = "p"}),
        A(make_form(), op::make_system({V.ptr(), Q.ptr()}), options()) {}

  Form make_form() const {
    const auto [u, v] = arguments(V);
    const auto [p, q] = arguments(Q);
    return (inner(grad(u), grad(v)) - p * div(v) - div(u) * q) * dx;
  }
  OperatorOptions options() const {
    return planned({.device = "host", .threads = 1, .dirichlet = {zero_on_boundary(V)}});
  }
  PreconditionerChoice preconditioner() const { return block({{"u", multigrid({.meshes = meshes})}, {"p", "jacobi"}}); }
  Vector load() const {
    const auto x = spatial_coordinate(2);
    const auto v = form::test_function(V);
    return assemble((x[1] * x[1] * v[0] - x[0] * v[1]) * dx, A);
  }
  SolveResult solved(const std::string& method) const {
    return solve(A, load(),
                 {.method = method,
                  .preconditioner = method == "direct" ? PreconditionerChoice("none") : preconditioner(),
                  .rtol = 1e-8,
                  .norm = method == "minres" ? solvers::Norm::preconditioned : solvers::Norm::residual,
                  .null_space = {Q.mean({0.0})}});
  }

  Generations meshes;
  FunctionSpace V, Q;
  Operator A;
};

} // namespace

TEST(BlockPreconditioner, AppliesThePreconditionerOfEachFieldToItsEntries) {
  const Stokes problem("quadrilateral", 8, 2);
  const auto blocks = make_blocks(problem.A, problem.preconditioner());
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_FALSE(blocks[0].is_mass);
  EXPECT_TRUE(blocks[1].is_mass);
  const auto M = solvers::make_preconditioner(problem.A, {.preconditioner = "block", .blocks = blocks});
  const Vector r = random_vector(problem.A, 1);
  Vector z = problem.A.make_vector();
  M->apply(r, z);
  for (const auto& block : blocks) {
    const auto own =
        solvers::make_preconditioner(*block.A, {.preconditioner = block.preconditioner, .hierarchy = block.hierarchy});
    Vector part(block.A->device(), static_cast<std::size_t>(block.A->size())), image(block.A->device(), part.size());
    const auto begin = static_cast<std::size_t>(block.entries.begin);
    std::ranges::copy(r.host_read().subspan(begin, part.size()), part.host_overwrite().begin());
    own->apply(part, image);
    for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(z.host_read()[begin + i], image.host_read()[i]) << i;
  }
}

TEST(BlockPreconditioner, TakesTheDiagonalBlocksOfTheOperator) {
  const Stokes problem("triangle", 4, 2);
  const auto block = make_blocks(problem.A, problem.preconditioner())[0];
  // The pressure is zero, so that the velocity's part of A x is the product with its block.
  Vector x = random_vector(problem.A, 2), y = problem.A.make_vector();
  const auto begin = static_cast<std::size_t>(block.entries.begin), end = static_cast<std::size_t>(block.entries.end);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i < begin || i >= end) x.host_write()[i] = 0;
  problem.A.apply(x, y);
  Vector part(block.A->device(), end - begin), image(block.A->device(), end - begin);
  std::ranges::copy(x.host_read().subspan(begin, end - begin), part.host_overwrite().begin());
  block.A->apply(part, image);
  for (std::size_t i = 0; i < image.size(); ++i) EXPECT_NEAR(image.host_read()[i], y.host_read()[begin + i], 1e-12);
}

TEST(BlockPreconditioner, GivesMinresAsManyIterationsOnFinerMeshes) {
  for (const auto* shape : {"quadrilateral", "triangle"}) {
    std::vector<int> counts;
    for (const int cells : {16, 32, 64}) {
      const auto result = Stokes(shape, cells, 2).solved("minres");
      ASSERT_TRUE(result.is_converged()) << shape << " " << cells << ": " << result.info.message;
      counts.push_back(result.info.iterations);
    }
    EXPECT_LE(counts[1], counts[0] + 6) << shape;
    EXPECT_LE(counts[2], counts[1]) << shape;
  }
}

TEST(BlockPreconditioner, FindsTheSolutionOfTheFactors) {
  const Stokes problem("triangle", 8, 3);
  const auto direct = problem.solved("direct");
  ASSERT_TRUE(direct.is_converged()) << direct.info.message;
  const solvers::VectorOps ops(problem.A);
  for (const auto* method : {"minres", "gmres", "bicgstab"}) {
    auto result = problem.solved(method);
    ASSERT_TRUE(result.is_converged()) << method << ": " << result.info.message;
    ops.axpy(-1, direct.solution, result.solution);
    EXPECT_LE(ops.norm(result.solution), 1e-5 * ops.norm(direct.solution)) << method;
  }
}

TEST(BlockPreconditioner, RefusesFieldsThatDoNotFit) {
  const Stokes problem("quadrilateral", 2, 2);
  EXPECT_THROW(make_blocks(problem.A, block({{"u", "jacobi"}})), InputError);
  EXPECT_THROW(make_blocks(problem.A, block({{"u", "jacobi"}, {"p", "jacobi"}, {"q", "jacobi"}})), InputError);
  EXPECT_THROW(make_blocks(problem.A, block({{"u", "jacobi"}, {"p", "block"}})), InputError);
  EXPECT_THROW(make_blocks(problem.A, block({{"u", "jacobi"}, {"p", "jakobi"}})), InputError);
  EXPECT_THROW(solvers::make_preconditioner(problem.A, {.preconditioner = "block"}), InputError);
  auto blocks = make_blocks(problem.A, block({{"u", "jacobi"}, {"p", "jacobi"}}));
  blocks[1].entries = blocks[0].entries;
  EXPECT_THROW(solvers::make_preconditioner(problem.A, {.preconditioner = "block", .blocks = blocks}), InputError);
}

TEST(BlockPreconditioner, HasTheDataAndTheParametersOfTheOperator) {
  const FunctionSpace V(make_box({.cells = {4, 3}, .shape = "triangle"}), {.degree = 2, .name = "u"});
  const FunctionSpace W(V, {.degree = 1, .name = "w"});
  const auto [u, v] = arguments(V);
  const auto [w, z] = arguments(W);
  const auto k = field(W.ptr(), "k"), t = parameter("t");
  const auto own = planned({.device = "host", .threads = 1});
  Operator A((t * k * inner(grad(u), grad(v)) + w * v + u * z + t * w * z) * dx, op::make_system({V.ptr(), W.ptr()}),
             own);
  Vector values(A.device(), static_cast<std::size_t>(W->num_local()));
  for (std::size_t i = 0; i < values.size(); ++i) values.host_write()[i] = 1 + 0.1 * static_cast<double>(i % 7);
  A.set("k", values);
  A.set("t", 3.0);
  const auto made = make_blocks(A, rafter::block({{"u", "jacobi"}, {"w", "jacobi"}}))[0];
  Operator expected(t * k * inner(grad(u), grad(v)) * dx, own);
  expected.set("k", values);
  expected.set("t", 3.0);
  Vector y = expected.make_vector();
  made.A->apply(random_vector(expected, 1), y);
  expect_action(expected, 1, values_of(y), 1e-12);
}

TEST(Multigrid, TakesTheSymmetricPartOfOtherForms) {
  const auto meshes = box_generations({.cells = {32, 32}, .shape = "quadrilateral"}, 0);
  const FunctionSpace V(meshes, {.degree = 2});
  const auto [u, v] = arguments(V);
  const auto x = spatial_coordinate(2);
  const auto own = planned({.device = "host", .threads = 1, .dirichlet = {zero_on_boundary(V)}});
  const Operator A(
      (inner(grad(u), grad(v)) + 10 * ((1 - 2 * x[1]) * grad(u)[0] + (2 * x[0] - 1) * grad(u)[1]) * v) * dx, own);
  const auto b = assemble(v * dx, A);
  const auto exact = solve(A, b, {.method = "direct", .preconditioner = "none", .rtol = 1e-10});
  const solvers::VectorOps ops(A);
  for (const auto* method : {"gmres", "bicgstab"}) {
    auto result = solve(A, b, {.method = method, .preconditioner = multigrid({.meshes = meshes})});
    ASSERT_TRUE(result.is_converged()) << method << ": " << result.info.message;
    EXPECT_LE(result.info.iterations, 25) << method;
    ops.axpy(-1, exact.solution, result.solution);
    EXPECT_LE(ops.norm(result.solution), 1e-6 * ops.norm(exact.solution)) << method;
  }
  EXPECT_NE(make_hierarchy(A, {.meshes = meshes})->finest, nullptr);
  const Operator symmetric(inner(grad(u), grad(v)) * dx, own);
  EXPECT_EQ(make_hierarchy(symmetric, {.meshes = meshes})->finest, nullptr);
}
