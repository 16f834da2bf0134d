// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/raw_mesh.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/point_placement.hpp>

namespace rafter::mesh {

namespace {

std::vector<std::int32_t> corner_nodes(const RawCells& cells) {
  const auto lattice = gmsh_lattice(cells.shape, cells.degree);
  const auto index = lattice_index(cells.degree, lattice);
  const int num_vertices = element::num_vertices(cells.shape);
  std::vector<std::int32_t> corners;
  corners.reserve(cells.tags.size() * static_cast<std::size_t>(num_vertices));
  for (std::size_t c = 0; c < cells.tags.size(); ++c)
    for (int v = 0; v < num_vertices; ++v) {
      const auto local = index[lattice_key(cells.degree, lattice_vertex(cells.shape, cells.degree, v))];
      corners.push_back(cells.nodes[c * lattice.size() + static_cast<std::size_t>(local)]);
    }
  return corners;
}

/// New numbers of the vertices that cells use, in ascending order; -1 for other vertices.
std::vector<std::int32_t> compact_vertices(const RawMesh& raw, std::int32_t& count) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(raw.num_vertices), -1);
  for (const auto& cells : raw.cells)
    for (const auto v : cells.vertices) number[static_cast<std::size_t>(v)] = 0;
  count = 0;
  for (auto& n : number)
    if (n == 0) n = count++;
  return number;
}

void copy_facets(const RawMesh& raw, const std::vector<std::int32_t>& number, Mesh& mesh) {
  for (auto facet : raw.facets) {
    for (auto& v : facet.vertices) {
      if (v == -1) continue;
      const auto old = static_cast<std::size_t>(v);
      if (number[old] == -1)
        throw base::InputError(
            fmt::format("{}: a facet with tag {} has the node at ({:.6g}, {:.6g}, {:.6g}), which belongs to no "
                        "cell of dimension {}",
                        raw.source, facet.tag, raw.coordinates[3 * old], raw.coordinates[3 * old + 1],
                        raw.coordinates[3 * old + 2], raw.tdim));
      v = number[old];
    }
    mesh.tagged_facets.push_back(facet);
  }
}

/// Throws InputError unless all nodes of cells lie in the space of the cells' dimension: z = 0 for plane meshes, y = z
/// = 0 for lines.
void check_plane(const RawMesh& raw) {
  double extent = 0;
  for (const auto& cells : raw.cells)
    for (const auto n : cells.nodes)
      for (std::size_t d = 0; d < 3; ++d)
        extent = std::max(extent, std::abs(raw.coordinates[3 * static_cast<std::size_t>(n) + d]));
  for (const auto& cells : raw.cells)
    for (const auto n : cells.nodes)
      for (auto d = static_cast<std::size_t>(raw.tdim); d < 3; ++d) {
        const double* x = raw.coordinates.data() + 3 * static_cast<std::size_t>(n);
        if (!(std::abs(x[d]) <= 1e-10 * extent))
          throw base::InputError(
              fmt::format("{}: the cells have dimension {}, but a node lies at ({:.6g}, {:.6g}, {:.6g}): surface "
                          "meshes are not supported, {} must be 0",
                          raw.source, raw.tdim, x[0], x[1], x[2], raw.tdim == 2 ? "z" : "y and z"));
      }
}

/// Fills the geometry nodes of all cells of a group, by interpolating the file's nodes at the element's nodes.
void fill_points(const RawCells& cells, std::size_t g, const RawMesh& raw, Mesh& mesh) {
  const CellGroup& group = mesh.groups[g];
  const auto file_nodes = [&](element::Shape shape) {
    return lattice_positions(shape, group.degree, gmsh_lattice(shape, group.degree), raw.spacing);
  };
  const PointPlacement placement(group.shape, group.degree, file_nodes, lagrange_points(group.degree));
  const auto n = static_cast<std::size_t>(placement.num_points()), gdim = static_cast<std::size_t>(mesh.gdim);
  std::vector<double> x(n * 3);
  for (std::size_t c = 0; c < group.tags.size(); ++c) {
    CellGeometry cell = cell_geometry(mesh, g, c);
    cell.coordinates = raw.coordinates;
    cell.gdim = 3;
    cell.nodes = std::span(cells.nodes).subspan(c * n, n);
    placement.place(cell, x);
    for (std::size_t i = 0; i < n; ++i)
      std::copy_n(x.data() + i * 3, gdim, mesh.points.data() + static_cast<std::size_t>(group.nodes[c * n + i]) * gdim);
  }
}

void check_finite(const RawMesh& raw) {
  for (const auto& cells : raw.cells)
    for (const auto n : cells.nodes) {
      const double* x = raw.coordinates.data() + 3 * static_cast<std::size_t>(n);
      if (!std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]))
        throw base::InputError(
            fmt::format("{}: a node lies at ({}, {}, {}): coordinates must be finite", raw.source, x[0], x[1], x[2]));
    }
}

} // namespace

RawCells& cells_of(RawMesh& raw, element::Shape shape, int degree) {
  const auto found = std::find_if(raw.cells.begin(), raw.cells.end(),
                                  [=](const RawCells& c) { return c.shape == shape && c.degree == degree; });
  if (found != raw.cells.end()) return *found;
  return raw.cells.emplace_back(RawCells{.shape = shape, .degree = degree});
}

Mesh assemble(RawMesh raw) {
  std::erase_if(raw.cells, [](const RawCells& cells) { return cells.tags.empty(); });
  if (raw.cells.empty()) throw base::InputError(fmt::format("{}: the mesh has no cells", raw.source));
  check_finite(raw);
  check_plane(raw);
  for (auto& cells : raw.cells)
    if (cells.vertices.empty()) cells.vertices = corner_nodes(cells);

  Mesh mesh;
  mesh.source = raw.source;
  mesh.tdim = mesh.gdim = raw.tdim;
  mesh.tag_names = raw.tag_names;
  const auto number = compact_vertices(raw, mesh.num_vertices);
  copy_facets(raw, number, mesh);
  for (auto& cells : raw.cells) {
    CellGroup group{.shape = cells.shape, .degree = cells.degree};
    group.vertices.reserve(cells.vertices.size());
    for (const auto v : cells.vertices) group.vertices.push_back(number[static_cast<std::size_t>(v)]);
    group.tags = std::move(cells.tags);
    mesh.groups.push_back(std::move(group));
  }
  if (raw.is_continuous) { // errors in the topology can then be described with coordinates
    for (std::size_t v = 0; v < number.size(); ++v)
      if (number[v] != -1)
        for (std::size_t d = 0; d < static_cast<std::size_t>(mesh.gdim); ++d)
          mesh.points.push_back(raw.coordinates[3 * v + d]);
  }
  mesh.topology();
  const auto num_nodes = raw.is_continuous ? number_shared_nodes(mesh) : number_separate_nodes(mesh);
  mesh.points.assign(static_cast<std::size_t>(num_nodes) * static_cast<std::size_t>(mesh.gdim), 0.0);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) fill_points(raw.cells[g], g, raw, mesh);
  return mesh;
}

} // namespace rafter::mesh
