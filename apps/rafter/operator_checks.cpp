// SPDX-License-Identifier: BSD-3-Clause
#include "operator_checks.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::app {
namespace {

using op::Vector;

/// Random entries in [-1, 1], zero where conditions fix the unknowns.
Vector random_vector(const op::Operator& A, unsigned seed) {
  Vector result = A.make_vector();
  std::mt19937_64 engine(seed);
  const auto entries = result.host_overwrite();
  for (double& entry : entries) entry = static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0;
  for (const auto constrained : A.constraints().entries) entries[static_cast<std::size_t>(constrained)] = 0;
  return result;
}

/// A function that differential operators may map to zero.
struct Mode {
  std::string name;
  std::size_t field = 0;
  space::PointFunction function;
};

std::vector<Mode> modes_of(const io::Problem& problem, int gdim) {
  std::vector<Mode> modes;
  for (std::size_t f = 0; f < problem.fields.size(); ++f) {
    const auto& field = problem.fields[f];
    for (int c = 0; c < field.num_components(); ++c) {
      const auto component = static_cast<std::size_t>(c);
      const auto name = field.components == 0 ? "constants of " + field.name
                                              : fmt::format("constants of component {} of {}", c, field.name);
      modes.push_back({name, f, [component](std::span<const double>, std::span<double> values) {
                         std::fill(values.begin(), values.end(), 0.0);
                         values[component] = 1;
                       }});
    }
    if (field.components != gdim) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(gdim); ++i)
      for (std::size_t j = 0; j < i; ++j)
        modes.push_back({fmt::format("rotations of {}", field.name), f,
                         [i, j](std::span<const double> x, std::span<double> values) {
                           std::fill(values.begin(), values.end(), 0.0);
                           values[i] = x[j];
                           values[j] = -x[i];
                         }});
  }
  return modes;
}

/// The mode as a vector of length 1; empty when a condition fixes it.
std::optional<Vector> free_vector(const op::Operator& A, const solvers::VectorOps& ops, const Mode& mode) {
  Vector result = A.make_vector();
  const auto entries = result.host_overwrite();
  std::fill(entries.begin(), entries.end(), 0.0);
  const auto& space = *A.system().spaces[mode.field];
  space::interpolate(space, mode.function,
                     entries.subspan(static_cast<std::size_t>(A.system().offset(mode.field)),
                                     static_cast<std::size_t>(space.num_local())));
  for (const auto constrained : A.constraints().entries)
    if (entries[static_cast<std::size_t>(constrained)] != 0) return std::nullopt;
  const double norm = ops.norm(result);
  if (norm == 0) return std::nullopt;
  ops.scale(1 / norm, result);
  return result;
}

/// Names of the modes whose images depend linearly on the others' to rounding, by Gram-Schmidt with pivoting.
std::vector<std::string> dependent(std::vector<Vector> images, std::vector<std::string> names, double tolerance,
                                   const solvers::VectorOps& ops) {
  while (!images.empty()) {
    std::vector<double> norms;
    for (const auto& image : images) norms.push_back(ops.norm(image));
    const auto pivot = std::max_element(norms.begin(), norms.end()) - norms.begin();
    if (norms[static_cast<std::size_t>(pivot)] <= tolerance) return names;
    Vector direction = std::move(images[static_cast<std::size_t>(pivot)]);
    ops.scale(1 / norms[static_cast<std::size_t>(pivot)], direction);
    images.erase(images.begin() + pivot);
    names.erase(names.begin() + pivot);
    for (auto& image : images) ops.axpy(-ops.dot(image, direction), direction, image);
  }
  return {};
}

/// Points of a cell where a quadrature rule would evaluate a coefficient, shape (point, gdim).
std::vector<double> sample_points(const mesh::Mesh& mesh, const mesh::CellGroup& group, const element::Table& geometry,
                                  std::int32_t cell) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  std::vector<double> points(static_cast<std::size_t>(geometry.num_points) * dim);
  for (int q = 0; q < geometry.num_points; ++q)
    for (int i = 0; i < geometry.num_dofs; ++i) {
      const auto node = static_cast<std::size_t>(
          group.nodes[static_cast<std::size_t>(cell) * static_cast<std::size_t>(geometry.num_dofs) +
                      static_cast<std::size_t>(i)]);
      for (std::size_t a = 0; a < dim; ++a)
        points[static_cast<std::size_t>(q) * dim + a] += geometry(0, q, i) * mesh.points[node * dim + a];
    }
  return points;
}

/// First point of the mesh at which an expression is not finite, as a sentence.
std::string non_finite_point(const form::Expr& value, const mesh::Mesh& mesh, int num_points) {
  const form::PointEvaluator evaluator(value);
  std::vector<double> values(static_cast<std::size_t>(evaluator.num_components()));
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (const auto& group : mesh.groups) {
    const auto rule = element::make_quadrature_with_points(group.shape, num_points);
    const auto geometry = mesh::geometry_element(group)->tabulate(rule.points);
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto points = sample_points(mesh, group, geometry, cell);
      for (std::size_t q = 0; q < points.size(); q += dim) {
        const auto x = std::span(points).subspan(q, dim);
        evaluator(x, values);
        for (const double component : values)
          if (!std::isfinite(component)) return fmt::format("is {} at x = {}", component, mesh::describe_point(x));
      }
    }
  }
  return {};
}

} // namespace

std::string describe_non_finite(const io::Problem& problem, const ProblemForms& forms, const mesh::Mesh& mesh) {
  for (const auto& [coefficient, value] : forms.point_coefficients()) {
    const auto found = non_finite_point(value, mesh, problem.max_degree() + 2);
    if (!found.empty())
      return fmt::format("{}: coefficients.{} {}", coefficient->value.location.text(), coefficient->name, found);
  }
  return {};
}

void require_finite(const op::Operator& A, const io::Problem& problem, const ProblemForms& forms) {
  const solvers::VectorOps ops(*A.device());
  const Vector v = random_vector(A, 1);
  Vector image = A.make_vector();
  A.apply(v, image);
  if (std::isfinite(ops.norm(image))) return;
  const auto found = describe_non_finite(problem, forms, *A.system().mesh);
  throw base::InputError(
      found.empty() ? fmt::format("{}: forms.a: the operator has values that are not finite: check its expressions for "
                                  "divisions by zero, roots and logarithms",
                                  problem.forms.a.location.text())
                    : found);
}

void require_regular(const op::Operator& A, const io::Problem& problem) {
  constexpr double relative_noise = 2e-13; // of images that cancel; rounding makes about 1e-15
  const solvers::VectorOps ops(*A.device());
  std::vector<Vector> images;
  std::vector<std::string> names;
  for (const auto& mode : modes_of(problem, A.system().mesh->gdim)) {
    const auto vector = free_vector(A, ops, mode);
    if (!vector) continue;
    images.push_back(A.make_vector());
    names.push_back(mode.name);
    A.apply(*vector, images.back());
  }
  if (images.empty()) return;
  const Vector probe = random_vector(A, 1);
  Vector image = A.make_vector();
  A.apply(probe, image);
  auto found = dependent(std::move(images), names, relative_noise * ops.norm(image) / ops.norm(probe), ops);
  if (found.empty()) return;
  found.erase(std::unique(found.begin(), found.end()), found.end());
  throw base::InputError(fmt::format(
      "{}: the problem is singular: forms.a does not see {}, and no condition fixes {} (a pure Neumann problem); fix "
      "values with [[dirichlet]], or add a term without derivatives to forms.a",
      problem.source, base::join(found, ", "), found.size() == 1 ? "them" : "any of them"));
}

void require_symmetric(const op::Operator& A, const io::Problem& problem) {
  if (problem.solver.method != "cg") return;
  const solvers::VectorOps ops(*A.device());
  const Vector u = random_vector(A, 1), v = random_vector(A, 2);
  Vector Au = A.make_vector(), Av = A.make_vector();
  A.apply(u, Au);
  A.apply(v, Av);
  const double difference = std::abs(ops.dot(Au, v) - ops.dot(u, Av));
  // Rounding errors are random: they grow with the square root of the number of entries, as the products themselves.
  const double size =
      (ops.norm(Au) * ops.norm(v) + ops.norm(u) * ops.norm(Av)) / std::sqrt(static_cast<double>(A.size()));
  if (difference <= 1e-10 * size) return;
  throw base::InputError(fmt::format(
      "{}: the operator is not symmetric (<A u, v> and <u, A v> of random vectors differ by {:.1e} of their size), "
      "which solver.method = \"cg\" needs: use method = \"gmres\"",
      problem.forms.a.location.text(), difference / size));
}

} // namespace rafter::app
