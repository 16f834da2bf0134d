// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/describe.hpp>

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <rafter/mesh/geometry_nodes.hpp>

namespace rafter::mesh {

std::string describe_point(std::span<const double> x) {
  std::string text = "(";
  for (std::size_t i = 0; i < x.size(); ++i) text += fmt::format("{}{:.6g}", i > 0 ? ", " : "", x[i]);
  return text + ")";
}

std::string describe_nearest_node(const Mesh& mesh, std::span<const double> x) {
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  double least = std::numeric_limits<double>::infinity();
  std::span<const double> nearest;
  for (std::size_t row = 0; row + gdim <= mesh.points.size(); row += gdim) {
    const auto node = std::span(mesh.points).subspan(row, gdim);
    double distance = 0;
    for (std::size_t a = 0; a < gdim; ++a) distance = std::hypot(distance, node[a] - x[a]);
    if (!(distance < least)) continue;
    least = distance;
    nearest = node;
  }
  return fmt::format("the nearest node of the mesh is {}, {:.3g} away", describe_point(nearest), least);
}

std::string prefix(const Mesh& mesh) { return mesh.source.empty() ? "" : mesh.source + ": "; }

std::vector<double> cell_vertex_coordinates(const Mesh& mesh, std::int32_t group, std::int32_t cell) {
  const auto& g = mesh.groups[static_cast<std::size_t>(group)];
  const auto num_vertices = static_cast<std::size_t>(element::num_vertices(g.shape));
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  const auto element = geometry_element(g);
  const auto corners = vertex_nodes(*element);
  std::vector<double> x;
  x.reserve(num_vertices * gdim);
  for (std::size_t v = 0; v < num_vertices; ++v) {
    // Nodes of straight cells are their vertices, and a mesh that is being made has no others yet.
    const auto c = static_cast<std::size_t>(cell);
    const auto node =
        g.own_nodes.empty()
            ? g.vertices[c * num_vertices + v]
            : g.own_nodes[c * static_cast<std::size_t>(element->num_dofs()) + static_cast<std::size_t>(corners[v])];
    for (std::size_t d = 0; d < gdim; ++d) x.push_back(mesh.points[static_cast<std::size_t>(node) * gdim + d]);
  }
  return x;
}

std::string describe_cell(const Mesh& mesh, std::int32_t group, std::int32_t cell) {
  const auto& g = mesh.groups[static_cast<std::size_t>(group)];
  const auto name = element::name(g.shape);
  if (mesh.points.empty()) return fmt::format("{} {}", name, cell); // the mesh has a topology, but no geometry
  const auto x = cell_vertex_coordinates(mesh, group, cell);
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  std::vector<double> centre(gdim, 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    centre[i % gdim] += x[i] * static_cast<double>(gdim) / static_cast<double>(x.size());
  return fmt::format("{} {} at {}", name, cell, describe_point(centre));
}

} // namespace rafter::mesh
