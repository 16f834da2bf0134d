// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/evaluate.hpp>

#include "planner.hpp"
#include "space_meshes.hpp"

/// A manufactured solution has a form and a load whose exact solution is known. The problem is solved on a mesh, and
/// relative errors are measured by point evaluation, without kernels and forms.
namespace rafter::test {

struct Manufactured {
  std::string name;
  bool is_vector = false;      ///< whether the field has one component per dimension
  std::string exact;           ///< exact solution, a function of x
  std::string bilinear;        ///< form in u, v
  std::string load_of_w;       ///< strong operator applied to w; the linear form is inner(load_of_w(exact), v)*dx
  std::string boundary_of_w{}; ///< if given, the whole boundary has natural conditions, and L gets inner(this, v)*ds
};

/// The function is smooth and has no symmetries; it varies little, so that coarse meshes are in the asymptotic range.
inline std::string scalar_exact(int dim, double shift = 0) {
  const std::vector<std::string> factors{fmt::format("sin(1.3*x[0] + {})", 0.6 + shift),
                                         fmt::format("cos(0.9*x[1] - {})", 0.2 + shift),
                                         fmt::format("exp(0.7*x[2] - {})", shift)};
  std::string text = factors[0];
  for (int d = 1; d < dim; ++d) text += "*" + factors[static_cast<std::size_t>(d)];
  return text;
}

inline Manufactured poisson(int dim) {
  return {.name = "poisson",
          .exact = scalar_exact(dim),
          .bilinear = "inner(grad(u), grad(v))*dx",
          .load_of_w = "-div(grad(w))"};
}

inline Manufactured elasticity(int dim) {
  std::string exact = "as_vector([" + scalar_exact(dim);
  for (int d = 1; d < dim; ++d) exact += ", " + scalar_exact(dim, 0.3 * d);
  return {.name = "elasticity",
          .is_vector = true,
          .exact = exact + "])",
          .bilinear = "inner(stress(u), sym(grad(v)))*dx",
          .load_of_w = "-div(stress(w))"};
}

struct Errors {
  double l2 = 0, h1 = 0; ///< relative errors; h1 is that of the seminorm
};

/// A manufactured problem is on one mesh and has one degree.
class ManufacturedProblem {
public:
  ManufacturedProblem(const Manufactured& problem, const mesh::Mesh& mesh, int degree)
      : mesh_(std::make_shared<const mesh::Mesh>(mesh)), scope_(mesh.gdim) {
    mesh::require_valid(*mesh_);
    const auto discretisation = std::make_shared<const space::Discretisation>(mesh_, mesh::make_cell_batches(*mesh_));
    space_ =
        space::FunctionSpace::make(discretisation, {.degree = degree, .components = problem.is_vector ? mesh.gdim : 0});
    define(problem);
    exact_ = form::parse_expression("exact", scope_);
    solve(problem);
  }

  std::int64_t num_dofs() const { return space_->num_dofs(); }

  /// Errors are integrated by a Gauss rule of degree 2 p + 4 in every cell.
  Errors errors() const {
    Squares sum;
    for (std::int32_t g = 0; g < static_cast<std::int32_t>(mesh_->groups.size()); ++g) add_group(g, sum);
    return sum.relative();
  }

  /// Does the same by kernels, with op::Functional.
  Errors errors_by_functionals() const {
    const auto found = form::field(space_, "found");
    const auto norm = [&](const form::Expr& e) {
      const auto measure = form::dx.with_degree(2 * space_->degree + 4);
      return std::sqrt(op::Functional(form::inner(e, e) * measure, op::make_system({space_}), planned())(*solution_));
    };
    const auto slope = form::grad(exact_);
    return {.l2 = norm(found - exact_) / norm(exact_), .h1 = norm(form::grad(found) - slope) / norm(slope)};
  }

private:
  struct Squares {
    double error = 0, exact = 0, slope_error = 0, exact_slope = 0;
    Errors relative() const { return {std::sqrt(error / exact), std::sqrt(slope_error / exact_slope)}; }
  };

  void define(const Manufactured& problem) {
    const std::shared_ptr<const form::FieldSpace> space = space_;
    scope_.add_arguments({&space, 1});
    scope_.add("lmbda", form::constant("lmbda", 1.3));
    scope_.add("mu", form::constant("mu", 0.7));
    scope_.define("stress(w)", fmt::format("lmbda*div(w)*Identity({}) + 2*mu*sym(grad(w))", mesh_->gdim));
    scope_.define("exact", problem.exact);
    scope_.define("load(w)", problem.load_of_w);
    if (!problem.boundary_of_w.empty()) scope_.define("boundary(w)", problem.boundary_of_w);
  }

  void solve(const Manufactured& problem) {
    op::OperatorOptions options = planned({.threads = 1});
    const bool is_natural = !problem.boundary_of_w.empty();
    const form::PointEvaluator values(exact_);
    const auto boundary_value = [&values](std::span<const double> x, std::span<double> at) { values(x, at); };
    if (!is_natural) options.dirichlet = {{space_, {.is_all = true, .value = boundary_value}}};
    const op::Operator A(form::parse_form(problem.bilinear, scope_), options);
    const auto load = form::parse_form(
        std::string("inner(load(exact), v)*dx") + (is_natural ? " + inner(boundary(exact), v)*ds" : ""), scope_);
    auto b = A.make_vector();
    solution_ = std::make_unique<op::Vector>(A.make_vector());
    solvers::VectorOps(A.device()).fill(0, *solution_);
    op::LinearForm(load, A.system(), planned({.shared_device = A.device()})).assemble(b);
    A.apply_boundary_values(b, *solution_);
    solvers::SolverOptions solver;
    solver.control.rtol = 1e-11;
    const auto result = solvers::solve(A, b, *solution_, solver);
    if (result.status != solvers::Status::converged) throw std::runtime_error(result.message);
  }

  void add_group(std::int32_t g, Squares& sum) const {
    const auto& group = mesh_->groups[static_cast<std::size_t>(g)];
    const auto rule = element::make_quadrature(group.shape, 2 * space_->degree + 4);
    const space::FieldEvaluator evaluator(space_, g, rule.points);
    const form::PointEvaluator value(exact_), slope(form::grad(exact_));
    std::vector<double> exact(static_cast<std::size_t>(value.num_components()));
    std::vector<double> exact_slope(static_cast<std::size_t>(slope.num_components()));
    const auto dim = static_cast<std::size_t>(mesh_->gdim);
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto points = evaluator.points(cell), jacobians = evaluator.jacobians(cell);
      const auto found = evaluator.values(solution_->host_read(), cell);
      const auto found_slope = evaluator.gradients(solution_->host_read(), cell);
      for (std::size_t q = 0; q < rule.weights.size(); ++q) {
        const std::span x(points.data() + q * dim, dim);
        value(x, exact);
        slope(x, exact_slope);
        const std::vector<double> J(jacobians.begin() + static_cast<std::ptrdiff_t>(q * dim * dim),
                                    jacobians.begin() + static_cast<std::ptrdiff_t>((q + 1) * dim * dim));
        const double weight = rule.weights[q] * std::fabs(determinant(J, dim));
        add(weight, exact, std::span(found).subspan(q * exact.size(), exact.size()), sum.exact, sum.error);
        add(weight, exact_slope, std::span(found_slope).subspan(q * exact_slope.size(), exact_slope.size()),
            sum.exact_slope, sum.slope_error);
      }
    }
  }

  static void add(double weight, std::span<const double> exact, std::span<const double> found, double& exact_square,
                  double& error_square) {
    for (std::size_t i = 0; i < exact.size(); ++i) {
      exact_square += weight * exact[i] * exact[i];
      error_square += weight * (found[i] - exact[i]) * (found[i] - exact[i]);
    }
  }

  std::shared_ptr<const mesh::Mesh> mesh_;
  std::shared_ptr<const space::FunctionSpace> space_;
  form::Scope scope_;
  form::Expr exact_{0.0};
  std::unique_ptr<op::Vector> solution_;
};

/// The observed orders compare a mesh with one whose cells have half the size.
struct Orders {
  Errors coarse, fine;
  double l2() const { return std::log2(coarse.l2 / fine.l2); }
  double h1() const { return std::log2(coarse.h1 / fine.h1); }
};

inline Orders observed_orders(const Manufactured& problem, const mesh::Mesh& coarse, const mesh::Mesh& fine,
                              int degree) {
  return {ManufacturedProblem(problem, coarse, degree).errors(), ManufacturedProblem(problem, fine, degree).errors()};
}

/// Returns a box of n cells per direction (mixed: 2 n along x, with one layer of each shape at least), whose points a
/// smooth map moves, so that quadrilaterals, hexahedra, prisms and pyramids are no longer affine.
inline mesh::Mesh moved_box(const std::string& shape, int n, int geometry_degree = 1) {
  std::vector<int> cells(static_cast<std::size_t>(box_dimension(shape)), n);
  if (shape == "mixed") cells[0] = 2 * n;
  std::vector<double> size{1.0, 0.8, 1.1};
  size.resize(cells.size());
  auto mesh = mesh::make_box({.cells = cells, .size = size, .shape = shape, .degree = geometry_degree});
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t i = 0; i < mesh.points.size(); i += dim) {
    const std::vector<double> x(mesh.points.begin() + static_cast<std::ptrdiff_t>(i),
                                mesh.points.begin() + static_cast<std::ptrdiff_t>(i + dim));
    for (std::size_t d = 0; d < dim; ++d) mesh.points[i + d] += 0.06 * std::sin(2 * x[(d + 1) % dim] + x[d]);
  }
  return mesh;
}

} // namespace rafter::test
