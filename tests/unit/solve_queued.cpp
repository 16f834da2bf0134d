// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients that are queued on a device end as those of the host do, and copy residuals alone.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include <rafter/solve/solver.hpp>
#include <tests/support/opencl.hpp>
#include <tests/support/shared_device.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

constexpr std::array<std::string_view, 5> products{
    "chain(| u[here], l[left], r[right], y[here]): y = 2.1*u - l - r",
    "negative(| u[here], l[left], r[right], y[here]): y = l + r - u",
    "null(| u[here], l[left], r[right], y[here]): y = 0*(u + l + r)",
    "broken(| u[here], l[left], r[right], y[here]): y = sqrt(l + r - u)",
    "diagonal(| d[here]): d = 2.1",
};

/// A matrix that couples neighbours on a ring, whose product is a loop on the device. The last entry of vectors is no
/// unknown: nobody reads it.
class Chain final : public op::LinearOperator {
public:
  Chain(std::shared_ptr<device::Device> device, std::int32_t n, std::string row = "chain")
      : device_(std::move(device)), row_(std::move(row)), n_(n), runner_(device_, products) {
    base::AlignedVector<std::int32_t> here, left, right;
    for (std::int32_t i = 0; i < n; ++i) {
      here.push_back(i);
      left.push_back((i + n - 1) % n);
      right.push_back((i + 1) % n);
    }
    here_ = op::IntegerArray(device_, std::move(here));
    left_ = op::IntegerArray(device_, std::move(left));
    right_ = op::IntegerArray(device_, std::move(right));
  }
  std::int64_t size() const override { return n_ + 1; }
  std::int64_t num_unknowns() const override { return n_; }
  std::vector<op::EntryRange> owned_ranges() const override { return {{0, n_}}; }
  std::shared_ptr<device::Device> device() const override { return device_; }
  void apply(const op::Vector& x, op::Vector& y) const override {
    ++num_applies;
    runner_.run(row_, {}, {x, x, x, y, here_, left_, right_});
  }
  void diagonal(op::Vector& d) const override { runner_.run("diagonal", {}, {d, here_}); }
  op::Vector vector(unsigned seed) const {
    auto values = random_values(static_cast<std::size_t>(n_) + 1, seed);
    values.back() = 0;
    return {device_, base::AlignedVector<double>(values.begin(), values.end())};
  }
  op::Vector zero() const { return {device_, static_cast<std::size_t>(n_) + 1}; }
  mutable int num_applies = 0;

private:
  std::shared_ptr<device::Device> device_;
  std::string row_;
  std::int32_t n_;
  op::VectorRunner runner_;
  op::IntegerArray here_, left_, right_;
};

std::vector<std::shared_ptr<device::Device>> devices() {
  static SharedDevice opencl([] { return device::make_device("opencl"); });
  std::vector<std::shared_ptr<device::Device>> result{device::make_device("checked")};
  if (has_opencl()) result.push_back(opencl.get());
  return result;
}

struct Solved {
  solvers::Result result;
  std::vector<double> x;
};

Solved solved(const Chain& A, const solvers::SolverOptions& options) {
  const auto b = A.vector(1);
  auto x = A.zero();
  auto result = solvers::solve(A, b, x, options);
  return {std::move(result), values(x)};
}

/// Checks that a solve on a device ends as the plain one of the host, with the same history and solution.
void expect_as_on_the_host(const std::string& row, solvers::SolverOptions options, double tolerance) {
  constexpr std::int32_t n = 60;
  options.is_fused = false;
  const auto expected = solved(Chain(memory_device(), n, row), options);
  options.is_fused = true;
  for (const auto& device : devices()) {
    SCOPED_TRACE(device->name() + " " + options.preconditioner);
    const auto found = solved(Chain(device, n, row), options);
    EXPECT_EQ(found.result.status, expected.result.status);
    EXPECT_EQ(found.result.message, expected.result.message);
    EXPECT_EQ(found.result.iterations, expected.result.iterations);
    ASSERT_EQ(found.result.history.size(), expected.result.history.size());
    for (std::size_t i = 0; i < found.result.history.size(); ++i)
      EXPECT_NEAR(found.result.history[i], expected.result.history[i], tolerance * (1 + expected.result.history[i]));
    for (std::size_t i = 0; i < found.x.size(); ++i) EXPECT_NEAR(found.x[i], expected.x[i], tolerance * 100);
  }
}

TEST(QueuedCg, HasTheIteratesOfThePlainOne) {
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"})
    for (const auto norm : {solvers::Norm::residual, solvers::Norm::preconditioned})
      for (const double rtol : {1e-3, 1e-8})
        expect_as_on_the_host("chain", {.preconditioner = preconditioner, .control = {.rtol = rtol, .norm = norm}},
                              1e-10);
}

TEST(QueuedCg, EveryIterationLimitReturnsTheIterateOfThatIteration) {
  for (const char* preconditioner : {"none", "jacobi", "chebyshev"})
    for (const int limit : {0, 1, 2, 3, 4, 5, 7, 11})
      expect_as_on_the_host(
          "chain", {.preconditioner = preconditioner, .control = {.rtol = 1e-12, .max_iterations = limit}}, 1e-12);
}

TEST(QueuedCg, MonitorsSeeEachIterationAndStopAtItsIterate) {
  solvers::SolverOptions options{.preconditioner = "jacobi", .control = {.rtol = 1e-10}};
  options.control.monitor = [](int iteration, double) { return iteration < 6; };
  expect_as_on_the_host("chain", options, 1e-12);
}

TEST(QueuedCg, FailsAsThePlainOne) {
  for (const char* row : {"negative", "null", "broken"}) {
    SCOPED_TRACE(row);
    expect_as_on_the_host(row, {.preconditioner = "none", .control = {.rtol = 1e-10}}, 1e-12);
  }
}

/// M^-1 = I at first, and a multiple of it from the third application on.
class FailingLater final : public solvers::Preconditioner {
public:
  FailingLater(const op::LinearOperator& A, double factor) : ops_(A), factor_(factor) {}
  void apply(const solvers::Vector& r, solvers::Vector& z) const override {
    ops_.copy(r, z);
    ops_.scale(num_applies_++ < 2 ? 1.0 : factor_, z);
  }

private:
  solvers::VectorOps ops_;
  double factor_;
  mutable int num_applies_ = 0;
};

TEST(QueuedCg, APreconditionerThatFailsLaterLeavesTheLastIterate) {
  for (const double factor : {-1.0, std::nan("")}) {
    const auto run = [&](const Chain& A, bool is_fused) {
      const auto b = A.vector(1);
      auto x = A.zero();
      auto result = solvers::cg(A, b, x, FailingLater(A, factor), {.control = {.rtol = 1e-12}, .is_fused = is_fused});
      return Solved{std::move(result), values(x)};
    };
    const auto expected = run(Chain(memory_device(), 40), false);
    EXPECT_EQ(expected.result.iterations, 2);
    for (const auto& device : devices()) {
      const auto found = run(Chain(device, 40), true);
      EXPECT_EQ(found.result.iterations, 2);
      EXPECT_EQ(found.result.message, expected.result.message);
      EXPECT_LE(distance(found.x, expected.x), 1e-13);
    }
  }
}

TEST(QueuedCg, CopiesResidualsAlone) {
  constexpr std::int32_t n = 20000;
  for (const auto& device : devices())
    for (const char* preconditioner : {"none", "jacobi", "chebyshev"}) {
      SCOPED_TRACE(device->name() + " " + preconditioner);
      const Chain A(device, n, "chain");
      const auto b = A.vector(1);
      auto x = A.zero();
      const auto M = solvers::make_preconditioner(A, {.preconditioner = preconditioner});
      (void)solvers::cg(A, b, x, *M, {.control = {.rtol = 1e-2}}); // brings vectors to the device
      auto y = A.zero();
      const auto before = device->copies();
      const auto result = solvers::cg(A, b, y, *M, {.control = {.rtol = 1e-9}});
      const auto copies = device->copies() - before;
      EXPECT_EQ(result.status, solvers::Status::converged);
      constexpr int found_at_begin_and_end = 8; // norms
      EXPECT_LE(copies.num_to_host, found_at_begin_and_end + result.iterations / 2);
      EXPECT_LT(copies.bytes_to_host, 8000 + 200 * result.iterations);
    }
}

TEST(QueuedCg, QueuesFewIterationsInVain) {
  for (const auto& device : devices()) {
    const Chain A(device, 3000);
    const auto b = A.vector(1);
    auto x = A.zero();
    const solvers::Jacobi M(A);
    A.num_applies = 0;
    const auto result = solvers::cg(A, b, x, M, {.control = {.rtol = 1e-9}});
    EXPECT_LE(A.num_applies, result.iterations + 8) << device->name();
  }
}

TEST(Chebyshev, CopiesNothingToTheHost) {
  for (const auto& device : devices()) {
    const Chain A(device, 5000);
    const auto r = A.vector(1);
    auto z = A.zero();
    const solvers::Chebyshev M(A, {.degree = 4, .upper = 2.0, .lower = 0.1});
    M.apply(r, z);
    const auto before = device->copies();
    M.apply(r, z);
    M.smooth(r, z);
    const auto copies = device->copies() - before;
    EXPECT_EQ(copies.num_to_host, 0) << device->name();
    EXPECT_EQ(copies.num_to_device, 0) << device->name();
  }
}

} // namespace
