// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/stretched_cells.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <rafter/mesh/describe.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

/// The largest ratio of the lengths of two edges of a cell.
double largest_stretching(const mesh::Mesh& mesh) {
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  double result = 1;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto shape = mesh.groups[g].shape;
    for (std::int32_t cell = 0; cell < mesh.groups[g].num_cells(); ++cell) {
      const auto points = mesh::cell_vertex_coordinates(mesh, static_cast<std::int32_t>(g), cell);
      double shortest = std::numeric_limits<double>::infinity(), longest = 0;
      for (int edge = 0; edge < element::num_entities(shape, 1); ++edge) {
        const auto ends = element::entity_vertices(shape, 1, edge);
        double square = 0;
        for (std::size_t d = 0; d < gdim; ++d) {
          const double difference = points[static_cast<std::size_t>(ends[1]) * gdim + d] -
                                    points[static_cast<std::size_t>(ends[0]) * gdim + d];
          square += difference * difference;
        }
        shortest = std::min(shortest, std::sqrt(square));
        longest = std::max(longest, std::sqrt(square));
      }
      result = std::max(result, longest / shortest);
    }
  }
  return result;
}

bool can_be_low_order_refined(const op::Coarsening& levels, const op::System& system) {
  const int degree = system.spaces.front()->degree;
  return degree > 1 && std::ranges::find(levels.steps, op::CoarseningStep::lor) == levels.steps.end() &&
         std::ranges::all_of(system.spaces, [&](const auto& space) { return space->degree == degree; }) &&
         std::ranges::none_of(system.mesh->groups,
                              [](const auto& group) { return group.shape == element::Shape::pyramid; });
}

} // namespace

std::string advice_on_stretched_cells(const op::Coarsening& levels, const op::System& system, int iterations) {
  constexpr int many_iterations = 30; // cells that are not stretched take 20 at most
  constexpr double stretched = 5;     // the ratio from which iterations grow
  if (iterations < many_iterations || !can_be_low_order_refined(levels, system)) return "";
  const double stretching = largest_stretching(*system.mesh);
  if (stretching < stretched) return "";
  return fmt::format(
      "multigrid: edges of a cell differ by a factor of {:.3g}; solver.multigrid.coarsening = \"lor\" may "
      "take fewer iterations",
      stretching);
}

} // namespace rafter::problem
