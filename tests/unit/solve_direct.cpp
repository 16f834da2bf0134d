// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/solve/solver.hpp>
#include <rafter/solve/trust.hpp>
#include <rafter/space/function_space.hpp>
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

TEST(Direct, ReportsWhatTheFactorsAre) {
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

/// The entries are rounded; the solution for the row sums of the exact matrix, which are rounded too, is about 1.
DenseMatrix hilbert(std::size_t n) {
  return {n, [](std::size_t i, std::size_t j) { return 1.0 / static_cast<double>(i + j + 1); }};
}
std::vector<double> hilbert_row_sums(std::size_t n) {
  std::vector<double> result(n);
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += 1.0L / static_cast<long double>(i + j + 1);
    result[i] = static_cast<double>(sum);
  }
  return result;
}

TEST(Direct, ErrorsOfIllConditionedMatricesAreWithinWhatIsReported) {
  for (const std::size_t n : {6, 8, 10}) { // condition numbers 1.5e7, 1.5e10, 1.6e13
    const auto A = hilbert(n);
    auto x = A.vector();
    const auto result = solve(A, hilbert_row_sums(n), x);
    ASSERT_EQ(result.status, Status::converged) << result.message;
    ASSERT_TRUE(result.relative_error);
    double error = 0;
    for (const double value : values(x)) error = std::max(error, std::abs(value - 1));
    EXPECT_LE(error, *result.relative_error) << n;
    EXPECT_EQ(result.warning.find("to be trusted") != std::string::npos, *result.relative_error > 1e-8) << n;
  }
  const auto A = hilbert(14); // 1e18
  auto x = A.vector();
  EXPECT_THROW(solve(A, hilbert_row_sums(14), x), base::SolverError); // pivots are zero to rounding
}

TEST(Direct, ResidualsAreThoseOfTwiceThePrecision) {
  // The products are 1 + 2^-26 + 2^-54, 1 + 2^-26 and 2^-60, of which doubles hold the first up to 2^-54.
  const double a = 1 + 0x1p-27;
  const op::SparseMatrix A{
      .num_columns = 3, .row_offsets = {0, 3}, .columns = {0, 1, 2}, .values = {a, 1 + 0x1p-26, 0x1p-30}};
  std::vector<double> r(1);
  solvers::subtract_product(A, std::vector<double>{a, -1, 0x1p-30}, std::vector<double>{0}, r);
  EXPECT_EQ(r[0], -(0x1p-54 + 0x1p-60));
}

TEST(Direct, ErrorsAreRelativeToEachField) {
  const auto A = diagonal_matrix({1, 1, 1, 1});
  const auto x = A.vector({2, 1, 1e-6, 0}), d = A.vector({1e-8, 0, 0, -3e-9});
  EXPECT_DOUBLE_EQ(solvers::relative_size(A, d, x, {}), 5e-9);
  const std::vector<std::int64_t> fields{0, 2, 4};
  EXPECT_DOUBLE_EQ(solvers::relative_size(A, d, x, fields), 3e-3);
}

/// Two chains that nothing holds have two null vectors.
DenseMatrix two_components() {
  const auto chain = neumann_laplacian(10);
  return {20, [&](std::size_t i, std::size_t j) { return i / 10 == j / 10 ? chain(i % 10, j % 10) : 0.0; }};
}

TEST(Direct, NullSpacesAreHeldAndProjectedOut) {
  const auto A = two_components();
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

/// Computes z_i = r_i / d_i; `is_known` says whether it is known to be diagonal.
class Scaling final : public solvers::Preconditioner {
public:
  Scaling(const DenseMatrix& A, std::vector<double> inverse, bool is_known)
      : ops_(A.device()), inverse_(A.vector(inverse)), is_known_(is_known) {}
  void apply(const op::Vector& r, op::Vector& z) const override { ops_.multiply(inverse_, r, z); }
  std::optional<const op::Vector*> diagonal() const override {
    return is_known_ ? std::optional<const op::Vector*>(&inverse_) : std::nullopt;
  }

private:
  solvers::VectorOps ops_;
  op::Vector inverse_;
  bool is_known_;
};

TEST(Minres, TakesPreconditionersAndJudgesEitherNorm) {
  const auto A = saddle_point();
  const auto b = random_values(30, 3);
  const auto exact = direct_solution(A, b);
  std::vector<double> inverse(30, 0.4);
  for (std::size_t i = 20; i < 30; ++i) inverse[i] = 1.7;
  for (const bool is_known : {true, false})
    for (const auto norm : {solvers::Norm::residual, solvers::Norm::preconditioned}) {
      auto x = A.vector();
      const auto result = solvers::minres(A, A.vector(b), x, Scaling(A, inverse, is_known),
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
