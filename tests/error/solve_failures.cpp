// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <limits>

#include <rafter/solve/solver.hpp>
#include <tests/support/messages.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::Failure;
using solvers::Status;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

solvers::Result solve_with(const op::LinearOperator& A, const device::Vector& b, const char* method,
                           const char* preconditioner = "none", int max_iterations = 5000) {
  device::Vector x(A.device(), b.size());
  return solvers::solve(A, b, x,
                        {.method = method,
                         .preconditioner = preconditioner,
                         .control = {.rtol = 1e-10, .max_iterations = max_iterations}});
}

template <class Error> std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error of this kind";
  return {};
}

/// Computes y = A x by a function; its diagonal is one.
class FunctionOperator final : public op::LinearOperator {
public:
  FunctionOperator(std::int64_t size, std::function<void(std::span<const double>, std::span<double>)> function)
      : size_(size), function_(std::move(function)) {}
  std::int64_t size() const override { return size_; }
  std::shared_ptr<device::Device> device() const override { return device_; }
  void apply(const op::Vector& x, op::Vector& y) const override { function_(x.host_read(), y.host_overwrite()); }
  void diagonal(op::Vector& d) const override {
    for (auto& entry : d.host_overwrite()) entry = 1;
  }

private:
  std::int64_t size_;
  std::function<void(std::span<const double>, std::span<double>)> function_;
  std::shared_ptr<device::Device> device_ = memory_device();
};

/// Multiplies by a factor; a negative one makes the preconditioner indefinite.
class ScalePreconditioner final : public solvers::Preconditioner {
public:
  explicit ScalePreconditioner(double factor) : factor_(factor) {}
  void apply(const device::Vector& r, device::Vector& z) const override {
    const auto in = r.host_read();
    const auto out = z.host_overwrite();
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = factor_ * in[i];
  }

private:
  double factor_;
};

TEST(SolveFailures, NonFiniteRightHandSideIsNamed) {
  const auto A = laplacian(4);
  for (const char* method : {"cg", "gmres", "minres", "bicgstab", "direct"})
    for (const double bad : {inf, std::nan("")}) {
      const auto result = solve_with(A, A.vector({1, 2, bad, 4}), method);
      EXPECT_EQ(result.status, Status::failed);
      EXPECT_EQ(result.failure, Failure::non_finite);
      EXPECT_TRUE(contains(result.message, "entry 2")) << result.message;
    }
}

TEST(SolveFailures, NonFiniteOperatorIsNamed) {
  const FunctionOperator A(3, [](std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < 3; ++i) y[i] = x[i] == 0 ? 0 : std::log(-std::abs(x[i]));
  });
  for (const char* method : {"cg", "gmres", "minres", "bicgstab"}) {
    const auto result = solve_with(A, make_vector({1, 2, 3}), method);
    EXPECT_EQ(result.failure, Failure::non_finite) << result.message;
    EXPECT_TRUE(contains(result.message, "operator")) << result.message;
  }
}

TEST(SolveFailures, OperatorThatIsNotFiniteAtTheInitialGuessIsNamed) {
  const FunctionOperator A(2, [](std::span<const double>, std::span<double> y) { y[0] = 0, y[1] = std::nan(""); });
  const auto result = solve_with(A, make_vector({1, 2}), "cg");
  EXPECT_EQ(result.failure, Failure::non_finite);
  EXPECT_TRUE(contains(result.message, "entry 1")) << result.message;
}

TEST(SolveFailures, NonFinitePreconditionerIsNamed) {
  const auto A = laplacian(3);
  const ScalePreconditioner M(std::nan(""));
  auto x = A.vector();
  EXPECT_EQ(solvers::cg(A, A.vector({1, 2, 3}), x, M).failure, Failure::non_finite);
  EXPECT_EQ(solvers::minres(A, A.vector({1, 2, 3}), x, M).failure, Failure::non_finite);
  EXPECT_EQ(solvers::gmres(A, A.vector({1, 2, 3}), x, M).failure, Failure::non_finite);
  EXPECT_EQ(solvers::bicgstab(A, A.vector({1, 2, 3}), x, M).failure, Failure::non_finite);
}

TEST(SolveFailures, CgNamesAnIndefiniteOperator) {
  const auto A = diagonal_matrix({1, 2, -3});
  for (const double last : {1.0, 2.0}) { // in the first step, p.Ap = 0 or p.Ap < 0
    const auto result = solve_with(A, A.vector({1, 1, last}), "cg");
    EXPECT_EQ(result.failure, Failure::indefinite_operator) << result.message;
    EXPECT_TRUE(contains(result.message, "gmres")) << result.message;
  }
}

TEST(SolveFailures, CgNamesANegativeOperator) {
  const auto A = diagonal_matrix({-1, -2, -3});
  EXPECT_EQ(solve_with(A, A.vector({1, 1, 1}), "cg").failure, Failure::indefinite_operator);
}

TEST(SolveFailures, AnIndefinitePreconditionerIsNamed) {
  const auto A = laplacian(3);
  auto x = A.vector();
  EXPECT_EQ(solvers::cg(A, A.vector({1, 2, 3}), x, ScalePreconditioner(-1)).failure,
            Failure::indefinite_preconditioner);
  EXPECT_EQ(solvers::cg(A, A.vector({1, 2, 3}), x, ScalePreconditioner(0)).failure, Failure::indefinite_preconditioner);
  for (const double factor : {-1.0, 0.0})
    EXPECT_EQ(solvers::minres(A, A.vector({1, 2, 3}), x, ScalePreconditioner(factor)).failure,
              Failure::indefinite_preconditioner);
}

TEST(SolveFailures, AZeroOperatorIsNamed) {
  const DenseMatrix A(3, [](std::size_t, std::size_t) { return 0.0; });
  for (const char* method : {"cg", "minres"}) {
    const auto result = solve_with(A, A.vector({1, 2, 3}), method);
    EXPECT_EQ(result.failure, Failure::singular_operator) << result.message;
    EXPECT_TRUE(contains(result.message, "Neumann")) << result.message;
  }
}

TEST(SolveFailures, InconsistentPureNeumannProblemEndsWithAHint) {
  const auto A = neumann_laplacian(50);
  const std::vector<double> b(50, 1.0);
  auto rough = random_values(50, 1);
  for (const char* method : {"cg", "gmres", "minres", "bicgstab"})
    for (const char* preconditioner : {"none", "jacobi"})
      for (const auto& rhs : {b, rough}) {
        const auto result = solve_with(A, A.vector(rhs), method, preconditioner, 100000);
        EXPECT_EQ(result.status, Status::failed) << method;
        EXPECT_TRUE(contains(result.message, "Neumann")) << method << " " << preconditioner << ": " << result.message;
      }
}

TEST(SolveFailures, GmresNamesBreakdownOfASingularOperator) {
  // The matrix is nilpotent: the Krylov space of e_0 ends without a solution.
  const DenseMatrix A(3, [](std::size_t i, std::size_t j) { return i == j + 1 ? 1.0 : 0.0; });
  const auto result = solve_with(A, A.vector({1, 0, 0}), "gmres");
  EXPECT_EQ(result.failure, Failure::breakdown) << result.message;
}

TEST(SolveFailures, BicgstabNamesBreakdownOfSkewOperators) {
  // r.A r = 0 for every r, so that no first step has a length.
  const DenseMatrix A(2, [](std::size_t i, std::size_t j) { return i == j ? 0.0 : (i < j ? 1.0 : -1.0); });
  const auto result = solve_with(A, A.vector({1, 2}), "bicgstab");
  EXPECT_EQ(result.failure, Failure::breakdown) << result.message;
  EXPECT_TRUE(contains(result.message, "gmres")) << result.message;
  EXPECT_EQ(solve_with(A, A.vector({1, 2}), "gmres").status, Status::converged);
}

TEST(SolveFailures, RestartedGmresThatCannotProgressStagnates) {
  // A cyclic shift allows no reduction before iteration n, so that shorter cycles repeat themselves for ever.
  constexpr std::size_t n = 12;
  const DenseMatrix A(n, [](std::size_t i, std::size_t j) { return i == (j + 1) % n ? 1.0 : 0.0; });
  std::vector<double> b(n, 0.0);
  b[0] = 1;
  auto x = A.vector();
  const auto stuck = solvers::solve(A, A.vector(b), x, {.method = "gmres", .preconditioner = "none", .restart = 5});
  EXPECT_EQ(stuck.failure, Failure::stagnated) << stuck.message;
  EXPECT_TRUE(contains(stuck.message, "restart")) << stuck.message;
  EXPECT_EQ(solve_with(A, A.vector(b), "gmres").status, Status::converged);
}

TEST(SolveFailures, DivergenceIsNamed) {
  // The matrix is far from symmetric, so that the residual of cg explodes.
  const auto A = DenseMatrix(30, [](std::size_t i, std::size_t j) { return i == j ? 1.0 : (i < j ? 1e5 : -1e5); });
  auto x = A.vector();
  const auto result = solvers::solve(A, A.vector(random_values(30, 4)), x, {.preconditioner = "none"});
  EXPECT_EQ(result.failure, Failure::diverged) << result.message;
}

TEST(SolveFailures, ToleranceBelowPrecisionConvergesWithAWarningNotInAnEndlessLoop) {
  const auto A = laplacian(60);
  const auto b = random_values(60, 5);
  for (const char* method : {"cg", "gmres", "minres", "bicgstab", "direct"}) {
    auto x = A.vector();
    const auto result = solvers::solve(
        A, A.vector(b), x, {.method = method, .control = {.rtol = 1e-18, .max_iterations = 100000}, .restart = 100});
    EXPECT_EQ(result.status, Status::converged) << method << " " << result.message;
    EXPECT_TRUE(contains(result.warning, "rounding errors")) << method << ": " << result.warning;
    EXPECT_LT(result.iterations, 5000);
    // The backward error is 16 roundings, with |A| <= 4 and |A^-1| <= 1 / 2.6e-3.
    const auto exact = direct_solution(A, b);
    const double bound = 16 * 2.3e-16 * 4 * distance(exact, std::vector<double>(60, 0));
    EXPECT_LE(result.relative_residual * distance(b, std::vector<double>(60, 0)), bound) << method;
    EXPECT_LE(distance(values(x), exact), bound / 2.6e-3) << method;
  }
}

/// The result is rounded to floats, so that residuals stay far above the rounding of doubles.
class RoundedOperator final : public op::LinearOperator {
public:
  explicit RoundedOperator(const DenseMatrix& A) : A_(A) {}
  std::int64_t size() const override { return A_.size(); }
  std::shared_ptr<device::Device> device() const override { return A_.device(); }
  void apply(const op::Vector& x, op::Vector& y) const override {
    A_.apply(x, y);
    for (auto& value : y.host_write()) value = static_cast<float>(value);
  }
  void diagonal(op::Vector& d) const override { A_.diagonal(d); }

private:
  const DenseMatrix& A_;
};

TEST(SolveFailures, APrecisionFarBelowThatOfDoublesIsStagnation) {
  const auto matrix = laplacian(60);
  const RoundedOperator A(matrix);
  for (const bool has_limit : {false, true})
    for (const char* method : {"cg", "gmres", "minres", "bicgstab"}) {
      auto x = matrix.vector();
      solvers::SolverOptions options{.method = method, .control = {.rtol = 1e-12}, .restart = 40};
      if (has_limit) options.control.max_iterations = 100000;
      const auto result = solvers::solve(A, matrix.vector(random_values(60, 5)), x, options);
      EXPECT_EQ(result.failure, Failure::stagnated) << method << " " << result.message;
      EXPECT_LT(result.relative_residual, 1e-4) << method;
    }
}

TEST(SolveFailures, JacobiNamesTheRowWithoutInverse) {
  for (const double bad : {0.0, inf, std::nan(""), 1e-320}) {
    const auto A = diagonal_matrix({1, 2, bad, 4});
    const auto text = message_of<base::SolverError>([&] { solvers::Jacobi jacobi(A); });
    EXPECT_TRUE(contains(text, "row 2")) << text;
  }
}

TEST(SolveFailures, ChebyshevRefusesIndefiniteOperators) {
  const auto negative = diagonal_matrix({1, -2, 3});
  EXPECT_TRUE(contains(message_of<base::SolverError>([&] { solvers::Chebyshev chebyshev(negative); }), "row 1"));
  // The eigenvalues are 5 and -1.
  const DenseMatrix indefinite(3, [](std::size_t i, std::size_t j) { return i == j ? 1.0 : 2.0; });
  EXPECT_TRUE(contains(message_of<base::SolverError>([&] { solvers::Chebyshev chebyshev(indefinite); }), "definite"));
}

TEST(SolveFailures, ParametersOutOfRangeAreInputErrors) {
  const auto A = laplacian(3);
  const auto b = A.vector({1, 2, 3});
  const auto with = [&](const solvers::SolverOptions& options) {
    return message_of<base::InputError>([&] {
      auto x = A.vector();
      solvers::solve(A, b, x, options);
    });
  };
  EXPECT_TRUE(contains(with({.control = {.rtol = -1}}), "rtol"));
  EXPECT_TRUE(contains(with({.control = {.rtol = std::nan("")}}), "rtol"));
  EXPECT_TRUE(contains(with({.control = {.atol = -1}}), "atol"));
  EXPECT_TRUE(contains(with({.control = {.max_iterations = -1}}), "max_iterations"));
  EXPECT_TRUE(contains(with({.method = "gmres", .restart = 0}), "restart"));
  EXPECT_TRUE(contains(with({.preconditioner = "chebyshev", .chebyshev = {.degree = 0}}), "degree"));
  EXPECT_TRUE(contains(with({.preconditioner = "chebyshev", .chebyshev = {.upper = 1, .lower = 2}}), "lower"));
}

TEST(SolveFailures, UnknownNamesSuggestTheNearest) {
  EXPECT_TRUE(contains(message_of<base::InputError>([] { solvers::find_method("gmers"); }), "did you mean 'gmres'"));
  EXPECT_TRUE(
      contains(message_of<base::InputError>([] { solvers::find_preconditioner("jacoby"); }), "did you mean 'jacobi'"));
}

TEST(SolveFailures, NamesWithoutImplementationSayWhatExists) {
  for (const auto& method : solvers::methods()) {
    if (method.run) continue;
    const auto text = message_of<base::InputError>([&] { solvers::find_method(method.name); });
    EXPECT_TRUE(contains(text, "not available in this version") && contains(text, "cg, gmres")) << text;
  }
  const auto text = message_of<base::InputError>([&] { solvers::find_preconditioner("hypre"); });
  EXPECT_TRUE(contains(text, "unknown preconditioner") && contains(text, "none, jacobi, chebyshev, multigrid")) << text;
}

TEST(SolveFailures, FactorsNameASingularMatrix) {
  const auto neumann = neumann_laplacian(20);
  const DenseMatrix structural(3, [](std::size_t i, std::size_t j) { return i == j && i < 2 ? 1.0 : 0.0; });
  const DenseMatrix general(3, [](std::size_t i, std::size_t) { return 1.0 + static_cast<double>(i); });
  for (const auto* A : {&neumann, &structural, &general}) {
    auto x = A->vector();
    const auto text = message_of<base::SolverError>([&] {
      solvers::solve(*A, A->vector(random_values(static_cast<std::size_t>(A->size()), 1)), x, {.method = "direct"});
    });
    EXPECT_TRUE(contains(text, "singular")) << text;
    EXPECT_TRUE(contains(text, "[[constraint]]")) << text;
  }
}

TEST(SolveFailures, FactorsNameAMatrixThatIsNotFinite) {
  const auto A = diagonal_matrix({1, std::nan(""), 2});
  EXPECT_TRUE(contains(message_of<base::SolverError>([&] { solvers::Factors factors(A.sparse_matrix()); }), "finite"));
}

TEST(SolveFailures, DirectSolvesNeedAMatrixAndItsFactors) {
  const FunctionOperator without(
      2, [](std::span<const double> x, std::span<double> y) { std::copy(x.begin(), x.end(), y.begin()); });
  auto x = make_vector({0, 0});
  EXPECT_TRUE(contains(message_of<base::InputError>([&] {
                         solvers::solve(without, make_vector({1, 2}), x, {.method = "direct"});
                       }),
                       "no sparse matrix"));
  const auto A = laplacian(2);
  auto y = A.vector();
  EXPECT_TRUE(contains(message_of<base::InputError>([&] {
                         solvers::direct(A, A.vector({1, 2}), y, solvers::Identity(A.device()));
                       }),
                       "factors"));
}

TEST(SolveFailures, FactorsOfAnotherMatrixStagnate) {
  const auto A = laplacian(20);
  const DenseMatrix other(20, [&](std::size_t i, std::size_t j) { return i == j ? 0.5 : A(i, j); });
  auto x = A.vector();
  const auto result =
      solvers::direct(A, A.vector(random_values(20, 1)), x, solvers::Factors(other.sparse_matrix()), {.rtol = 1e-10});
  EXPECT_EQ(result.failure, Failure::stagnated) << result.message;
}

} // namespace
