// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/operator_problems.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <rafter/form/parser.hpp>
#include <rafter/form/scope.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/interpolate.hpp>

namespace rafter::test {

Problem::Problem(mesh::Mesh mesh, std::vector<space::SpaceOptions> fields, const mesh::BatchOptions& options)
    : mesh_(std::make_shared<const mesh::Mesh>(std::move(mesh))) {
  const auto discretisation =
      std::make_shared<const space::Discretisation>(mesh_, mesh::make_cell_batches(*mesh_, options));
  for (const auto& field : fields) spaces_.push_back(space::FunctionSpace::make(discretisation, field));
}

Problem& Problem::with(const std::string& name, double value) {
  constants_.emplace_back(name, form::constant(name, value));
  return *this;
}

Problem& Problem::with(const std::string& name, const form::Expr& value) {
  constants_.emplace_back(name, value);
  return *this;
}

op::System Problem::system() const { return op::make_system(spaces_); }

form::Scope Problem::constants() const {
  form::Scope scope(mesh_->gdim);
  for (const auto& [name, value] : constants_) scope.add(name, value);
  return scope;
}

form::Form Problem::form(const std::string& text) const {
  auto scope = constants();
  const std::vector<std::shared_ptr<const form::FieldSpace>> spaces(spaces_.begin(), spaces_.end());
  scope.add_arguments(spaces);
  return form::parse_form(text, scope);
}

form::Form Problem::functional(const std::string& text) const {
  auto scope = constants();
  for (const auto& space : spaces_) scope.add_field(space);
  return form::parse_form(text, scope);
}

Vector Problem::interpolated(const Vector& like, const std::function<double(std::span<const double> x, std::size_t)>& f,
                             std::size_t field) const {
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

void fill_random(Vector& vector, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (double& value : vector.host_overwrite()) value = uniform(random);
}

Vector random_vector(const op::Operator& A, unsigned seed) {
  Vector x = A.make_vector();
  fill_random(x, seed);
  return x;
}

Vector applied(const op::Operator& A, const Vector& x) {
  Vector y = A.make_vector();
  fill_random(y, 99); // the values must not matter, since they are overwritten
  A.apply(x, y);
  return y;
}

std::vector<double> values_of(const Vector& x) { return {x.host_read().begin(), x.host_read().end()}; }

double dot(const Vector& x, const Vector& y) {
  const auto a = x.host_read(), b = y.host_read();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double norm(const Vector& x) { return std::sqrt(dot(x, x)); }

double largest(std::span<const double> x) {
  double result = 0;
  for (const double value : x) result = std::max(result, std::fabs(value));
  return result;
}

double distance(std::span<const double> x, std::span<const double> y) {
  double result = x.size() == y.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) result = std::max(result, std::fabs(x[i] - y[i]));
  return result;
}

void expect_action(const op::Operator& A, unsigned seed, std::span<const double> expected, double tolerance) {
  auto y = applied(A, random_vector(A, seed));
  EXPECT_LE(distance(values_of(y), expected), tolerance);
  A.apply_add(random_vector(A, seed), y);
  std::vector<double> twice(expected.begin(), expected.end());
  for (double& value : twice) value *= 2;
  EXPECT_LE(distance(values_of(y), twice), 2 * tolerance);
}

std::vector<double> action_and_load_of_two_fields(const std::string& shape, const std::string& plan,
                                                  std::shared_ptr<device::Device> device) {
  Problem problem(curved_box(shape, 1),
                  {{.degree = 3, .components = box_dimension(shape), .name = "u"}, {.degree = 2, .name = "p"}});
  const std::string text = "(inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p + p*v_p)*dx";
  const op::Operator A(problem.form(text), problem.system(),
                       planned({.shared_device = std::move(device), .plan = plan}));
  const op::LinearForm b(problem.form("exp(x[0])*(v_u[1] + v_p)*dx"), problem.system(),
                         planned({.shared_device = A.kernels().device(), .plan = plan}));
  auto f = A.make_vector();
  b.assemble(f);
  auto values = values_of(applied(A, random_vector(A, 5)));
  const auto more = values_of(f);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

mesh::Mesh two_material_box(const std::string& shape, int geometry_degree) {
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
