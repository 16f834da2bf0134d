// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/operator_checks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/walk.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/operator/precision.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::problem {
namespace {

/// Returns points of a cell where a quadrature rule would evaluate a coefficient, shape (point, gdim).
std::vector<double> sample_points(const mesh::Mesh& mesh, const mesh::CellGroup& group, const element::Table& geometry,
                                  std::int32_t cell) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  std::vector<double> points(static_cast<std::size_t>(geometry.num_points) * dim);
  for (int q = 0; q < geometry.num_points; ++q)
    for (int i = 0; i < geometry.num_dofs; ++i) {
      const auto node = static_cast<std::size_t>(
          group.nodes()[static_cast<std::size_t>(cell) * static_cast<std::size_t>(geometry.num_dofs) +
                        static_cast<std::size_t>(i)]);
      for (std::size_t a = 0; a < dim; ++a)
        points[static_cast<std::size_t>(q) * dim + a] += geometry(0, q, i) * mesh.points[node * dim + a];
    }
  return points;
}

} // namespace

op::Vector random_vector(const op::Operator& A, unsigned seed) {
  op::Vector result = A.make_vector();
  solvers::VectorOps(A.device()).fill_random(seed, result);
  const auto entries = result.host_write();
  for (const auto constrained : A.constraints().entries) entries[static_cast<std::size_t>(constrained)] = 0;
  return result;
}

bool is_function_of_x(const form::Expr& e) {
  return !form::any_node(e, [](const form::Expr& node) {
    return node.kind() == form::NodeKind::field ||
           (node.kind() == form::NodeKind::coefficient && node.node().coefficient->is_by_tag);
  });
}

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
          if (!std::isfinite(component))
            return fmt::format("is {} at x = {}", base::number_text(component), mesh::describe_point(x));
      }
    }
  }
  return {};
}

Probe make_probe(const op::Operator& A, unsigned seed) {
  Probe result{random_vector(A, seed), A.make_vector()};
  A.apply(result.vector, result.image);
  return result;
}

void require_finite(const op::Operator& A, const Probe& probe, const Request& request) {
  if (!solvers::VectorOps(A).has_non_finite(probe.image)) return;
  const auto found = request.statement.what_is_not_finite();
  throw base::InputError(
      found.empty() ? at(request.statement.places.form, request.statement.form_name +
                                                            ": the operator has values that are not finite: check its "
                                                            "expressions for divisions by zero, roots and "
                                                            "logarithms")
                    : found);
}

double asymmetry(const op::Operator& A, const Probe& probe, const Request& request) {
  if (A.num_free() == 0) return 0;
  const solvers::VectorOps ops(A);
  const Probe other = make_probe(A, 2);
  const auto &u = probe.vector, &Au = probe.image, &v = other.vector, &Av = other.image;
  const double difference = std::abs(ops.dot(Au, v) - ops.dot(u, Av));
  // Rounding errors are random, so that they grow with the square root of the number of entries, as the norms do.
  const double size =
      (ops.norm(Au) * ops.norm(v) + ops.norm(u) * ops.norm(Av)) / std::sqrt(static_cast<double>(A.num_unknowns()));
  if (size == 0) return 0; // the operator is zero, as derivatives are that vanish at a state
  if (!(size > std::numeric_limits<double>::min()))
    throw base::InputError(
        at(request.statement.places.form, request.statement.form_name +
                                              ": the operator's values are below the smallest normal double, "
                                              "2.2e-308: multiply all forms by the same large number"));
  // Operators in single and in double precision have different bounds.
  const double accepted = A.precision_error() > 0 ? op::max_precision_error : 1e-10;
  return difference <= accepted * size ? 0 : difference / size;
}

void require_symmetric(const op::Operator& A, const Probe& probe, const Request& request, const std::string& method) {
  if (method != "cg" && method != "minres") return;
  const double found = asymmetry(A, probe, request);
  if (found == 0) return;
  throw base::InputError(at(
      request.statement.places.form,
      fmt::format("the operator is not symmetric (<A u, v> and <u, A v> of random vectors differ by {:.1e} of their "
                  "size), which solver.method = \"{}\" needs: use method = \"gmres\", or \"direct\" for few unknowns",
                  found, method)));
}

} // namespace rafter::problem
