// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/conditioning.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <rafter/base/text.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/operator/generate/unknowns.hpp>
#include <rafter/solve/diagnosis.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

using op::Unknowns;
using op::Vector;

std::string slenderness(const mesh::Mesh& mesh) {
  constexpr double slender = 50;
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  double longest = 0, shortest = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < dim; ++axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = axis; i < mesh.points.size(); i += dim) {
      low = std::min(low, mesh.points[i]);
      high = std::max(high, mesh.points[i]);
    }
    longest = std::max(longest, high - low);
    shortest = std::min(shortest, high - low);
  }
  if (mesh.tdim != mesh.gdim || !(longest > slender * shortest)) return "";
  return fmt::format("the body is slender: it is {:.3g} long and {:.3g} thick", longest, shortest);
}

std::string stiffness_ratio(const op::Operator& A, const Unknowns& unknowns) {
  constexpr double large = 1e5;
  Vector diagonal = A.make_vector();
  A.diagonal(diagonal);
  const auto values = diagonal.host_read();
  std::vector<std::uint8_t> is_free(values.size(), 1);
  for (const auto i : A.constraints().entries) is_free[static_cast<std::size_t>(i)] = 0;
  std::size_t least = values.size(), most = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_free[i] == 0 || unknowns.connected_component[i] < 0 || !(values[i] > 0)) continue;
    if (least == values.size() || values[i] < values[least]) least = i;
    if (most == values.size() || values[i] > values[most]) most = i;
  }
  if (least == values.size() || unknowns.field_of(least) != unknowns.field_of(most) ||
      !(values[most] > large * values[least]))
    return "";
  return fmt::format("stiffnesses differ by a factor of {:.1e}: the largest is at {}, the smallest at {}",
                     values[most] / values[least], mesh::describe_point(unknowns.point(most)),
                     mesh::describe_point(unknowns.point(least)));
}

/// Returns |A v| of the field whose component `component` is the coordinate `axis`.
double force_of_strain(const op::Operator& A, const Unknowns& unknowns, std::size_t field, int component, int axis) {
  Vector v = A.make_vector(), image = A.make_vector();
  const auto values = v.host_overwrite();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_one =
        unknowns.connected_component[i] >= 0 && unknowns.field_of(i) == field && unknowns.component[i] == component;
    values[i] = is_one ? unknowns.point(i)[static_cast<std::size_t>(axis)] : 0;
  }
  A.apply_free(v, image);
  return solvers::VectorOps(A).norm(image);
}

/// Compares stretching along each axis, which changes the volume, with shear.
std::string incompressibility(const op::Operator& A, const Unknowns& unknowns, std::size_t field) {
  constexpr double large = 1e4;
  const int dim = A.system().mesh->gdim;
  if (dim < 2 || A.system().spaces[field]->num_components() != dim) return "";
  double ratio = 0;
  for (int axis = 0; axis < dim; ++axis) {
    const double shear = force_of_strain(A, unknowns, field, axis, (axis + 1) % dim);
    if (shear > 0) ratio = std::max(ratio, force_of_strain(A, unknowns, field, axis, axis) / shear);
  }
  if (!(ratio > large)) return "";
  return fmt::format("the material is nearly incompressible: it resists changes of volume about {:.0e} times as much "
                     "as shear",
                     ratio);
}

} // namespace

std::string causes_of_conditioning(const op::Operator& A) {
  const auto& system = A.system();
  const auto connected_components = mesh::connected_components(*system.mesh, mesh::make_cell_mask(*system.mesh, true));
  const auto unknowns = op::make_unknowns(system, connected_components);
  std::vector<std::string> causes{slenderness(*system.mesh), stiffness_ratio(A, unknowns)};
  for (std::size_t field = 0; field < system.spaces.size(); ++field)
    causes.push_back(incompressibility(A, unknowns, field));
  std::erase(causes, "");
  return base::join(causes, "; ");
}

std::string with_causes(std::string message, const op::Operator& A) {
  const auto advice = message.find(solvers::singular_advice);
  const bool is_singular = advice != std::string::npos;
  auto causes = causes_of_conditioning(A);
  if (is_singular) message.erase(advice, solvers::singular_advice.size());
  if (causes.empty() && is_singular) // constants and rigid motions were tried before the solve
    causes = "constants and rigid motions are not the cause: look for parts that are joined at points or edges alone, "
             "for modes that quadrature or the elements of a pair do not see (pressures of the degree of the "
             "velocity), for a resonance, and for coefficients whose ratio doubles do not resolve";
  return causes.empty() ? message : message + "; " + causes;
}

void explain(solvers::Result& result, const op::Operator& A) {
  using enum solvers::Failure;
  const bool is_plain = result.failure == non_finite || result.failure == indefinite_operator ||
                        result.failure == indefinite_preconditioner || result.failure == stopped;
  if (result.status != solvers::Status::converged && !is_plain) result.message = with_causes(result.message, A);
  if (result.warning.empty() || !result.relative_error) return;
  if (const auto causes = causes_of_conditioning(A); !causes.empty()) result.warning += "; " + causes;
}

std::vector<std::int64_t> field_offsets(const op::System& system) {
  std::vector<std::int64_t> result;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) result.push_back(system.offset(f));
  result.push_back(system.size());
  return result;
}

} // namespace rafter::problem
