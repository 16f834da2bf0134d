// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/gmsh.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/raw_mesh.hpp>
#include <rafter/mesh/readers.hpp>

namespace rafter::mesh {

namespace {

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
  raw.num_vertices = static_cast<std::int32_t>(data.rows.size());
  raw.coordinates = std::move(data.coordinates);
  raw.physical_groups = std::move(data.physical_groups);
  for (auto& [number, elements] : data.elements) {
    const int dim = element::dimension(elements.type.shape);
    if (dim == raw.tdim) {
      auto& cells = cells_of(raw, elements.type.shape, elements.type.degree);
      cells.nodes = std::move(elements.nodes);
      cells.tags = std::move(elements.tags);
      cells.entities = std::move(elements.entities);
    } else if (dim == raw.tdim - 1) {
      add_facets(elements, raw);
    }
  }
  return assemble(std::move(raw));
}

} // namespace rafter::mesh
