// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <random>

#include <fmt/format.h>

#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/cg.hpp>
#include <tests/support/operator_problems.hpp>

/// Laws of operators are written here as checks: symmetry, definiteness, null spaces, diagonals, patch tests.
namespace rafter::test {

/// Sums over the points of a cell round by so much relative to the size of A: a few digits more than one operation,
/// since basis functions of degree p are sums, too.
inline double rounding(int degree) { return 1e-13 * (degree + 1) * (degree + 1); }

inline double zero(std::span<const double>, std::size_t) { return 0; }

/// Returns an estimate of |A x| / |x| from a random vector.
inline double operator_scale(const op::Operator& A) {
  const Vector x = random_vector(A, 8);
  return norm(applied(A, x)) / norm(x);
}

inline void expect_symmetric(const op::Operator& A, double bound) {
  const Vector x = random_vector(A, 1), y = random_vector(A, 2);
  const Vector Ax = applied(A, x), Ay = applied(A, y);
  EXPECT_NEAR(dot(Ax, y), dot(x, Ay), bound * norm(Ax) * norm(y));
}

inline void expect_semi_definite(const op::Operator& A, double bound) {
  for (unsigned seed = 3; seed < 6; ++seed) {
    const Vector x = random_vector(A, seed);
    EXPECT_GE(dot(x, applied(A, x)), -bound * operator_scale(A) * dot(x, x));
  }
}

inline void expect_in_null_space(const op::Operator& A, const Vector& x, double bound) {
  EXPECT_LE(largest(applied(A, x).host_read()), bound * operator_scale(A) * largest(x.host_read()));
}

/// Checks that diagonal(A)_i = e_i^T A e_i.
inline void expect_diagonal(const op::Operator& A, int number, double bound) {
  Vector d = A.make_vector();
  A.diagonal(d);
  std::mt19937 random(6);
  for (int n = 0; n < number; ++n) {
    const std::size_t i = random() % d.size();
    Vector e = A.make_vector();
    std::ranges::fill(e.host_overwrite(), 0.0);
    e.host_write()[i] = 1;
    EXPECT_NEAR(d.host_read()[i], applied(A, e).host_read()[i], bound * largest(d.host_read())) << "entry " << i;
  }
}

inline void check_helmholtz_laws(mesh::Mesh mesh, int degree, op::OperatorOptions options,
                                 bool checks_diagonal = true) {
  Problem problem(std::move(mesh), degree);
  SCOPED_TRACE(problem.mesh().source + " degree " + std::to_string(degree));
  const double bound = rounding(degree);
  const op::Operator laplace(problem.with("kappa", 0.0).form(helmholtz_form()), options);
  expect_symmetric(laplace, bound);
  expect_semi_definite(laplace, bound);
  const Vector one = problem.interpolated(laplace.make_vector(), [](auto, auto) { return 1.0; });
  expect_in_null_space(laplace, one, bound);
  options.dirichlet = {dirichlet(problem.space(), zero, {1})};
  const op::Operator fixed(problem.form(helmholtz_form()), options);
  EXPECT_GT(fixed.constraints().entries.size(), 0U);
  expect_symmetric(fixed, bound);
  const Vector x = random_vector(fixed, 4);
  EXPECT_GT(dot(x, applied(fixed, x)), 0);
  if (checks_diagonal) expect_diagonal(fixed, 6, bound);
}

/// Returns the translations e_c and the rotations x_a e_b - x_b e_a.
inline std::vector<Vector> rigid_body_modes(const Problem& problem, const op::Operator& A) {
  const auto dim = static_cast<std::size_t>(problem.dim());
  std::vector<Vector> modes;
  for (std::size_t a = 0; a < dim; ++a) {
    modes.push_back(problem.interpolated(A.make_vector(), [a](auto, std::size_t c) { return c == a ? 1.0 : 0.0; }));
    for (std::size_t b = a + 1; b < dim; ++b)
      modes.push_back(problem.interpolated(A.make_vector(), [a, b](std::span<const double> x, std::size_t c) {
        return c == b ? x[a] : c == a ? -x[b] : 0.0;
      }));
  }
  return modes;
}

inline void check_elasticity_laws(mesh::Mesh mesh, int degree, op::OperatorOptions options, bool checks_diagonal) {
  const int dim = mesh.gdim;
  Problem problem(std::move(mesh), degree, dim);
  SCOPED_TRACE(problem.mesh().source + " elasticity, degree " + std::to_string(degree));
  const double bound = rounding(degree);
  const op::Operator A(problem.with("kappa", 1.3).form(elasticity_form(dim)), options);
  expect_symmetric(A, bound);
  expect_semi_definite(A, bound);
  const auto modes = rigid_body_modes(problem, A);
  EXPECT_EQ(static_cast<int>(modes.size()), dim * (dim + 1) / 2);
  for (const auto& mode : modes) expect_in_null_space(A, mode, bound);
  // A deformation that is no rigid body motion costs energy.
  const Vector stretch =
      problem.interpolated(A.make_vector(), [](std::span<const double> x, std::size_t c) { return x[c]; });
  EXPECT_GT(dot(stretch, applied(A, stretch)), 0.1);
  if (checks_diagonal) expect_diagonal(A, 4, bound);
}

// --- patch tests -----------------------------------------------------------------------------------------------------

/// The polynomial is a power s^p of s = c0 + sum_d c_d x_d.
struct Power {
  int degree = 1;
  int dim = 3;
  static double coefficient(std::size_t d) { return 0.5 - 0.3 * static_cast<double>(d); }
  double base(std::span<const double> x) const {
    double s = 0.3;
    for (std::size_t d = 0; d < x.size(); ++d) s += coefficient(d) * x[d];
    return s;
  }
  double operator()(std::span<const double> x, std::size_t) const { return std::pow(base(x), degree); }
  double gradient_squared() const {
    double sum = 0;
    for (int d = 0; d < dim; ++d)
      sum += coefficient(static_cast<std::size_t>(d)) * coefficient(static_cast<std::size_t>(d));
    return sum;
  }
  std::string base_text() const {
    std::string text = "0.3";
    for (int d = 0; d < dim; ++d) text += fmt::format(" + {}*x[{}]", coefficient(static_cast<std::size_t>(d)), d);
    return text;
  }
  /// Degrees up to 3 have the same number of coefficients, so that they share kernels.
  int num_terms() const { return std::max(3, degree) + 1; }
  /// The source -laplace(s^p) + kappa s^p is a polynomial in s whose coefficients are constants of the form, so that
  /// forms of equal length share a kernel.
  Problem& set_source(Problem& problem, double kappa) const {
    std::vector<double> a(static_cast<std::size_t>(num_terms()), 0.0);
    a[static_cast<std::size_t>(degree)] = kappa;
    if (degree >= 2) a[static_cast<std::size_t>(degree - 2)] -= degree * (degree - 1) * gradient_squared();
    for (std::size_t i = 0; i < a.size(); ++i) problem.with(fmt::format("a{}", i), a[i]);
    return problem;
  }
  std::string source_text() const {
    std::string text = fmt::format("a{}", num_terms() - 1);
    for (int i = num_terms() - 2; i >= 0; --i) text = fmt::format("(a{} + ({})*{})", i, base_text(), text);
    return text + "*v*dx";
  }
};

/// Returns the error of the solution of -laplace(u) + kappa u = f with boundary values, relative to the largest nodal
/// value.
inline double solution_error(Problem& problem, const Power& exact, double kappa, int max_points_degree = -1) {
  exact.set_source(problem.with("kappa", kappa), kappa);
  op::OperatorOptions options = planned({.threads = 2, .dirichlet = {dirichlet(problem.space(), exact)}});
  if (max_points_degree > 0) options.quadrature.degree = max_points_degree;
  const op::Operator A(problem.form(helmholtz_form()), options);
  Vector b = A.make_vector(), x = A.make_vector();
  std::ranges::fill(b.host_overwrite(), 0.0);
  if (kappa != 0 || exact.degree > 1) // otherwise the source is 0
    op::LinearForm(problem.form(exact.source_text()), problem.system(), options).assemble(b);
  std::ranges::fill(x.host_overwrite(), 0.0);
  A.apply_boundary_values(b, x);
  const auto result = solvers::cg(A, b, x, solvers::Identity(A.device()), {.control = {.rtol = 1e-13}});
  EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
  const auto expected = problem.interpolated(x, exact);
  return distance(x.host_read(), expected.host_read()) / largest(expected.host_read());
}

/// cg stops at 1e-13, and the condition number of these small matrices stays below 1e3.
constexpr double patch_tolerance = 1e-10;

} // namespace rafter::test
