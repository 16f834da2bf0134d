// SPDX-License-Identifier: BSD-3-Clause
// Fused solvers agree with their plain versions, and their loops with the definition.
#include <gtest/gtest.h>

#include <rafter/solve/cg.hpp>
#include <rafter/solve/fused_loops.hpp>
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

// --- loops -----------------------------------------------------------------------------------------------------------

/// Ranges have lengths below, at and above multiples of a register, with gaps between them; entries outside must keep
/// their values.
const std::vector<op::EntryRange> ranges{{1, 2}, {3, 6}, {8, 16}, {17, 26}, {30, 47}, {48, 48}};
constexpr std::size_t size = 50;

std::vector<bool> inside() {
  std::vector<bool> result(size, false);
  for (const auto& range : ranges)
    for (auto i = range.begin; i < range.end; ++i) result[static_cast<std::size_t>(i)] = true;
  return result;
}

struct Data {
  std::vector<double> x = random_values(size, 1), r = random_values(size, 2), p = random_values(size, 3),
                      q = random_values(size, 4), d = random_values(size, 5), z = random_values(size, 6);
};

/// Checks every entry: `expected` returns what an entry in the ranges becomes.
void expect_entries(const std::vector<double>& found, const std::vector<double>& old,
                    const std::function<double(std::size_t)>& expected) {
  const auto is_inside = inside();
  for (std::size_t i = 0; i < size; ++i) {
    if (is_inside[i])
      EXPECT_NEAR(found[i], expected(i), 1e-15) << i;
    else
      EXPECT_EQ(found[i], old[i]) << i;
  }
}
double sum(const std::function<double(std::size_t)>& term) {
  const auto is_inside = inside();
  double result = 0;
  for (std::size_t i = 0; i < size; ++i) result += is_inside[i] ? term(i) : 0;
  return result;
}

TEST(FusedLoops, OfConjugateGradientsAgreeWithTheirDefinition) {
  for (const auto& loops : solvers::all_fused_loops())
    for (const bool is_scaled : {false, true})
      for (const bool redirects : {false, true}) {
        SCOPED_TRACE(loops.instruction_set);
        const Data old;
        Data v = old;
        const double alpha = 0.3, beta = -0.7;
        const auto m = [&](std::size_t i) { return is_scaled ? old.d[i] : 1.0; };
        const auto r = [&](std::size_t i) { return old.r[i] - alpha * old.q[i]; };
        const solvers::CgOperands operands{
            alpha, beta, is_scaled ? v.d.data() : nullptr, v.x.data(), v.r.data(), v.p.data(), v.q.data()};
        std::array<double, 5> sums{1, 2, 3, 4, 5};
        (redirects ? loops.advance_and_redirect : loops.advance)(operands, ranges, sums.data());
        expect_entries(v.x, old.x, [&](std::size_t i) { return old.x[i] + alpha * old.p[i]; });
        expect_entries(v.r, old.r, r);
        expect_entries(v.p, old.p, [&](std::size_t i) { return redirects ? m(i) * r(i) + beta * old.p[i] : old.p[i]; });
        EXPECT_NEAR(sums[0], 1 + sum([&](std::size_t i) { return r(i) * r(i); }), 1e-13);
        EXPECT_NEAR(sums[1], 2 + sum([&](std::size_t i) { return r(i) * m(i) * r(i); }), 1e-13);
        sums.fill(0);
        loops.products(operands, ranges, sums.data());
        EXPECT_NEAR(sums[0], sum([&](std::size_t i) { return v.p[i] * v.q[i]; }), 1e-13);
        EXPECT_NEAR(sums[1], sum([&](std::size_t i) { return v.r[i] * v.q[i]; }), 1e-13);
        EXPECT_NEAR(sums[2], sum([&](std::size_t i) { return v.q[i] * v.q[i]; }), 1e-13);
        EXPECT_NEAR(sums[3], sum([&](std::size_t i) { return v.r[i] * m(i) * v.q[i]; }), 1e-13);
        EXPECT_NEAR(sums[4], sum([&](std::size_t i) { return v.q[i] * m(i) * v.q[i]; }), 1e-13);
      }
}

TEST(FusedLoops, OfOtherPreconditionersAgreeWithTheirDefinition) {
  for (const auto& loops : solvers::all_fused_loops()) {
    SCOPED_TRACE(loops.instruction_set);
    const Data old;
    Data v = old;
    const double alpha = 0.3, beta = -0.7;
    const solvers::DeferredOperands operands{alpha, beta, v.x.data(), v.r.data(), v.p.data(), v.q.data(), v.z.data()};
    double rr = 0, pq = 0;
    loops.redirect(operands, ranges);
    expect_entries(v.x, old.x, [&](std::size_t i) { return old.x[i] + alpha * old.p[i]; });
    expect_entries(v.p, old.p, [&](std::size_t i) { return old.z[i] + beta * old.p[i]; });
    loops.energy(operands, ranges, &pq);
    EXPECT_NEAR(pq, sum([&](std::size_t i) { return v.p[i] * v.q[i]; }), 1e-13);
    loops.residual(operands, ranges, &rr);
    expect_entries(v.r, old.r, [&](std::size_t i) { return old.r[i] - alpha * old.q[i]; });
    EXPECT_NEAR(rr, sum([&](std::size_t i) { return v.r[i] * v.r[i]; }), 1e-13);
  }
}

TEST(FusedLoops, OfChebyshevAgreeWithTheirDefinition) {
  for (const auto& loops : solvers::all_fused_loops()) {
    SCOPED_TRACE(loops.instruction_set);
    const Data old; // q is the image, z the right-hand side, r the residual, p the direction
    const double a = 0.4, b = 1.7;
    const auto check = [&](void (*loop)(const solvers::ChebyshevOperands&, solvers::Ranges), const auto& residual,
                           double old_direction, double old_x) {
      Data v = old;
      loop({a, b, v.d.data(), v.q.data(), v.z.data(), v.r.data(), v.p.data(), v.x.data()}, ranges);
      const auto direction = [&](std::size_t i) { return old_direction * old.p[i] + b * old.d[i] * residual(i); };
      expect_entries(v.r, old.r, residual);
      expect_entries(v.p, old.p, direction);
      expect_entries(v.x, old.x, [&](std::size_t i) { return old_x * old.x[i] + direction(i); });
    };
    check(
        loops.chebyshev_start, [&](std::size_t i) { return old.z[i]; }, 0, 0);
    check(
        loops.chebyshev_restart, [&](std::size_t i) { return old.z[i] - old.q[i]; }, 0, 1);
    check(
        loops.chebyshev_step, [&](std::size_t i) { return old.r[i] - old.q[i]; }, a, 1);
  }
}

} // namespace
