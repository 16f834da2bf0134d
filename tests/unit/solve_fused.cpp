// SPDX-License-Identifier: BSD-3-Clause
// Fused solvers agree with their plain versions.
#include <gtest/gtest.h>

#include <rafter/solve/cg.hpp>
#include <rafter/solve/solver.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Status;

namespace {

struct Solved {
  solvers::Result result;
  std::vector<double> x;
  int num_applies = 0;
};

Solved solved(const DenseMatrix& A, const std::vector<double>& b, solvers::SolverOptions options, bool is_fused) {
  options.is_fused = is_fused;
  auto x = A.vector();
  A.num_applies = 0;
  auto result = solvers::solve(A, A.vector(b), x, options);
  return {std::move(result), values(x), A.num_applies};
}

double largest(const std::vector<double>& x) {
  double result = 0;
  for (const double value : x) result = std::max(result, std::abs(value));
  return result;
}

/// A residual that is computed anew may differ from b - A x by so much relative to b.
constexpr double rounding = 1e-15;

/// Checks that both end after the same number of iterations, with histories and solutions that agree up to rounding.
void expect_same(const DenseMatrix& A, const std::vector<double>& b, const solvers::SolverOptions& options,
                 double tolerance) {
  const auto plain = solved(A, b, options, false), fused = solved(A, b, options, true);
  EXPECT_EQ(fused.result.status, plain.result.status);
  EXPECT_EQ(fused.result.failure, plain.result.failure);
  EXPECT_EQ(fused.result.message, plain.result.message);
  ASSERT_EQ(fused.result.history.size(), plain.result.history.size());
  for (std::size_t i = 0; i < plain.result.history.size(); ++i)
    EXPECT_NEAR(fused.result.history[i], plain.result.history[i], tolerance * plain.result.history[i] + rounding) << i;
  EXPECT_LE(distance(fused.x, plain.x), tolerance * (1 + largest(plain.x)));
  EXPECT_EQ(fused.num_applies, plain.num_applies);
}

/// The condition number is about 30, so that rounding is not amplified over many iterations.
DenseMatrix well_conditioned(std::size_t n) {
  return {n, [](std::size_t i, std::size_t j) {
            return i == j ? 2.2 + 0.1 * static_cast<double>(i % 7) : (i + 1 == j || j + 1 == i ? -1.0 : 0.0);
          }};
}

TEST(FusedCg, HasTheIteratesOfThePlainOne) {
  const auto A = well_conditioned(80);
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"})
    for (const double rtol : {1e-3, 1e-8, 1e-12})
      expect_same(A, random_values(80, 1), {.preconditioner = preconditioner, .control = {.rtol = rtol}}, 1e-9);
}

TEST(FusedCg, SolutionsAgreeToRounding) {
  const auto A = well_conditioned(80);
  const auto b = random_values(80, 1);
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"}) {
    const solvers::SolverOptions options{.preconditioner = preconditioner, .control = {.rtol = 1e-13}};
    const auto plain = solved(A, b, options, false), fused = solved(A, b, options, true);
    EXPECT_EQ(fused.result.iterations, plain.result.iterations);
    EXPECT_LE(distance(fused.x, plain.x), 1e-12 * largest(plain.x)) << preconditioner;
  }
}

TEST(FusedCg, EveryIterationLimitReturnsTheIterateOfThatIteration) {
  const auto A = well_conditioned(40);
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"})
    for (int limit = 0; limit < 8; ++limit)
      expect_same(A, random_values(40, 2),
                  {.preconditioner = preconditioner, .control = {.rtol = 1e-10, .max_iterations = limit}}, 1e-12);
}

TEST(FusedCg, ReductionsThatCancelPredictedProductsLoseNoDigits) {
  for (const std::size_t distinct : {1u, 2u, 4u}) {
    std::vector<double> eigenvalues(45);
    for (std::size_t i = 0; i < 45; ++i) eigenvalues[i] = 1.0 + static_cast<double>(i % distinct);
    const auto A = diagonal_matrix(eigenvalues);
    const solvers::SolverOptions options{.preconditioner = "none", .control = {.rtol = 1e-12}};
    const auto plain = solved(A, random_values(45, 7), options, false),
               fused = solved(A, random_values(45, 7), options, true);
    EXPECT_EQ(fused.result.status, Status::converged);
    EXPECT_EQ(fused.result.iterations, static_cast<int>(distinct));
    EXPECT_EQ(fused.num_applies, plain.num_applies);
    EXPECT_LE(distance(fused.x, plain.x), 1e-14 * largest(plain.x));
  }
}

TEST(FusedCg, EndsAsThePlainOneWhenNothingIsToBeDone) {
  const auto A = laplacian(5);
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"}) {
    expect_same(A, std::vector<double>(5, 0.0), {.preconditioner = preconditioner}, 0);
    expect_same(A, random_values(5, 1), {.preconditioner = preconditioner, .control = {.max_iterations = 0}}, 0);
  }
}

TEST(FusedCg, FailsAsThePlainOne) {
  const solvers::SolverOptions options{.preconditioner = "none", .control = {.rtol = 1e-10}};
  for (const double last : {1.0, 2.0, 0.5}) expect_same(diagonal_matrix({1, 2, -3}), {1, 1, last}, options, 1e-12);
  expect_same(diagonal_matrix({-1, -2, -3}), {1, 1, 1}, options, 1e-12);
  expect_same(diagonal_matrix({0, 0, 0}), {1, 2, 3}, options, 1e-12);
  expect_same(diagonal_matrix({1, std::nan(""), 3}), {1, 2, 3}, options, 1e-12);
  expect_same(laplacian(3), {1, std::nan(""), 3}, options, 1e-12);
  // The system is inconsistent, so that the residual cannot fall.
  expect_same(neumann_laplacian(50), std::vector<double>(50, 1.0), options, 1e-12);
}

/// M^-1 = I at first, and a multiple of it from the second application on; the diagonal is not known.
class FailingLater final : public solvers::Preconditioner {
public:
  explicit FailingLater(double factor) : factor_(factor) {}
  void apply(const solvers::Vector& r, solvers::Vector& z) const override {
    const auto in = r.host_read();
    const auto out = z.host_overwrite();
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = (is_first_ ? 1.0 : factor_) * in[i];
    is_first_ = false;
  }

private:
  double factor_;
  mutable bool is_first_ = true;
};

TEST(FusedCg, APreconditionerThatFailsLaterLeavesTheLastIterate) {
  const auto A = diagonal_matrix({1, 2, 5, 11});
  for (const double factor : {-1.0, std::nan("")}) {
    const auto run = [&](bool is_fused) {
      auto x = A.vector();
      const auto result = solvers::cg(A, A.vector(std::vector<double>{1, 1, 1, 1}), x, FailingLater(factor),
                                      {.control = {.rtol = 1e-12}, .is_fused = is_fused});
      return std::pair(result, values(x));
    };
    const auto plain = run(false), fused = run(true);
    EXPECT_EQ(plain.first.iterations, 1);
    EXPECT_EQ(fused.first.iterations, 1);
    EXPECT_EQ(fused.first.failure, plain.first.failure);
    EXPECT_GT(largest(plain.second), 0);
    EXPECT_LE(distance(fused.second, plain.second), 1e-14 * largest(plain.second)) << factor;
  }
}

TEST(FusedCg, AToleranceBelowPrecisionGivesTheBestSolutionWithAWarning) {
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"}) {
    const auto A = well_conditioned(60);
    const auto b = random_values(60, 5);
    const auto fused =
        solved(A, b, {.preconditioner = preconditioner, .control = {.rtol = 1e-18, .max_iterations = 100000}}, true);
    EXPECT_EQ(fused.result.status, solvers::Status::converged) << fused.result.message;
    EXPECT_NE(fused.result.warning, "");
    EXPECT_LE(distance(fused.x, direct_solution(A, b)), 1e-13 * largest(fused.x) * 60);
  }
}

TEST(FusedCg, MonitorCanStopAtTheIterateOfThatIteration) {
  solvers::SolverOptions options{.preconditioner = "jacobi", .control = {.rtol = 1e-10}};
  options.control.monitor = [](int iteration, double) { return iteration < 3; };
  expect_same(well_conditioned(60), random_values(60, 6), options, 1e-13);
}

TEST(FusedChebyshev, AppliesAndSmoothsAsThePlainOne) {
  const auto A = well_conditioned(50);
  const auto r = random_values(50, 3), start = random_values(50, 4);
  for (const int degree : {1, 2, 3, 6}) {
    const auto run = [&](bool is_fused) {
      const solvers::Chebyshev M(A, {.degree = degree, .upper = 2.0, .lower = 0.1, .is_fused = is_fused});
      auto z = A.vector(start), x = A.vector(start);
      A.num_applies = 0;
      M.apply(A.vector(r), z);
      EXPECT_EQ(A.num_applies, degree - 1);
      M.smooth(A.vector(r), x);
      EXPECT_EQ(A.num_applies, 2 * degree - 1);
      return std::pair(values(z), values(x));
    };
    const auto plain = run(false), fused = run(true);
    EXPECT_LE(distance(fused.first, plain.first), 1e-14 * largest(plain.first) * 50) << degree;
    EXPECT_LE(distance(fused.second, plain.second), 1e-14 * largest(plain.second) * 50) << degree;
  }
}

TEST(CgVectorBytes, CountEveryVectorOfEveryOperation) {
  const auto A = well_conditioned(10);
  const solvers::Identity identity(A.device());
  const solvers::Jacobi jacobi(A);
  const solvers::Chebyshev chebyshev(A);
  const auto words = [](const solvers::Preconditioner& M, bool is_fused) {
    const auto bytes = solvers::cg_vector_bytes(M, is_fused);
    return std::pair(bytes.read / 8, bytes.written / 8);
  };
  EXPECT_EQ(words(identity, true), std::pair(4.0, 4.0)); // x, r, p, q
  EXPECT_EQ(words(jacobi, true), std::pair(5.0, 4.0));
  EXPECT_EQ(words(jacobi, false), std::pair(1.0 + 2 + 4 + 2 + 2 + 2, 1.0 + 2 + 1 + 1));
  EXPECT_EQ(words(identity, false), std::pair(1.0 + 2 + 4 + 1 + 2 + 2, 1.0 + 2 + 1 + 1));
  EXPECT_EQ(words(chebyshev, false), std::pair(1.0 + 2 + 4 + 2 + 2, 1.0 + 2 + 1));
  EXPECT_EQ(words(chebyshev, true), std::pair(3.0 + 2 + 2, 3.0 + 1));
}

} // namespace
