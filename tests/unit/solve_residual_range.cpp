// SPDX-License-Identifier: BSD-3-Clause
// Norms neither overflow nor underflow, and linear systems near the ends of the range of doubles are solved as others.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <rafter/operator/run/entry_list.hpp>
#include <rafter/solve/residual_range.hpp>
#include <rafter/solve/solver.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Failure;
using solvers::Status;

namespace {

constexpr double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();

TEST(Norms, NeitherOverflowNorUnderflow) {
  for (const auto& device :
       {memory_device(), std::static_pointer_cast<device::Device>(std::make_shared<InterpreterDevice>())}) {
    const solvers::VectorOps ops(device);
    const op::EntryList entries(device, {0, 1});
    for (const int exponent : {-1070, -900, -540, -452, -448, 0, 448, 512, 600, 1000, 1020}) {
      const double unit = std::scalbn(1.0, exponent);
      const device::Vector x(device, base::AlignedVector<double>{3 * unit, -4 * unit, 0});
      EXPECT_EQ(ops.norm(x), 5 * unit) << exponent;
      EXPECT_EQ(entries.norm_at(x), 5 * unit) << exponent;
    }
  }
  const solvers::VectorOps ops(memory_device());
  EXPECT_EQ(ops.norm(make_vector({0, smallest})), smallest);
  EXPECT_EQ(ops.norm(make_vector({largest, 0})), largest);
  EXPECT_EQ(ops.norm(make_vector({0, 0})), 0);
  EXPECT_EQ(ops.norm(make_vector({1e-200, 1})), 1);
  EXPECT_EQ(ops.norm(make_vector({1e-200, 1e200})), 1e200);
  EXPECT_FALSE(std::isfinite(ops.norm(make_vector({largest, largest})))); // the norm itself is beyond all doubles
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_FALSE(std::isfinite(ops.norm(make_vector({1, bad}))));
}

TEST(Norms, OfEnergiesAreThoseOfProducts) {
  const solvers::VectorOps ops(memory_device());
  EXPECT_DOUBLE_EQ(ops.energy_norm(make_vector({1e-170, 0}), make_vector({4e-170, 7})), 2e-170);
  EXPECT_DOUBLE_EQ(ops.energy_norm(make_vector({1e170, 0}), make_vector({-9e170, 7})), 3e170);
  EXPECT_DOUBLE_EQ(ops.energy_norm(make_vector({2, 1}), make_vector({1, 2})), 2);
}

/// The Laplacian times a factor.
DenseMatrix scaled_laplacian(std::size_t n, double factor) {
  const auto A = laplacian(n);
  return {n, [&](std::size_t i, std::size_t j) { return factor * A(i, j); }};
}

struct Method {
  const char *method, *preconditioner;
};
constexpr Method all_methods[] = {{"cg", "none"},         {"cg", "jacobi"},     {"cg", "chebyshev"},
                                  {"minres", "none"},     {"minres", "jacobi"}, {"gmres", "jacobi"},
                                  {"bicgstab", "jacobi"}, {"direct", "none"}};

TEST(ResidualRange, SystemsAreSolvedWhateverTheirUnits) {
  constexpr std::size_t n = 12;
  const auto load = random_values(n, 1);
  const auto expected = direct_solution(laplacian(n), load);
  const double size = std::abs(*std::ranges::max_element(expected));
  for (const double b_unit : {1e-300, 1e-170, 1e-40, 1e40, 1e156, 1e160, 1e290})
    for (const double A_unit : {1.0, 1e-120, 1e120}) {
      if (!std::isnormal(b_unit / A_unit)) continue;
      const auto A = scaled_laplacian(n, A_unit);
      std::vector<double> b;
      for (const double value : load) b.push_back(b_unit * value);
      for (const auto& [method, preconditioner] : all_methods)
        for (const bool is_fused : {false, true}) {
          SCOPED_TRACE(std::string(method) + " " + preconditioner + ", b of " + std::to_string(std::log10(b_unit)) +
                       ", A of " + std::to_string(std::log10(A_unit)));
          auto x = A.vector(std::vector<double>(n, 0.0));
          const auto result = solvers::solve(
              A, A.vector(b), x,
              {.method = method, .preconditioner = preconditioner, .control = {.rtol = 1e-10}, .is_fused = is_fused});
          ASSERT_EQ(result.status, Status::converged) << result.message;
          EXPECT_EQ(result.warning, "");
          EXPECT_LE(result.relative_residual, 1e-10);
          for (std::size_t i = 0; i < n; ++i)
            EXPECT_NEAR(x.host_read()[i] / (b_unit / A_unit), expected[i], 1e-7 * size);
          ASSERT_TRUE(result.norms);
          EXPECT_NEAR(result.norms->residual, result.relative_residual, 1e-10);
        }
    }
}

TEST(ResidualRange, ScaledSystemsTakeTheSameIterationsAndGiveTheSameBits) {
  constexpr std::size_t n = 20;
  const auto load = random_values(n, 2), start = random_values(n, 3);
  for (const auto& [method, preconditioner] : all_methods) {
    SCOPED_TRACE(std::string(method) + " " + preconditioner);
    std::vector<solvers::Result> results;
    std::vector<std::vector<double>> solutions;
    for (const int exponent : {0, 200, -400}) {
      std::vector<double> b;
      for (const double value : load) b.push_back(std::scalbn(value, exponent));
      const auto A = laplacian(n);
      auto x = A.vector(std::vector<double>(n, 0.0));
      results.push_back(solvers::solve(A, A.vector(b), x, {.method = method, .preconditioner = preconditioner}));
      solutions.push_back(values(x));
      for (double& value : solutions.back()) value = std::scalbn(value, -exponent);
    }
    for (const std::size_t other : {1u, 2u}) {
      EXPECT_EQ(results[other].iterations, results[0].iterations);
      EXPECT_EQ(results[other].history.size(), results[0].history.size());
      EXPECT_EQ(solutions[other], solutions[0]);
    }
  }
}

/// A matrix whose last unknown has a boundary value.
class HeldMatrix final : public op::LinearOperator {
public:
  explicit HeldMatrix(DenseMatrix matrix)
      : matrix_(std::move(matrix)), held_{static_cast<std::int32_t>(matrix_.size()) - 1} {}
  std::int64_t size() const override { return matrix_.size(); }
  std::shared_ptr<device::Device> device() const override { return matrix_.device(); }
  void apply(const op::Vector& x, op::Vector& y) const override { matrix_.apply(x, y); }
  void diagonal(op::Vector& d) const override { matrix_.diagonal(d); }
  op::SparseMatrix sparse_matrix() const override { return matrix_.sparse_matrix(); }
  std::span<const std::int32_t> constrained_entries() const override { return held_; }

private:
  DenseMatrix matrix_;
  std::vector<std::int32_t> held_;
};

TEST(ResidualRange, StartsKeepTheirDigitsBesideSmallResiduals) {
  // The last entry is a boundary value, of size 300, beside which loads may be what rounding would be of loads of 300.
  constexpr std::size_t n = 6;
  for (const double unit : {1e-100, 1e-17, 1.0, 1e100})
    for (const auto& [method, preconditioner] : all_methods) {
      SCOPED_TRACE(std::string(method) + " " + preconditioner + " " + std::to_string(std::log10(unit)));
      const HeldMatrix A(DenseMatrix(n, [unit](std::size_t i, std::size_t j) {
        return i + 1 == n || j + 1 == n ? (i == j ? 1.0 : 0.0) : unit * laplacian(n)(i, j);
      }));
      std::vector<double> b(n, unit), start(n, 0.0);
      b.back() = start.back() = 300;
      auto x = make_vector(start);
      const auto result = solvers::solve(A, make_vector(b), x, {.method = method, .preconditioner = preconditioner});
      ASSERT_EQ(result.status, Status::converged) << result.message;
      EXPECT_EQ(x.host_read()[n - 1], 300);
      EXPECT_NEAR(x.host_read()[0], 2.5, 1e-5); // j (6 - j) / 2 for j = 1
    }
}

TEST(ResidualRange, ReferencesAndTolerancesFollowTheUnits) {
  const auto A = laplacian(10);
  const auto b = A.vector(std::vector<double>(10, 1e200));
  for (const char* method : {"cg", "minres", "gmres", "bicgstab"}) {
    auto x = A.vector(std::vector<double>(10, 0.0));
    solvers::SolverOptions options{
        .method = method, .preconditioner = "none", .control = {.rtol = 1e-6, .atol = 1e201}};
    EXPECT_EQ(solvers::solve(A, b, x, options).iterations, 0) << method;
    options.control.atol = 0;
    options.control.reference = [&](const device::Vector& at) {
      EXPECT_LT(std::abs(at.host_read()[0]), 1e202);
      return 1e196; // far less than the first residual
    };
    const auto result = solvers::solve(A, b, x, options);
    ASSERT_EQ(result.status, Status::converged) << method << ": " << result.message;
    ASSERT_TRUE(result.norms);
    EXPECT_LE(result.norms->of_first_residual, 1e-9) << method;
  }
}

TEST(ResidualRange, SolutionsBeyondAllDoublesAreFailures) {
  const auto A = scaled_laplacian(4, 1e-120);
  for (const auto& [method, preconditioner] : all_methods) {
    auto x = A.vector(std::vector<double>(4, 0.0));
    const auto result = solvers::solve(A, A.vector({1e200, 1e200, 1e200, 1e200}), x,
                                       {.method = method, .preconditioner = preconditioner});
    EXPECT_EQ(result.status, Status::failed) << method;
    EXPECT_EQ(result.failure, Failure::non_finite) << method << ": " << result.message;
  }
}

/// The reference that a solve is judged by may overflow although the residual does not.
TEST(ResidualRange, NoTargetIsInfinite) {
  const auto A = laplacian(4);
  for (const char* method : {"cg", "minres", "gmres", "bicgstab", "direct"}) {
    auto x = A.vector(std::vector<double>(4, 0.0));
    solvers::SolverOptions options{.method = method, .preconditioner = "none"};
    options.control.least_reference = std::numeric_limits<double>::infinity();
    const auto result = solvers::solve(A, A.vector({1, 2, 3, 4}), x, options);
    EXPECT_EQ(result.failure, Failure::non_finite) << method << ": " << result.message;
  }
}

} // namespace
