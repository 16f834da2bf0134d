// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/stretching.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <rafter/mesh/geometry_nodes.hpp>

namespace rafter::mesh {
namespace {

/// The axis along which an edge of a product of intervals lies, whose vertices are numbered first axis fastest.
int axis_of_edge(element::Shape shape, int edge) {
  const auto ends = element::entity_vertices(shape, 1, edge);
  const int step = ends[1] - ends[0];
  return step == 1 ? 0 : step == 2 ? 1 : 2;
}

/// Sums of the lengths of the edges of a cell along each axis, shape (axis). Every axis has equally many edges.
std::array<double, 3> edge_lengths(const Mesh& mesh, const CellGroup& group, std::span<const int> corners,
                                   std::span<const std::int32_t> nodes) {
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  std::array<double, 3> result{};
  for (int edge = 0; edge < element::num_entities(group.shape, 1); ++edge) {
    const auto ends = element::entity_vertices(group.shape, 1, edge);
    const auto coordinate = [&](int vertex, std::size_t d) {
      const auto node = nodes[static_cast<std::size_t>(corners[static_cast<std::size_t>(vertex)])];
      return mesh.points[static_cast<std::size_t>(node) * gdim + d];
    };
    double square = 0;
    for (std::size_t d = 0; d < gdim; ++d) square += std::pow(coordinate(ends[1], d) - coordinate(ends[0], d), 2);
    result[static_cast<std::size_t>(axis_of_edge(group.shape, edge))] += std::sqrt(square);
  }
  return result;
}

} // namespace

double largest_stretching(const Mesh& mesh) {
  double result = 1;
  for (const auto& group : mesh.groups) {
    if (!element::is_tensor(group.shape) || mesh.tdim == 1) continue;
    const auto geometry = geometry_element(group);
    const auto corners = vertex_nodes(*geometry);
    const auto num_nodes = static_cast<std::size_t>(geometry->num_dofs());
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell) {
      const auto lengths = edge_lengths(mesh, group, corners, std::span(group.nodes).subspan(cell * num_nodes, num_nodes));
      const auto [least, most] = std::minmax_element(lengths.begin(), lengths.begin() + mesh.tdim);
      result = std::max(result, *least > 0 ? *most / *least : std::numeric_limits<double>::infinity());
    }
  }
  return result;
}

} // namespace rafter::mesh
