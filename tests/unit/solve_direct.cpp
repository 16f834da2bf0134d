// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/solve/solver.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Status;

namespace {

solvers::Result solve(const DenseMatrix& A, const std::vector<double>& b, op::Vector& x,
                      solvers::SolverOptions options = {}) {
  options.method = "direct";
  options.control.rtol = 1e-12;
  return solvers::solve(A, A.vector(b), x, options);
}

TEST(Direct, OneStepSolvesMatricesOfEveryKind) {
  const DenseMatrix indefinite(30, [](std::size_t i, std::size_t j) {
    return i == j ? (i < 20 ? 1.0 + static_cast<double>(i) : 0.0) : (i + j == 29 || i + j == 35 ? 1.0 : 0.0);
  });
  const auto spd = laplacian(30), general = convection(30, 4.0);
  for (const auto* A : {&spd, &indefinite, &general}) {
    const auto b = random_values(30, 2);
    auto x = A->vector(random_values(30, 7)); // any initial guess must do
    const auto result = solve(*A, b, x);
    EXPECT_EQ(result.status, Status::converged) << result.message;
    EXPECT_EQ(result.iterations, 1);
    EXPECT_LE(distance(values(x), direct_solution(*A, b)), 1e-10);
  }
}

TEST(Direct, TellsWhatTheFactorsAre) {
  const solvers::Factors symmetric(diagonal_matrix({1, -2, 3, -4, -5}).sparse_matrix());
  EXPECT_TRUE(symmetric.factors()->is_symmetric);
  EXPECT_EQ(symmetric.factors()->num_negative_pivots, 3);
  EXPECT_EQ(symmetric.factors()->matrix_entries, 5);
  const solvers::Factors general(convection(40, 2.0).sparse_matrix());
  EXPECT_FALSE(general.factors()->is_symmetric);
  EXPECT_EQ(general.factors()->matrix_entries, 3 * 40 - 2);
  EXPECT_GE(general.factors()->num_entries, 3 * 40 - 2);
  EXPECT_GT(general.factors()->bytes, 0);
  EXPECT_GE(general.factors()->fill(), 1);
}

TEST(Direct, RefinementMakesUpForFactorsOfARoundedMatrix) {
  const auto A = laplacian(25);
  const DenseMatrix rounded(25,
                            [&](std::size_t i, std::size_t j) { return A(i, j) * (1 + 1e-6 * std::sin(i + 3.0 * j)); });
  const auto b = random_values(25, 3);
  auto x = A.vector();
  const auto result = solvers::direct(A, A.vector(b), x, solvers::Factors(rounded.sparse_matrix()), {.rtol = 1e-12});
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_GT(result.iterations, 1);
  EXPECT_LE(result.iterations, 5);
  EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-10);
}

/// Two chains that nothing holds have two null vectors.
DenseMatrix two_pieces() {
  const auto chain = neumann_laplacian(10);
  return {20, [&](std::size_t i, std::size_t j) { return i / 10 == j / 10 ? chain(i % 10, j % 10) : 0.0; }};
}

TEST(Direct, NullSpacesAreHeldAndProjectedOut) {
  const auto A = two_pieces();
  std::vector<double> mixed(20, 1.0), other(20, 1.0);
  for (std::size_t i = 10; i < 20; ++i) other[i] = -0.5;
  std::vector<op::Vector> vectors;
  vectors.push_back(A.vector(mixed));
  vectors.push_back(A.vector(other));
  const auto space = std::make_shared<const solvers::NullSpace>(A.device(), std::move(vectors));
  solvers::SolverOptions options;
  options.null_space = space;
  auto b = random_values(20, 5);
  auto x = A.vector();
  const auto result = solve(A, b, x, options);
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_LE(space->norm_of_part(x), 1e-12);
  auto balanced = A.vector(b), image = A.vector();
  space->project(balanced);
  A.apply(x, image);
  EXPECT_LE(distance(values(image), values(balanced)), 1e-12);
}

TEST(Minres, SolvesIndefiniteSystemsInAsManyStepsAsThereAreEigenvalues) {
  const auto A = diagonal_matrix({-3, -1, 2, 5, 7, 7, -3});
  const std::vector<double> b{1, 2, 3, 4, 5, 6, 7};
  auto x = A.vector();
  const auto result =
      solvers::solve(A, A.vector(b), x, {.method = "minres", .preconditioner = "none", .control = {.rtol = 1e-12}});
  EXPECT_EQ(result.status, Status::converged) << result.message;
  EXPECT_EQ(result.iterations, 5);
  EXPECT_LE(distance(values(x), direct_solution(A, b)), 1e-11);
}

/// The saddle point problem of a chain with springs is symmetric, indefinite and regular.
DenseMatrix saddle_point() {
  return {30, [](std::size_t i, std::size_t j) {
            if (i < 20 && j < 20) return i == j ? 2.5 : (i + 1 == j || j + 1 == i ? -1.0 : 0.0);
            if (i >= 20 && j >= 20) return 0.0;
            const std::size_t u = std::min(i, j), p = std::max(i, j) - 20;
            return u == 2 * p ? 1.0 : (u == 2 * p + 1 ? -0.7 : 0.0);
          }};
}

/// Computes z_i = r_i / d_i; `is_told` tells whether it is known to be diagonal.
class Scaling final : public solvers::Preconditioner {
public:
  Scaling(const DenseMatrix& A, std::vector<double> inverse, bool is_told)
      : ops_(A.device()), inverse_(A.vector(inverse)), is_told_(is_told) {}
  void apply(const op::Vector& r, op::Vector& z) const override { ops_.multiply(inverse_, r, z); }
  std::optional<const op::Vector*> diagonal() const override {
    return is_told_ ? std::optional<const op::Vector*>(&inverse_) : std::nullopt;
  }

private:
  solvers::VectorOps ops_;
  op::Vector inverse_;
  bool is_told_;
};

TEST(Minres, TakesPreconditionersAndJudgesEitherNorm) {
  const auto A = saddle_point();
  const auto b = random_values(30, 3);
  const auto exact = direct_solution(A, b);
  std::vector<double> inverse(30, 0.4);
  for (std::size_t i = 20; i < 30; ++i) inverse[i] = 1.7;
  for (const bool is_told : {true, false})
    for (const auto norm : {solvers::Norm::residual, solvers::Norm::preconditioned}) {
      auto x = A.vector();
      const auto result = solvers::minres(A, A.vector(b), x, Scaling(A, inverse, is_told),
                                          {.rtol = 1e-11, .max_iterations = 100, .norm = norm});
      EXPECT_EQ(result.status, Status::converged) << result.message;
      EXPECT_LE(distance(values(x), exact), 1e-9);
      EXPECT_LE(result.iterations, 40);
    }
}

TEST(Minres, PreconditionedResidualNeverGrowsAndIsTheOneOfTheIterate) {
  const auto A = saddle_point();
  const auto b = random_values(30, 6);
  std::vector<double> inverse(30, 0.4);
  for (std::size_t i = 20; i < 30; ++i) inverse[i] = 1.7;
  const Scaling M(A, inverse, true);
  for (const auto norm : {solvers::Norm::preconditioned, solvers::Norm::residual})
    for (const int limit : {1, 3, 8, 15}) {
      auto x = A.vector(), r = A.vector();
      const auto result = solvers::minres(A, A.vector(b), x, M, {.rtol = 1e-30, .max_iterations = limit, .norm = norm});
      A.apply(x, r);
      double size = 0, first = 0;
      for (std::size_t i = 0; i < 30; ++i) {
        const double weight = norm == solvers::Norm::preconditioned ? inverse[i] : 1;
        size += weight * (b[i] - values(r)[i]) * (b[i] - values(r)[i]);
        first += weight * b[i] * b[i];
      }
      EXPECT_NEAR(result.history.back(), std::sqrt(size / first), 1e-12);
      for (std::size_t k = 1; k < result.history.size() && norm == solvers::Norm::preconditioned; ++k)
        EXPECT_LE(result.history[k], result.history[k - 1] * (1 + 1e-12));
    }
}

} // namespace
