// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/space/space_options.hpp>
#include <tests/support/box_meshes.hpp>
#include <tests/support/planner.hpp>

namespace rafter::form {
class Scope;
}
namespace rafter::space {
class FunctionSpace;
}

/// The laws of operators are tested for problems on small meshes. Forms keep their numbers in constants, so that
/// different problems run the same kernels.
namespace rafter::test {

using device::Vector;

/// A mesh with its fields, and the names that forms on it may use.
class Problem {
public:
  explicit Problem(mesh::Mesh mesh, std::vector<space::SpaceOptions> fields, const mesh::BatchOptions& options = {});
  Problem(mesh::Mesh mesh, int degree, int components = 0, const mesh::BatchOptions& options = {})
      : Problem(std::move(mesh), {{.degree = degree, .components = components}}, options) {}

  /// Gives a value to a constant, for forms that are made afterwards.
  Problem& with(const std::string& name, double value);
  Problem& with(const std::string& name, const form::Expr& value);

  const mesh::Mesh& mesh() const { return *mesh_; }
  int dim() const { return mesh_->gdim; }
  const std::shared_ptr<const space::FunctionSpace>& space(std::size_t field = 0) const { return spaces_[field]; }
  op::System system() const;

  /// Returns a bilinear or linear form, in which trial functions have the names of their fields, and test functions are
  /// v (or v_<name>).
  form::Form form(const std::string& text) const;
  /// Returns a functional, in which the names of the fields are known functions.
  form::Form functional(const std::string& text) const;

  /// Returns a system vector with the nodal values of f(x, component) in field `field`, and 0 in the others.
  Vector interpolated(const Vector& like, const std::function<double(std::span<const double> x, std::size_t)>& f,
                      std::size_t field = 0) const;

private:
  form::Scope constants() const;
  std::shared_ptr<const mesh::Mesh> mesh_;
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces_;
  std::vector<std::pair<std::string, form::Expr>> constants_;
};

/// The form is that of the Laplacian if kappa = 0.
inline const char* helmholtz_form() { return "(inner(grad(u), grad(v)) + kappa*u*v)*dx"; }
/// kappa is the first Lame constant; the second is 1.
inline std::string elasticity_form(int dim) {
  return dim == 1 ? "(kappa + 2)*inner(grad(u), grad(v))*dx"
                  : "inner(kappa*div(u)*Identity(" + std::to_string(dim) + ") + 2*sym(grad(u)), sym(grad(v)))*dx";
}

void fill_random(Vector& vector, unsigned seed);
Vector random_vector(const op::Operator& A, unsigned seed);
Vector applied(const op::Operator& A, const Vector& x);
std::vector<double> values_of(const Vector& x);
double dot(const Vector& x, const Vector& y);
double norm(const Vector& x);
double largest(std::span<const double> x);
double distance(std::span<const double> x, std::span<const double> y);
/// Checks A x for the vector `random_vector(A, seed)`, once stored and once added to itself.
void expect_action(const op::Operator& A, unsigned seed, std::span<const double> expected, double tolerance);

/// What a saddle point problem of a vector field and a scalar one of lower degree gives on curved cells of a shape: the
/// operator applied to a random vector, then a right-hand side.
std::vector<double> action_and_load_of_two_fields(const std::string& shape, const std::string& plan,
                                                  std::shared_ptr<device::Device> device);

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
mesh::Mesh two_material_box(const std::string& shape, int geometry_degree = 1);

} // namespace rafter::test
