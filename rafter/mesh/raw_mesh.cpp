// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/raw_mesh.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/plane_cells.hpp>
#include <rafter/mesh/point_placement.hpp>
#include <rafter/mesh/repeats.hpp>

namespace rafter::mesh {

namespace {

std::vector<std::int32_t> corner_nodes(const RawCells& cells) {
  const auto lattice = gmsh_lattice(cells.shape, cells.degree);
  const auto index = lattice_index(cells.degree, lattice);
  std::vector<std::size_t> locals;
  for (int v = 0; v < element::num_vertices(cells.shape); ++v)
    locals.push_back(
        static_cast<std::size_t>(index[lattice_key(cells.degree, lattice_vertex(cells.shape, cells.degree, v))]));
  std::vector<std::int32_t> corners(cells.tags.size() * locals.size());
  base::Parts(static_cast<std::int64_t>(cells.tags.size()))
      .run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c)
          for (std::size_t v = 0; v < locals.size(); ++v)
            corners[c * locals.size() + v] = cells.nodes[c * lattice.size() + locals[v]];
      });
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
                        raw.source, mesh.physical_groups.text(raw.tdim - 1, facet.tag), raw.coordinates[3 * old],
                        raw.coordinates[3 * old + 1], raw.coordinates[3 * old + 2], raw.tdim));
      v = number[old];
    }
    mesh.tagged_facets.push_back(facet);
  }
}

/// Drops the classes that cells and facets no longer have, and numbers the others by their groups.
void number_classes(RawMesh& raw) {
  for (int dim = 0; dim <= 3; ++dim) {
    std::set<std::int32_t> used;
    const auto for_tags = [&raw, dim](const auto& visit) {
      if (dim == raw.tdim)
        for (auto& cells : raw.cells) std::ranges::for_each(cells.tags, visit);
      if (dim == raw.tdim - 1)
        for (auto& facet : raw.facets) visit(facet.tag);
    };
    if (raw.physical_groups.classes(dim).empty()) continue;
    for_tags([&used](std::int32_t tag) {
      if (tag < 0) used.insert(tag);
    });
    const auto numbers = raw.physical_groups.renumber(dim, used);
    for_tags([&numbers](std::int32_t& tag) {
      if (tag < 0) tag = numbers.at(tag);
    });
  }
}

/// Throws InputError for nodes of cells that are not finite, and for those of plane meshes and lines with nodes outside
/// of the space of their dimension: z = 0 for plane meshes, y = z = 0 for lines.
void check_points(const RawMesh& raw) {
  double extent = 0; // largest coordinate of nodes of cells
  const auto for_nodes = [&raw](const auto& visit) {
    for (const auto& cells : raw.cells)
      base::Parts(static_cast<std::int64_t>(cells.nodes.size()))
          .run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
            for (auto i = begin; i < end; ++i)
              visit(raw.coordinates.data() + 3 * static_cast<std::size_t>(cells.nodes[static_cast<std::size_t>(i)]));
          });
  };
  for_nodes([&raw](const double* x) {
    if (!std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]))
      throw base::InputError(
          fmt::format("{}: a node lies at ({}, {}, {}): coordinates must be finite", raw.source, x[0], x[1], x[2]));
  });
  if (raw.tdim == 3) return;
  for (const auto& cells : raw.cells)
    for (const auto n : cells.nodes)
      for (std::size_t d = 0; d < 3; ++d)
        extent = std::max(extent, std::abs(raw.coordinates[3 * static_cast<std::size_t>(n) + d]));
  for_nodes([&raw, extent](const double* x) {
    for (auto d = static_cast<std::size_t>(raw.tdim); d < 3; ++d)
      if (!(std::abs(x[d]) <= 1e-10 * extent))
        throw base::InputError(fmt::format(
            "{}: the cells have dimension {}, but a node lies at ({:.6g}, {:.6g}, {:.6g}): surface "
            "meshes are not supported, {} must be 0; of a {} that should be there Gmsh saves cells only if a "
            "physical group has them",
            raw.source, raw.tdim, x[0], x[1], x[2], raw.tdim == 2 ? "z" : "y and z",
            raw.tdim == 2 ? "volume" : "surface"));
  });
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
    CellGeometry cell = cell_geometry(mesh, g, c, placement.is_oriented());
    cell.coordinates = raw.coordinates;
    cell.gdim = 3;
    cell.nodes = std::span(cells.nodes).subspan(c * n, n);
    placement.place(cell, x);
    for (std::size_t i = 0; i < n; ++i)
      std::copy_n(x.data() + i * 3, gdim,
                  mesh.points.data() + static_cast<std::size_t>(group.nodes()[c * n + i]) * gdim);
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
  merge_repeats(raw);
  orient_plane_cells(raw);
  number_classes(raw);
  check_points(raw);
  std::vector<bool> has_vertex_points; // shape (group): all nodes are vertices, whose rows of coordinates are known
  for (auto& cells : raw.cells) {
    has_vertex_points.push_back(raw.is_continuous && cells.degree == 1 && cells.vertices.empty());
    if (cells.vertices.empty()) cells.vertices = corner_nodes(cells);
  }

  Mesh mesh;
  mesh.source = raw.source;
  mesh.tdim = mesh.gdim = raw.tdim;
  mesh.physical_groups = std::move(raw.physical_groups);
  const auto number = compact_vertices(raw, mesh.num_vertices);
  copy_facets(raw, number, mesh);
  for (auto& cells : raw.cells) {
    CellGroup group{.shape = cells.shape, .degree = cells.degree};
    group.vertices = std::move(cells.vertices);
    if (mesh.num_vertices < raw.num_vertices) // else every vertex keeps its number
      base::Parts(static_cast<std::int64_t>(group.vertices.size()))
          .run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
              group.vertices[i] = number[static_cast<std::size_t>(group.vertices[i])];
          });
    group.tags = std::move(cells.tags);
    mesh.groups.push_back(std::move(group));
  }
  if (raw.is_continuous) { // errors in the topology can then be described with coordinates
    const auto gdim = static_cast<std::size_t>(mesh.gdim);
    mesh.points.resize(static_cast<std::size_t>(mesh.num_vertices) * gdim);
    for (std::size_t v = 0; v < number.size(); ++v)
      if (number[v] != -1)
        std::copy_n(raw.coordinates.data() + 3 * v, gdim,
                    mesh.points.data() + static_cast<std::size_t>(number[v]) * gdim);
  }
  mesh.surface();
  const auto num_nodes = raw.is_continuous ? number_shared_nodes(mesh) : number_separate_nodes(mesh);
  mesh.points.resize(static_cast<std::size_t>(num_nodes) * static_cast<std::size_t>(mesh.gdim));
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    if (!has_vertex_points[g]) fill_points(raw.cells[g], g, raw, mesh);
  return mesh;
}

} // namespace rafter::mesh
