// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/gmsh.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/raw_mesh.hpp>
#include <rafter/mesh/readers.hpp>

namespace rafter::mesh {

namespace {

/// Twice the signed area of the polygon through the corners; for lines the signed length.
double signed_size(const GmshElements& elements, std::size_t cell, const std::vector<double>& coordinates) {
  const auto n = static_cast<std::size_t>(elements.type.num_nodes);
  const auto corner = [&](std::size_t k) {
    return coordinates.data() + 3 * static_cast<std::size_t>(elements.nodes[cell * n + k]);
  };
  const auto num_corners = static_cast<std::size_t>(element::num_vertices(elements.type.shape));
  if (num_corners == 2) return corner(1)[0] - corner(0)[0];
  double area = 0;
  for (std::size_t k = 0; k < num_corners; ++k) {
    const double *a = corner(k), *b = corner((k + 1) % num_corners);
    area += a[0] * b[1] - a[1] * b[0];
  }
  return area;
}

/// Mirrors the nodes of an element: positions[k] is the position of the mirror image (axes swapped; for lines, ends
/// swapped) of the k-th lattice point.
std::vector<std::size_t> mirror(const GmshType& type) {
  const auto lattice = gmsh_lattice(type.shape, type.degree);
  const auto index = lattice_index(type.degree, lattice);
  std::vector<std::size_t> positions;
  for (const auto& p : lattice) {
    const LatticePoint image =
        type.shape == element::Shape::interval ? LatticePoint{type.degree - p[0], 0, 0} : LatticePoint{p[1], p[0], 0};
    positions.push_back(static_cast<std::size_t>(index[lattice_key(type.degree, image)]));
  }
  return positions;
}

/// Makes the cells of plane meshes and lines positively oriented. Gmsh orients cells by the normal of their geometric
/// entity, which may point down. If all cells of an entity are reversed, they are mirrored; an entity with cells of
/// both orientations keeps them, and they are reported as inverted later.
void orient_plane_cells(GmshData& data, int tdim) {
  if (tdim == 3) return;
  std::set<std::int32_t> has_positive;
  for (const auto& [number, elements] : data.elements)
    if (element::dimension(elements.type.shape) == tdim)
      for (std::size_t c = 0; c < elements.tags.size(); ++c)
        if (signed_size(elements, c, data.coordinates) >= 0) has_positive.insert(elements.entities[c]);
  for (auto& [number, elements] : data.elements) {
    if (element::dimension(elements.type.shape) != tdim) continue;
    const auto positions = mirror(elements.type);
    std::vector<std::int32_t> nodes(positions.size());
    for (std::size_t c = 0; c < elements.tags.size(); ++c) {
      if (has_positive.contains(elements.entities[c])) continue;
      const auto first = elements.nodes.begin() + static_cast<std::ptrdiff_t>(c * positions.size());
      std::copy_n(first, positions.size(), nodes.begin());
      for (std::size_t k = 0; k < positions.size(); ++k) first[static_cast<std::ptrdiff_t>(positions[k])] = nodes[k];
    }
  }
}

int highest_dimension(const GmshData& data, const std::string& path) {
  int dim = 0;
  for (const auto& [number, elements] : data.elements)
    if (!elements.tags.empty()) dim = std::max(dim, element::dimension(elements.type.shape));
  if (dim == 0) throw base::InputError(fmt::format("{}: the mesh has no cells", path));
  return dim;
}

void add_facets(const GmshElements& elements, RawMesh& raw) {
  const auto num_corners = static_cast<std::size_t>(element::num_vertices(elements.type.shape));
  for (std::size_t f = 0; f < elements.tags.size(); ++f) {
    if (elements.tags[f] == 0) continue;
    TaggedFacet facet{.tag = elements.tags[f]};
    std::copy_n(elements.nodes.begin() +
                    static_cast<std::ptrdiff_t>(f * static_cast<std::size_t>(elements.type.num_nodes)),
                num_corners, facet.vertices.begin());
    raw.facets.push_back(facet);
  }
}

} // namespace

Mesh read_gmsh(const std::string& path, std::string_view bytes) {
  Cursor in(path, bytes);
  auto data = read_gmsh_sections(in);
  if (!data.has_nodes || !data.has_elements)
    throw base::InputError(fmt::format("{}: the file has no section {}: it is truncated or holds no mesh", path,
                                       data.has_nodes ? "$Elements" : "$Nodes"));
  RawMesh raw{.source = path, .tdim = highest_dimension(data, path)};
  orient_plane_cells(data, raw.tdim);
  raw.num_vertices = static_cast<std::int32_t>(data.rows.size());
  raw.coordinates = std::move(data.coordinates);
  raw.tag_names = std::move(data.names);
  for (auto& [number, elements] : data.elements) {
    const int dim = element::dimension(elements.type.shape);
    if (dim == raw.tdim) {
      auto& cells = cells_of(raw, elements.type.shape, elements.type.degree);
      cells.nodes = std::move(elements.nodes);
      cells.tags = std::move(elements.tags);
    } else if (dim == raw.tdim - 1) {
      add_facets(elements, raw);
    }
  }
  return assemble(std::move(raw));
}

} // namespace rafter::mesh
