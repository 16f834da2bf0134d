// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <limits>

#include <rafter/solve/solver.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> apply(const solvers::Preconditioner& M, const DenseMatrix& A, const std::vector<double>& r) {
  auto z = A.vector();
  M.apply(A.vector(r), z);
  return values(z);
}

TEST(Cg, EndsAfterAsManyIterationsAsThereAreDistinctEigenvalues) {
  for (const std::size_t distinct : {1u, 2u, 5u, 9u}) {
    std::vector<double> eigenvalues(45);
    for (std::size_t i = 0; i < 45; ++i) eigenvalues[i] = 1.0 + static_cast<double>(i % distinct);
    const auto A = diagonal_matrix(eigenvalues);
    auto x = A.vector();
    const auto result =
        solvers::solve(A, A.vector(random_values(45, 7)), x, {.preconditioner = "none", .control = {.rtol = 1e-12}});
    EXPECT_EQ(result.status, solvers::Status::converged);
    EXPECT_EQ(result.iterations, static_cast<int>(distinct));
  }
}

TEST(Cg, ErrorInTheEnergyNormFallsMonotonically) {
  const auto A = laplacian(40);
  const auto b = random_values(40, 8);
  const auto exact = direct_solution(A, b);
  double previous = std::numeric_limits<double>::infinity();
  for (int limit = 1; limit < 30; ++limit) {
    auto x = A.vector(), image = A.vector();
    solvers::solve(A, A.vector(b), x, {.control = {.rtol = 0, .max_iterations = limit}});
    auto error = values(x);
    for (std::size_t i = 0; i < 40; ++i) error[i] -= exact[i];
    A.apply(A.vector(error), image);
    const double energy = dot(error, values(image));
    EXPECT_LT(energy, previous);
    previous = energy;
  }
}

TEST(Gmres, ResidualNeverGrows) {
  const auto A = convection(60, 10.0);
  auto x = A.vector();
  const auto result =
      solvers::solve(A, A.vector(random_values(60, 9)), x,
                     {.method = "gmres", .preconditioner = "none", .control = {.rtol = 1e-10}, .restart = 7});
  ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
  for (std::size_t k = 1; k < result.history.size(); ++k)
    EXPECT_LE(result.history[k], result.history[k - 1] * (1 + 1e-12) + 1e-15);
}

TEST(Gmres, WithoutRestartEndsWithinTheSize) {
  const auto A = convection(25, 4.0);
  auto x = A.vector();
  const auto result = solvers::solve(A, A.vector(random_values(25, 10)), x,
                                     {.method = "gmres", .preconditioner = "none", .control = {.rtol = 1e-11}});
  EXPECT_EQ(result.status, solvers::Status::converged);
  EXPECT_LE(result.iterations, 25);
}

TEST(Chebyshev, ReducesEveryEigenvectorWithinItsBound) {
  constexpr std::size_t n = 31;
  // The diagonal is 2, so that the eigenvectors of D^-1 A are those of A, with eigenvalues 1 - cos(k pi / (n + 1)).
  const auto A = laplacian(n);
  for (const int degree : {1, 2, 3, 5, 8}) {
    const solvers::Chebyshev chebyshev(A, {.degree = degree, .upper = 2.0, .lower = 0.1});
    for (std::size_t k = 1; k <= n; ++k) {
      std::vector<double> mode(n);
      const double angle = static_cast<double>(k) * M_PI / (n + 1);
      for (std::size_t i = 0; i < n; ++i) mode[i] = std::sin(static_cast<double>(i + 1) * angle);
      auto x = A.vector(mode); // b = 0, so that x is the error
      chebyshev.smooth(A.vector(), x);
      const double reduction = std::sqrt(dot(values(x), values(x)) / dot(mode, mode));
      const double eigenvalue = 1 - std::cos(angle);
      if (eigenvalue >= 0.1)
        EXPECT_LE(reduction, chebyshev.reduction() * (1 + 1e-10)) << degree << " " << k;
      else
        EXPECT_LT(reduction, 1) << degree << " " << k;
    }
  }
}

TEST(Chebyshev, BoundIsAttainedAtTheEndsOfTheInterval) {
  const auto A = diagonal_matrix({1, 1});
  const solvers::Chebyshev chebyshev(A, {.degree = 3, .upper = 1.0, .lower = 0.2});
  auto x = A.vector({1, -2}); // D^-1 A = I has the eigenvalue 1, the upper end
  chebyshev.smooth(A.vector(), x);
  EXPECT_NEAR(std::abs(values(x)[0]), chebyshev.reduction(), 1e-14);
}

TEST(Chebyshev, IsSymmetricPositiveDefinite) {
  const auto A = laplacian(24);
  const solvers::Chebyshev M(A, {.degree = 4});
  for (unsigned seed = 0; seed < 5; ++seed) {
    const auto a = random_values(24, seed), b = random_values(24, seed + 50);
    const double ab = dot(b, apply(M, A, a)), ba = dot(a, apply(M, A, b));
    EXPECT_NEAR(ab, ba, 1e-12 * (std::abs(ab) + std::abs(ba)) + 1e-14);
    EXPECT_GT(dot(a, apply(M, A, a)), 0);
  }
}

TEST(Chebyshev, ApplicationCostsDegreeMinusOneProducts) {
  const auto A = laplacian(24);
  const solvers::Chebyshev M(A, {.degree = 6});
  A.num_applies = 0;
  apply(M, A, random_values(24, 1));
  EXPECT_EQ(A.num_applies, 5);
}

TEST(Chebyshev, EstimateBracketsTheSpectrumFromInside) {
  constexpr std::size_t n = 100;
  const auto A = laplacian(n);
  const auto inverse = solvers::inverse_diagonal(A);
  const double exact = 1 - std::cos(n * M_PI / (n + 1)), smallest = 1 - std::cos(M_PI / (n + 1));
  const auto estimate = solvers::estimate_eigenvalues(A, inverse, 20);
  EXPECT_LE(estimate.largest, exact * (1 + 1e-12));
  EXPECT_GE(estimate.largest, exact / 1.1); // the default safety factor covers the difference
  EXPECT_GE(estimate.smallest, smallest * (1 - 1e-12));
}

TEST(Chebyshev, EstimateSeesEveryUnknownWhateverTheSizesOfDiagonals) {
  constexpr std::size_t half = 20;
  // Two chains that nothing couples: (2, -0.2) of size 1, and the Laplacian, which has the largest eigenvalue, of 1e25.
  const DenseMatrix A(2 * half, [](std::size_t i, std::size_t j) {
    if (i == j) return i < half ? 2.0 : 2e25;
    const bool are_neighbours = std::max(i, j) - std::min(i, j) == 1 && i / half == j / half;
    return !are_neighbours ? 0.0 : i < half ? -0.2 : -1e25;
  });
  const double largest = 1 + std::cos(M_PI / (half + 1));
  EXPECT_NEAR(solvers::estimate_eigenvalues(A, solvers::inverse_diagonal(A), 20).largest, largest, 0.01 * largest);
}

TEST(Chebyshev, EstimateIsExactAfterAsManyStepsAsUnknowns) {
  // The eigenvalues are 0.75 and 1.5.
  const DenseMatrix A(3, [](std::size_t i, std::size_t j) { return i == j ? 1.0 : 0.25; });
  const auto estimate = solvers::estimate_eigenvalues(A, solvers::inverse_diagonal(A), 10);
  EXPECT_NEAR(estimate.smallest, 0.75, 1e-12);
  EXPECT_NEAR(estimate.largest, 1.5, 1e-12);
}

TEST(Preconditioners, ReduceTheIterationsOnBadlyScaledSystems) {
  constexpr std::size_t n = 60;
  const auto scale = [](std::size_t i) { return std::pow(10.0, static_cast<double>(i % 5)); };
  const DenseMatrix A(n, [&](std::size_t i, std::size_t j) { return scale(i) * laplacian(n)(i, j) * scale(j); });
  const auto iterations = [&](const char* preconditioner) {
    auto x = A.vector();
    solvers::SolverOptions options;
    options.preconditioner = preconditioner;
    options.control.max_iterations = 20000;
    const auto result = solvers::solve(A, A.vector(random_values(n, 3)), x, options);
    EXPECT_EQ(result.status, solvers::Status::converged) << preconditioner;
    return result.iterations;
  };
  const int jacobi = iterations("jacobi"), chebyshev = iterations("chebyshev");
  EXPECT_LT(jacobi, iterations("none"));
  EXPECT_LT(chebyshev, jacobi);
}

} // namespace
