// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <rafter/solve/energy_progress.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/solve/tridiagonal.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

TEST(Tridiagonal, EigenvaluesOfTheLaplacianAreThoseOfTheFormula) {
  constexpr int n = 30;
  const std::vector<double> diagonal(n, 2.0), off_diagonal(n - 1, -1.0);
  for (int k = 0; k < n; ++k)
    EXPECT_NEAR(solvers::tridiagonal_eigenvalue(diagonal, off_diagonal, k), 2 - 2 * std::cos((k + 1) * M_PI / (n + 1)),
                1e-14);
}

/// Runs plain conjugate gradients and records their coefficients.
solvers::EnergyProgress recorded(const DenseMatrix& A, std::vector<double> r, int num_steps) {
  solvers::EnergyProgress progress(1e-8, 0);
  std::vector<double> p(r.size(), 0.0);
  const auto square = [](const std::vector<double>& v) { return std::pow(distance(v, std::vector(v.size(), 0.0)), 2); };
  double rz = square(r), beta = 0;
  for (int k = 0; k < num_steps; ++k) {
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + beta * p[i];
    auto image = A.vector();
    A.apply(A.vector(p), image);
    const auto q = values(image);
    double pq = 0;
    for (std::size_t i = 0; i < p.size(); ++i) pq += p[i] * q[i];
    for (std::size_t i = 0; i < p.size(); ++i) r[i] -= rz / pq * q[i];
    progress.record(rz / pq, beta, rz);
    beta = square(r) / rz;
    rz *= beta;
  }
  return progress;
}

TEST(EnergyProgress, ConditionIsThatOfTheOperatorOnceTheKrylovSpaceIsWhole) {
  const std::vector<double> eigenvalues{0.5, 1, 3, 7, 40};
  const auto A = diagonal_matrix(eigenvalues);
  EXPECT_NEAR(recorded(A, {1, 1, 1, 1, 1}, 5).condition(), 80, 1e-6);
  EXPECT_EQ(solvers::EnergyProgress(1e-8, 0).condition(), 1);
}

/// Returns the number of steps until stagnation is recognised, or 0 if that takes more than 5 windows of the
/// theoretical length. The coefficients are those of conjugate gradients for the eigenvalues 1 and `kappa`, restarted
/// every other step, with energies that fall by `factor` in each step.
int steps_until_stagnant(double kappa, double factor, int window = 0) {
  solvers::EnergyProgress progress(1e-8, window);
  const double beta = std::pow((kappa - 1) / (kappa + 1), 2);
  double energy = 1;
  for (int k = 0; k < 10 * std::sqrt(kappa) * std::log(2 / 1e-8); ++k, energy *= factor) {
    const bool is_second = k % 2 == 1;
    const double alpha = is_second ? (1 + kappa) / (2 * kappa) : 2 / (1 + kappa);
    progress.record(alpha, is_second ? beta : 0, energy / alpha);
    if (progress.is_stagnant()) return k + 1;
  }
  return 0;
}

TEST(EnergyProgress, ConstantGainsAreStagnationAfterTwoWindowsOfTheTheorysLength) {
  for (const double kappa : {100.0, 1e4}) {
    const int steps = steps_until_stagnant(kappa, 1);
    const double window = 2 * std::sqrt(kappa) * std::log(2 / 1e-8);
    EXPECT_GE(steps, 2 * window - 2) << kappa;
    EXPECT_LE(steps, 2.5 * window) << kappa;
  }
  EXPECT_EQ(steps_until_stagnant(1e4, 1, 30), 60) << "a window that the user chose";
}

TEST(EnergyProgress, GainsThatFallAsTheTheorySaysAreNone) {
  for (const double kappa : {100.0, 1e4}) {
    const double root = std::sqrt(kappa);
    EXPECT_EQ(steps_until_stagnant(kappa, std::pow((root - 1) / (root + 1), 2)), 0) << kappa;
  }
}

/// The matrix has the finite differences of a beam, with eigenvalues (2 - 2 cos(k pi / (n + 1)))^2 and a condition
/// number of order n^4.
DenseMatrix beam(std::size_t n) {
  return {n, [n](std::size_t i, std::size_t j) {
            const auto d = i > j ? i - j : j - i;
            if (d == 0) return i == 0 || i + 1 == n ? 5.0 : 6.0;
            return d == 1 ? -4.0 : d == 2 ? 1.0 : 0.0;
          }};
}

TEST(Cg, ResidualsThatStayAboveTheirFirstValueAreNoStagnation) {
  constexpr std::size_t n = 150;
  const auto A = beam(n);
  const std::vector<double> b(n, 1.0);
  for (const bool has_limit : {false, true})
    for (const bool is_fused : {false, true}) {
      solvers::SolverOptions options{.preconditioner = "none", .control = {.rtol = 1e-9}, .is_fused = is_fused};
      if (has_limit) options.control.max_iterations = 5000;
      auto x = A.vector();
      const auto result = solvers::solve(A, A.vector(b), x, options);
      EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
      // The residual falls below the first value late; a test that looks at residuals alone would call this a plateau.
      const auto above = std::ranges::find_if(result.history, [](double value) { return value < 0.9; });
      EXPECT_GT(above - result.history.begin(), static_cast<std::ptrdiff_t>(n));
    }
}

TEST(Cg, ThePreconditionedNormEndsTheSolveWhenAskedFor) {
  const auto A = beam(60);
  const auto b = random_values(60, 3);
  for (const bool is_fused : {false, true}) {
    solvers::SolverOptions options{.control = {.rtol = 1e-5, .norm = solvers::Norm::preconditioned},
                                   .is_fused = is_fused};
    auto x = A.vector();
    const auto result = solvers::solve(A, A.vector(b), x, options);
    ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
    // The ratio of (D^-1 r, r) for the last x and for the first one, zero, is compared.
    const auto norm = [&](const std::vector<double>& r) {
      double sum = 0;
      for (std::size_t i = 0; i < r.size(); ++i) sum += r[i] * r[i] / A(i, i);
      return std::sqrt(sum);
    };
    auto image = A.vector();
    A.apply(x, image);
    auto r = b;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= values(image)[i];
    EXPECT_NEAR(result.relative_residual, norm(r) / norm(b), 1e-12);
    EXPECT_LE(result.relative_residual, 1e-5);
    ASSERT_TRUE(result.norms);
    EXPECT_NEAR(result.norms->preconditioned.value(), result.relative_residual, 1e-12);
    EXPECT_NEAR(result.norms->residual,
                distance(r, std::vector<double>(60, 0)) / distance(b, std::vector<double>(60, 0)), 1e-12);
  }
}

/// Jacobi's scaling by another name, so that nobody knows that it is cheap; it counts its applications.
class Counted final : public solvers::Preconditioner {
public:
  explicit Counted(const DenseMatrix& A) : M_(A) {}
  void apply(const op::Vector& r, op::Vector& z) const override {
    ++num_applications;
    M_.apply(r, z);
  }
  mutable int num_applications = 0;

private:
  solvers::Jacobi M_;
};

TEST(PreconditionedNorm, TakesNoApplicationOfThePreconditionerButThoseOfTheIteration) {
  const auto at = [](std::size_t i, std::size_t j) {
    return i == j ? 3.0 + static_cast<double>(i % 3) : i + 1 == j || j + 1 == i ? -1.0 : 0.0;
  };
  const DenseMatrix A(60, at);
  const auto b = random_values(60, 3);
  for (const std::string method : {"cg", "minres"})
    for (const bool is_fused : {false, true})
      for (const auto norm : {solvers::Norm::residual, solvers::Norm::preconditioned}) {
        const solvers::SolverOptions options{
            .method = method, .control = {.rtol = 1e-5, .norm = norm}, .is_fused = is_fused};
        const Counted M(A);
        auto x = A.vector(), r = A.vector(), z = A.vector();
        const auto result = solvers::solve(A, A.vector(b), x, M, options);
        ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
        ASSERT_TRUE(result.norms);
        if (norm == solvers::Norm::residual) {
          EXPECT_FALSE(result.norms->preconditioned);
          EXPECT_EQ(M.num_applications, result.iterations + (method == "minres" ? 1 : 0));
          continue;
        }
        // Minimal residuals know M^-1 of their Lanczos vectors alone, not that of b - A x.
        EXPECT_EQ(M.num_applications, result.iterations + (method == "minres" ? 2 : 1)) << method;
        const auto image = [&](const std::vector<double>& v) {
          M.apply(A.vector(v), z);
          double sum = 0;
          for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] * values(z)[i];
          return std::sqrt(sum);
        };
        A.apply(x, r);
        std::vector<double> last = b;
        for (std::size_t i = 0; i < last.size(); ++i) last[i] -= values(r)[i];
        EXPECT_NEAR(result.norms->preconditioned.value(), image(last) / image(b), 1e-4 * result.relative_residual);
        EXPECT_LE(result.relative_residual, 1e-5);
      }
}

/// A recursive residual that b - A x has left: the norm of the latter needs M^-1.
TEST(PreconditionedNorm, IsComputedAnewWhereTheResidualHasDrifted) {
  const auto A = beam(60);
  const auto b = random_values(60, 3);
  const Counted M(A);
  auto x = A.vector();
  const auto result =
      solvers::solve(A, A.vector(b), x, M, {.control = {.rtol = 1e-5, .norm = solvers::Norm::preconditioned}});
  ASSERT_EQ(result.status, solvers::Status::converged) << result.message;
  EXPECT_GT(M.num_applications, result.iterations + 1);
}

} // namespace
