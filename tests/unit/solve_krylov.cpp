// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/solve/solver.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Status;

namespace {

solvers::SolverOptions options(std::string method, std::string preconditioner, double rtol) {
  solvers::SolverOptions result;
  result.method = std::move(method);
  result.preconditioner = std::move(preconditioner);
  result.control.rtol = rtol;
  result.hierarchy = std::make_shared<const solvers::MultigridHierarchy>(); // multigrid on one level is a direct solve
  return result;
}

double true_residual(const DenseMatrix& A, const std::vector<double>& x, const std::vector<double>& b) {
  auto input = A.vector(x), image = A.vector();
  A.apply(input, image);
  return distance(values(image), b);
}

TEST(Solve, EveryImplementedPairAgreesWithTheDirectSolutionOnSpdMatrices) {
  const auto A = laplacian(40);
  const auto b = random_values(40, 1);
  const auto exact = direct_solution(A, b);
  for (const auto& method : solvers::methods()) {
    for (const auto& kind : solvers::preconditioners()) {
      if (!method.run || !kind.make) continue;
      auto x = A.vector();
      auto of_pair = options(std::string(method.name), std::string(kind.name), 1e-12);
      of_pair.blocks = {{.field = "u",
                         .preconditioner = "jacobi",
                         .entries = {0, 40},
                         .A = std::make_shared<const DenseMatrix>(laplacian(40))}};
      const auto result = solvers::solve(A, A.vector(b), x, of_pair);
      EXPECT_EQ(result.status, Status::converged) << method.name << " " << kind.name << " " << result.message;
      // The bound is |e| <= |A^-1| |r|, with the smallest eigenvalue 2 - 2 cos(pi / 41).
      EXPECT_LE(distance(values(x), exact), 1e-12 * distance(b, std::vector<double>(40, 0)) / 5.8e-3)
          << method.name << " " << kind.name;
    }
  }
}

TEST(Gmres, AgreesWithTheDirectSolutionOnNonSymmetricMatrices) {
  const auto A = convection(50, 3.0);
  const auto b = random_values(50, 2);
  const auto exact = direct_solution(A, b);
  for (const auto side : {solvers::Side::left, solvers::Side::right}) {
    auto opts = options("gmres", "jacobi", 1e-11);
    opts.side = side;
    opts.restart = 20;
    auto x = A.vector();
    const auto result = solvers::solve(A, A.vector(b), x, opts);
    EXPECT_EQ(result.status, Status::converged) << result.message;
    EXPECT_LE(distance(values(x), exact), 1e-8);
  }
}

TEST(Bicgstab, AgreesWithTheDirectSolutionOnNonSymmetricMatrices) {
  const auto A = convection(50, 3.0);
  const auto b = random_values(50, 2);
  auto x = A.vector();
  const auto result = solvers::solve(A, A.vector(b), x, options("bicgstab", "jacobi", 1e-11));
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-8);
  EXPECT_LE(true_residual(A, values(x), b), 1e-11 * distance(b, std::vector<double>(50, 0)));
}

TEST(Bicgstab, StartsAgainWhereItBreaksDown) {
  // The half step of the first iteration leaves a residual on which the operator acts as a rotation: the stabilising
  // step has no length, and the iteration goes on from there.
  const DenseMatrix A(3, [](std::size_t i, std::size_t j) {
    const double entries[3][3] = {{2, 0, 0}, {0, 0, 1}, {0, -1, 0.5}};
    return entries[i][j];
  });
  const std::vector<double> b{1, 1, 0};
  auto x = A.vector();
  const auto result = solvers::solve(A, A.vector(b), x, options("bicgstab", "none", 1e-12));
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-10);
}

TEST(Bicgstab, SolvesIndefiniteSystems) {
  const auto A = diagonal_matrix({-3, -1, 2, 5, 7});
  const std::vector<double> b{1, 2, 3, 4, 5};
  auto x = A.vector();
  const auto result = solvers::solve(A, A.vector(b), x, options("bicgstab", "none", 1e-12));
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-10);
}

TEST(Bicgstab, TakesTwoProductsPerIteration) {
  const auto A = convection(50, 3.0);
  auto x = A.vector();
  const auto result = solvers::bicgstab(A, A.vector(random_values(50, 2)), x, solvers::Jacobi(A), {.rtol = 1e-8});
  ASSERT_EQ(result.status, Status::converged) << result.message;
  // Two more are those of the first residual and of the last one, b - A x.
  EXPECT_LE(A.num_applies, 2 * result.iterations + 2);
}

TEST(Bicgstab, JudgesTheResidualAlone) {
  const auto A = laplacian(5);
  auto x = A.vector();
  EXPECT_THROW(
      solvers::bicgstab(A, A.vector({1, 2, 3, 4, 5}), x, solvers::Identity(A), {.norm = solvers::Norm::preconditioned}),
      base::InputError);
}

TEST(Gmres, SolvesIndefiniteSystems) {
  const auto A = diagonal_matrix({-3, -1, 2, 5, 7});
  const std::vector<double> b{1, 2, 3, 4, 5};
  auto x = A.vector();
  const auto result = solvers::solve(A, A.vector(b), x, options("gmres", "none", 1e-12));
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_LE(result.iterations, 5);
  EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-11);
}

TEST(Gmres, HappyBreakdownIsConvergence) {
  const auto A = diagonal_matrix({2, 3, 4});
  auto x = A.vector();
  const auto result = solvers::solve(A, A.vector({0, 6, 0}), x, options("gmres", "none", 0));
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_EQ(values(x), (std::vector<double>{0, 2, 0}));
}

TEST(Solve, RelativeResidualIsTheTrueOne) {
  const auto A = laplacian(30);
  const auto b = random_values(30, 3);
  const double b_norm = distance(b, std::vector<double>(30, 0));
  for (const char* method : {"cg", "gmres", "bicgstab"}) {
    auto x = A.vector();
    const auto result = solvers::solve(A, A.vector(b), x, options(method, "jacobi", 1e-9));
    EXPECT_NEAR(result.relative_residual, true_residual(A, values(x), b) / b_norm, 1e-14);
    EXPECT_LE(result.relative_residual, 1e-9);
  }
}

TEST(Solve, HistoryStartsAtOneAndHasOneEntryPerIteration) {
  const auto A = laplacian(30);
  for (const char* method : {"cg", "gmres", "bicgstab"}) {
    auto opts = options(method, "none", 1e-8);
    int calls = 0;
    opts.control.monitor = [&](int iteration, double) { return iteration == ++calls; };
    auto x = A.vector();
    const auto result = solvers::solve(A, A.vector(random_values(30, 4)), x, opts);
    EXPECT_EQ(result.history.size(), static_cast<std::size_t>(result.iterations) + 1);
    EXPECT_EQ(calls, result.iterations);
    EXPECT_EQ(result.history.front(), 1);
    EXPECT_EQ(result.history.back(), result.relative_residual);
  }
}

TEST(Solve, ZeroRightHandSideGivesZeroAtOnce) {
  const auto A = laplacian(5);
  for (const char* method : {"cg", "gmres", "bicgstab"}) {
    auto x = A.vector({1, 2, 3, 4, 5});
    const auto result = solvers::solve(A, A.vector(), x, options(method, "none", 1e-6));
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(result.relative_residual, 0);
    EXPECT_EQ(values(x), std::vector<double>(5, 0.0));
  }
}

TEST(Solve, AnExactInitialGuessNeedsNoIteration) {
  const auto A = laplacian(4);
  const std::vector<double> exact{1, -2, 3, 0.5};
  auto b = A.vector();
  A.apply(A.vector(exact), b);
  for (const char* method : {"cg", "gmres", "bicgstab"}) {
    auto x = A.vector(exact);
    const auto result = solvers::solve(A, b, x, options(method, "jacobi", 1e-10));
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(values(x), exact);
  }
}

TEST(Solve, AbsoluteToleranceEndsTheSolve) {
  const auto A = laplacian(30);
  const auto b = random_values(30, 5);
  auto opts = options("cg", "none", 0);
  opts.control.atol = 1e-3;
  auto x = A.vector();
  EXPECT_EQ(solvers::solve(A, A.vector(b), x, opts).status, Status::converged);
  EXPECT_LE(true_residual(A, values(x), b), 1e-3);
}

TEST(Solve, IterationLimitGivesNotConverged) {
  const auto A = laplacian(60);
  for (const char* method : {"cg", "gmres", "bicgstab"}) {
    for (const int limit : {0, 1, 7}) {
      auto opts = options(method, "none", 1e-10);
      opts.control.max_iterations = limit;
      auto x = A.vector();
      const auto result = solvers::solve(A, A.vector(random_values(60, 6)), x, opts);
      EXPECT_EQ(result.status, Status::not_converged);
      EXPECT_EQ(result.iterations, limit);
      EXPECT_NE(result.message.find("max_iterations"), std::string::npos);
    }
  }
}

TEST(Solve, MonitorCanStop) {
  const auto A = laplacian(60);
  for (const char* method : {"cg", "gmres", "bicgstab"}) {
    auto opts = options(method, "none", 1e-10);
    opts.control.monitor = [](int iteration, double) { return iteration < 3; };
    auto x = A.vector();
    const auto result = solvers::solve(A, A.vector(random_values(60, 6)), x, opts);
    EXPECT_EQ(result.failure, solvers::Failure::stopped);
    EXPECT_EQ(result.iterations, 3);
  }
}

TEST(Cg, ConsistentSingularSystemsConverge) {
  const auto A = neumann_laplacian(20);
  std::vector<double> b(20, 0.0);
  b[3] = 1, b[15] = -1;
  auto x = A.vector();
  EXPECT_EQ(solvers::solve(A, A.vector(b), x, options("cg", "jacobi", 1e-8)).status, Status::converged);
  EXPECT_LE(true_residual(A, values(x), b), 1e-7);
}

} // namespace
