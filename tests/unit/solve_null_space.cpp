// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/solve/solver.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

/// The Laplacian of a ring of n points has the eigenvalues 2 - 2 cos(2 pi k / n), and constants are its null space.
DenseMatrix ring(std::size_t n) {
  return DenseMatrix(n, [n](std::size_t i, std::size_t j) {
    if (i == j) return 2.0;
    return (i + 1) % n == j || (j + 1) % n == i ? -1.0 : 0.0;
  });
}

std::shared_ptr<const solvers::NullSpace> constants(const DenseMatrix& A, std::size_t n) {
  std::vector<device::Vector> vectors;
  vectors.push_back(A.vector(std::vector<double>(n, 3.0)));
  return std::make_shared<const solvers::NullSpace>(A.device(), std::move(vectors));
}

TEST(NullSpace, ProjectionRemovesThePartAndNothingElse) {
  const auto A = ring(30);
  std::vector<device::Vector> vectors;
  vectors.push_back(A.vector(random_values(30, 1)));
  vectors.push_back(A.vector(random_values(30, 2)));
  const auto first = values(vectors[0]), second = values(vectors[1]);
  const solvers::NullSpace space(A.device(), std::move(vectors));
  auto x = A.vector(random_values(30, 3));
  const auto before = values(x), part = values(space.part(x));
  EXPECT_NEAR(space.norm_of_part(x), distance(part, std::vector<double>(30, 0)), 1e-15);
  space.project(x);
  double along_first = 0, along_second = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_NEAR(values(x)[i] + part[i], before[i], 1e-15);
    along_first += values(x)[i] * first[i];
    along_second += values(x)[i] * second[i];
  }
  EXPECT_NEAR(along_first, 0, 1e-14);
  EXPECT_NEAR(along_second, 0, 1e-14);
  const auto once = values(x);
  space.project(x);
  EXPECT_LE(distance(values(x), once), 1e-15);
}

TEST(NullSpace, DependentVectorsAreRefused) {
  const auto A = ring(5);
  std::vector<device::Vector> vectors;
  vectors.push_back(A.vector({1, 2, 3, 4, 5}));
  vectors.push_back(A.vector({2, 4, 6, 8, 10}));
  EXPECT_THROW(solvers::NullSpace(A.device(), std::move(vectors)), base::InputError);
}

TEST(NullSpace, SolutionIsThatOfLeastSquaresAndLeastNorm) {
  constexpr std::size_t n = 24;
  const auto A = ring(n);
  const auto b = random_values(n, 4);
  double mean = 0;
  for (const double value : b) mean += value / n;
  for (const char* method : {"cg", "gmres"})
    for (const char* preconditioner : {"none", "jacobi", "chebyshev"})
      for (const bool is_fused : {false, true}) {
        solvers::SolverOptions options{
            .method = method, .preconditioner = preconditioner, .control = {.rtol = 1e-13}, .is_fused = is_fused};
        options.null_space = constants(A, n);
        auto x = A.vector(), image = A.vector();
        const auto result = solvers::solve(A, A.vector(b), x, options);
        EXPECT_EQ(result.status, solvers::Status::converged) << method << " " << preconditioner << result.message;
        A.apply(x, image);
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_NEAR(values(image)[i], b[i] - mean, 1e-11);
          sum += values(x)[i];
        }
        EXPECT_NEAR(sum, 0, 1e-12);
      }
}

TEST(NullSpace, EigenvaluesAreEstimatedInItsComplement) {
  constexpr std::size_t n = 16;
  const auto A = ring(n);
  const auto inverse = solvers::inverse_diagonal(A);
  const double smallest = 1 - std::cos(2 * M_PI / n); // smallest eigenvalue of D^-1 A except 0
  const auto within = solvers::estimate_eigenvalues(A, inverse, 20, *constants(A, n));
  EXPECT_NEAR(within.smallest, smallest, 1e-10);
  EXPECT_NEAR(within.largest, 2, 1e-10);
  EXPECT_LT(solvers::estimate_eigenvalues(A, inverse, 20).smallest, 0.1 * smallest); // the null space was not removed
}

TEST(NullSpace, PreconditionedResidualsHaveNoPartInIt) {
  constexpr std::size_t n = 20;
  const auto A = ring(n);
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"}) {
    solvers::SolverOptions options{.preconditioner = preconditioner};
    options.null_space = constants(A, n);
    auto z = A.vector();
    solvers::make_preconditioner(A, options)->apply(A.vector(random_values(n, 6)), z);
    EXPECT_LE(options.null_space->norm_of_part(z), 1e-14) << preconditioner;
  }
}

} // namespace
