// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <rafter/form/parser.hpp>
#include <rafter/operator/operator.hpp>

#include <tests/support/planner.hpp>
#include <tests/support/space_meshes.hpp>

/// The laws of operators are tested for problems on small meshes. Forms keep their numbers in constants, so that
/// different problems run the same kernels.
namespace rafter::test {

using device::Vector;

/// A mesh with its fields, and the names that forms on it may use.
class Problem {
public:
  explicit Problem(mesh::Mesh mesh, std::vector<space::SpaceOptions> fields, const mesh::BatchOptions& options = {})
      : mesh_(std::make_shared<const mesh::Mesh>(std::move(mesh))) {
    const auto discretisation =
        std::make_shared<const space::Discretisation>(mesh_, mesh::make_cell_batches(*mesh_, options));
    for (const auto& field : fields) spaces_.push_back(space::FunctionSpace::make(discretisation, field));
  }
  Problem(mesh::Mesh mesh, int degree, int components = 0, const mesh::BatchOptions& options = {})
      : Problem(std::move(mesh), {{.degree = degree, .components = components}}, options) {}

  /// Gives a value to a constant, for forms that are made afterwards.
  Problem& with(const std::string& name, double value) {
    constants_.emplace_back(name, form::constant(name, value));
    return *this;
  }
  Problem& with(const std::string& name, const form::Expr& value) {
    constants_.emplace_back(name, value);
    return *this;
  }

  const mesh::Mesh& mesh() const { return *mesh_; }
  int dim() const { return mesh_->gdim; }
  const std::shared_ptr<const space::FunctionSpace>& space(std::size_t field = 0) const { return spaces_[field]; }
  op::System system() const { return op::make_system(spaces_); }

  /// Returns a bilinear or linear form, in which trial functions have the names of their fields, and test functions are
  /// v (or v_<name>).
  form::Form form(const std::string& text) const {
    auto scope = constants();
    scope.add_arguments(field_spaces());
    return form::parse_form(text, scope);
  }
  /// Returns a functional, in which the names of the fields are known functions.
  form::Form functional(const std::string& text) const {
    auto scope = constants();
    for (const auto& space : spaces_) scope.add_field(space);
    return form::parse_form(text, scope);
  }

  /// Returns a system vector with the nodal values of f(x, component) in field `field`, and 0 in the others.
  template <class Function> Vector interpolated(const Vector& like, const Function& f, std::size_t field = 0) const {
    Vector result(like.device(), like.size());
    const auto& space = *spaces_[field];
    const auto values = result.host_overwrite();
    std::fill(values.begin(), values.end(), 0.0);
    space::interpolate(
        space,
        [&](std::span<const double> x, std::span<double> out) {
          for (std::size_t c = 0; c < out.size(); ++c) out[c] = f(x, c);
        },
        values.subspan(static_cast<std::size_t>(system().offset(field)), static_cast<std::size_t>(space.num_local())));
    return result;
  }

private:
  form::Scope constants() const {
    form::Scope scope(mesh_->gdim);
    for (const auto& [name, value] : constants_) scope.add(name, value);
    return scope;
  }
  std::vector<std::shared_ptr<const form::FieldSpace>> field_spaces() const { return {spaces_.begin(), spaces_.end()}; }

  std::shared_ptr<const mesh::Mesh> mesh_;
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces_;
  std::vector<std::pair<std::string, form::Expr>> constants_;
};

/// With kappa = 0 this is the Laplacian.
inline const char* helmholtz_form() { return "(inner(grad(u), grad(v)) + kappa*u*v)*dx"; }
/// kappa is the first Lame constant; the second is 1.
inline std::string elasticity_form(int dim) {
  return dim == 1 ? "(kappa + 2)*inner(grad(u), grad(v))*dx"
                  : "inner(kappa*div(u)*Identity(" + std::to_string(dim) + ") + 2*sym(grad(u)), sym(grad(v)))*dx";
}

inline void fill_random(Vector& vector, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (double& value : vector.host_overwrite()) value = uniform(random);
}
inline Vector random_vector(const op::Operator& A, unsigned seed) {
  Vector x = A.make_vector();
  fill_random(x, seed);
  return x;
}
inline Vector applied(const op::Operator& A, const Vector& x) {
  Vector y = A.make_vector();
  fill_random(y, 99); // the values must not matter, since they are overwritten
  A.apply(x, y);
  return y;
}
inline std::vector<double> values_of(const Vector& x) { return {x.host_read().begin(), x.host_read().end()}; }

inline double dot(const Vector& x, const Vector& y) {
  const auto a = x.host_read(), b = y.host_read();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double norm(const Vector& x) { return std::sqrt(dot(x, x)); }
inline double largest(std::span<const double> x) {
  double result = 0;
  for (const double value : x) result = std::max(result, std::fabs(value));
  return result;
}
inline double distance(std::span<const double> x, std::span<const double> y) {
  double result = x.size() == y.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) result = std::max(result, std::fabs(x[i] - y[i]));
  return result;
}

/// Checks A x for the vector `random_vector(A, seed)`, once stored and once added to itself.
inline void expect_action(const op::Operator& A, unsigned seed, std::span<const double> expected, double tolerance) {
  auto y = applied(A, random_vector(A, seed));
  EXPECT_LE(distance(values_of(y), expected), tolerance);
  A.apply_add(random_vector(A, seed), y);
  std::vector<double> twice(expected.begin(), expected.end());
  for (double& value : twice) value *= 2;
  EXPECT_LE(distance(values_of(y), twice), 2 * tolerance);
}

template <class Function>
op::FieldCondition dirichlet(const std::shared_ptr<const space::FunctionSpace>& space, const Function& f,
                             std::vector<std::int32_t> tags = {}) {
  space::DirichletCondition condition;
  condition.is_all = tags.empty();
  condition.tags = std::move(tags);
  condition.value = [f](std::span<const double> x, std::span<double> values) {
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = f(x, c);
  };
  return {space, condition};
}

/// Returns the box with tag 2 instead of 1 on cells whose centroid has x_0 beyond the middle.
inline mesh::Mesh two_material_box(const std::string& shape, int geometry_degree = 1) {
  mesh::Mesh mesh = geometry_degree == 1 ? box(shape) : curved_box(shape, geometry_degree);
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (auto& group : mesh.groups) {
    const std::size_t nodes = group.nodes().size() / group.tags.size();
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell) {
      double sum = 0;
      for (std::size_t i = 0; i < nodes; ++i)
        sum += mesh.points[static_cast<std::size_t>(group.nodes()[cell * nodes + i]) * dim];
      if (sum > 0.5 * static_cast<double>(nodes)) group.tags.set(cell, 2);
    }
  }
  return mesh;
}

} // namespace rafter::test
