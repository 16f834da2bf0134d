// SPDX-License-Identifier: BSD-3-Clause
// Fused solvers on operators of forms have the iterates of the plain ones up to rounding, and the same bits for any
// number of threads.
#include <gtest/gtest.h>

#include <rafter/solve/chebyshev.hpp>
#include <rafter/solve/multigrid.hpp>
#include <rafter/solve/solver.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

struct Solved {
  solvers::Result result;
  std::vector<double> x;
};

Solved solved(const op::Operator& A, const std::string& preconditioner, bool is_fused, double rtol) {
  Vector b = random_vector(A, 1), x = A.make_vector();
  A.apply_boundary_values(b, x);
  solvers::SolverOptions options{.preconditioner = preconditioner, .control = {.rtol = rtol}};
  options.is_fused = is_fused;
  auto result = solvers::solve(A, b, x, options);
  return {std::move(result), values_of(x)};
}

class FusedCg : public ::testing::TestWithParam<std::string> {
protected:
  /// There are several stages of several chunks, facet kernels, and conditions that are not zero.
  FusedCg() : problem_(scrambled(box(shape_, length()), 3), 2) { problem_.with("kappa", 40.0); }
  op::Operator make_operator(int threads, const std::string& device = "host") const {
    return {problem_.form(std::string(helmholtz_form()) + " + kappa*u*v*ds(1)"),
            planned({.device = device,
                     .threads = threads,
                     .dirichlet = {dirichlet(problem_.space(), [](auto x, auto) { return 1 + x[0]; }, {2})}})};
  }
  int length() const { return shape_ == "interval" ? 400 : box_dimension(shape_) == 2 ? 10 : 4; }
  std::string shape_ = GetParam();
  Problem problem_;
};

TEST_P(FusedCg, HasTheIteratesOfThePlainOne) {
  const auto A = make_operator(2);
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"}) {
    SCOPED_TRACE(preconditioner);
    const auto plain = solved(A, preconditioner, false, 1e-12), fused = solved(A, preconditioner, true, 1e-12);
    EXPECT_EQ(plain.result.status, solvers::Status::converged) << plain.result.message;
    EXPECT_EQ(fused.result.status, solvers::Status::converged) << fused.result.message;
    EXPECT_LE(std::abs(fused.result.iterations - plain.result.iterations), plain.result.iterations / 100);
    EXPECT_LE(distance(fused.x, plain.x), 1e-11 * largest(plain.x));
    // Residuals agree to the last digits until rounding is amplified.
    for (std::size_t i = 0; i < std::min<std::size_t>(plain.result.history.size(), 10); ++i)
      EXPECT_NEAR(fused.result.history[i], plain.result.history[i], 1e-11 * plain.result.history[i]) << i;
  }
}

TEST_P(FusedCg, AnyNumberOfThreadsGivesTheSameBits) {
  for (const char* preconditioner : {"jacobi", "chebyshev"}) {
    SCOPED_TRACE(preconditioner);
    const auto expected = solved(make_operator(1), preconditioner, true, 1e-8);
    for (const int threads : {2, 3, 4}) {
      const auto found = solved(make_operator(threads), preconditioner, true, 1e-8);
      EXPECT_EQ(found.result.history, expected.result.history) << threads;
      EXPECT_EQ(found.x, expected.x) << threads;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, FusedCg, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

class FusedCgOnDevices : public FusedCg {};

TEST_P(FusedCgOnDevices, WithMemoryOfTheirOwnGiveTheSameIterates) {
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"}) {
    const auto host = solved(make_operator(1), preconditioner, true, 1e-10);
    const auto checked = solved(make_operator(1, "checked"), preconditioner, true, 1e-10);
    EXPECT_EQ(checked.result.status, solvers::Status::converged) << checked.result.message;
    EXPECT_LE(distance(checked.x, host.x), 1e-9 * largest(host.x)) << preconditioner;
  }
}

INSTANTIATE_TEST_SUITE_P(some_shapes, FusedCgOnDevices, ::testing::Values("quadrilateral", "mixed"),
                         [](const auto& shape) { return shape.param; });

class FusedChebyshev : public ::testing::TestWithParam<std::string> {
protected:
  FusedChebyshev() : problem_(scrambled(box(GetParam()), 3), 2) { problem_.with("kappa", 0.7); }
  op::Operator make_operator() {
    return op::Operator(
        problem_.form(helmholtz_form()),
        planned({.threads = 2, .dirichlet = {dirichlet(problem_.space(), [](auto, auto) { return 0.0; }, {1})}}));
  }

private:
  Problem problem_;
};

TEST_P(FusedChebyshev, SmoothsOperatorsOfFormsAsThePlainOne) {
  const auto A = make_operator();
  for (const int degree : {1, 2, 3, 4}) { // each has loops of its own
    const auto results = [&](bool is_fused) {
      const solvers::Chebyshev M(A, {.degree = degree, .is_fused = is_fused});
      Vector x = random_vector(A, 2), z = random_vector(A, 3);
      M.smooth(random_vector(A, 1), x);
      M.apply(random_vector(A, 1), z);
      return std::pair(values_of(x), values_of(z));
    };
    const auto [smoothed, applied] = results(false);
    const auto [fused_smoothed, fused_applied] = results(true);
    EXPECT_LE(distance(fused_smoothed, smoothed), 1e-13 * largest(smoothed)) << degree;
    EXPECT_LE(distance(fused_applied, applied), 1e-13 * largest(applied)) << degree;
  }
}

TEST_P(FusedChebyshev, EstimatesTheEigenvaluesThatThePlainOneDoes) {
  const auto A = make_operator();
  const auto inverse = solvers::inverse_diagonal(A);
  const auto estimate = [&](int steps, bool is_fused) {
    return solvers::estimate_eigenvalues(A, inverse, steps, {}, 3, false, is_fused);
  };
  const auto plain = estimate(12, false), fused = estimate(12, true);
  EXPECT_NEAR(fused.largest, plain.largest, 1e-12 * plain.largest);
  EXPECT_NEAR(fused.smallest, plain.smallest, 1e-10 * plain.largest);
  EXPECT_NEAR(fused.checked, plain.checked, 1e-12 * plain.largest);
  const solvers::ChebyshevParameters smoother = solvers::MultigridParameters().smoother;
  EXPECT_GE(smoother.safety_factor * estimate(smoother.estimate_iterations, true).largest, estimate(60, true).largest);
}

INSTANTIATE_TEST_SUITE_P(every_shape, FusedChebyshev, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
