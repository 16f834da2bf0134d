// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/gmsh_types.hpp>
#include <rafter/mesh/lattice.hpp>
#include <rafter/mesh/point_placement.hpp>
#include <rafter/mesh/writers.hpp>

namespace rafter::mesh {

using element::Shape;

namespace {

/// Equispaced nodes of a mesh, numbered so that neighbours share them.
struct FileNodes {
  std::vector<std::vector<std::int32_t>> cells; ///< by group: shape (cell, lattice point)
  std::vector<double> coordinates;              ///< shape (node, 3)
};

FileNodes make_nodes(const Mesh& mesh) {
  Mesh numbered = mesh;
  const auto count = number_shared_nodes(numbered);
  FileNodes nodes{{}, vertex_coordinates(mesh)};
  nodes.coordinates.resize(3 * static_cast<std::size_t>(count), 0.0);
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto lattice = gmsh_lattice(group.shape, group.degree);
    const PointPlacement placement(group.shape, group.degree, [&](Shape shape) {
      return lattice_positions(shape, group.degree, gmsh_lattice(shape, group.degree), Spacing::equispaced);
    });
    const auto dofs = matching_dofs(*geometry_element(group), lattice);
    const std::size_t n = lattice.size();
    std::vector<double> x(n * gdim);
    auto& cells = nodes.cells.emplace_back();
    for (std::size_t c = 0; c < group.tags.size(); ++c) {
      placement.place(cell_geometry(mesh, g, c), x);
      for (std::size_t p = 0; p < n; ++p) {
        const auto node = static_cast<std::size_t>(numbered.groups[g].nodes[c * n + dofs[p]]);
        cells.push_back(static_cast<std::int32_t>(node));
        if (node >= static_cast<std::size_t>(mesh.num_vertices)) // of the vertices they are known
          std::copy_n(x.data() + p * gdim, gdim, nodes.coordinates.data() + 3 * node);
      }
    }
  }
  return nodes;
}

/// Elements of one type in one entity; one entity per dimension and tag.
struct Block {
  GmshType type;
  int dim = 0;
  std::vector<std::int32_t> nodes; ///< shape (element, node)
};
using Blocks = std::map<std::pair<std::int32_t, int>, Block>; ///< by (tag, type number)

GmshType type_of(const Mesh& mesh, Shape shape, int degree) {
  // A point has no degree.
  if (const auto type = gmsh_type(shape, shape == Shape::point ? 1 : degree)) return *type;
  throw base::InputError(fmt::format("{}the geometry has degree {}; Gmsh files are written up to degree {}",
                                     prefix(mesh), degree, max_gmsh_degree));
}

Block& block_of(Blocks& blocks, const GmshType& type, std::int32_t tag) {
  auto& block = blocks[{tag, type.number}];
  block.type = type;
  block.dim = element::dimension(type.shape);
  return block;
}

Blocks cell_blocks(const Mesh& mesh, const FileNodes& nodes) {
  Blocks blocks;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto type = type_of(mesh, group.shape, group.degree);
    const auto n = static_cast<std::ptrdiff_t>(type.num_nodes);
    for (std::size_t c = 0; c < group.tags.size(); ++c) {
      auto& block = block_of(blocks, type, group.tags[c]);
      const auto first = nodes.cells[g].begin() + static_cast<std::ptrdiff_t>(c) * n;
      block.nodes.insert(block.nodes.end(), first, first + n);
    }
  }
  return blocks;
}

/// Facets carry the nodes of their cells: the facet's lattice lies in the cell's.
Blocks facet_blocks(const Mesh& mesh, const FileNodes& nodes) {
  Blocks blocks;
  for (const auto& [ref, tag] : tagged_cell_facets(mesh)) {
    const auto& group = mesh.groups[static_cast<std::size_t>(ref.group)];
    const int p = group.degree;
    const auto shape = element::facet_shape(group.shape, ref.facet);
    const auto type = type_of(mesh, shape, p);
    const auto lattice = gmsh_lattice(group.shape, p);
    const auto index = lattice_index(p, lattice);
    const auto corners = element::entity_vertices(group.shape, mesh.tdim - 1, ref.facet);
    const auto corner = [&](std::size_t k) {
      return lattice_vertex(group.shape, p, corners[std::min(k, corners.size() - 1)]);
    };
    const auto origin = corner(0), x = corner(1), y = corner(2);
    auto& block = block_of(blocks, type, tag);
    for (const auto& q : gmsh_lattice(shape, type.degree)) {
      LatticePoint point{};
      for (std::size_t d = 0; d < 3; ++d)
        point[d] = origin[d] + (q[0] * (x[d] - origin[d]) + q[1] * (y[d] - origin[d])) / p;
      const auto local = static_cast<std::size_t>(index[lattice_key(p, point)]);
      block.nodes.push_back(nodes.cells[static_cast<std::size_t>(ref.group)]
                                       [static_cast<std::size_t>(ref.cell) * lattice.size() + local]);
    }
  }
  return blocks;
}

/// Entities of the facets and of the cells: (tag of the group) -> entity number from 1.
std::map<std::int32_t, int> entities_of(const Blocks& blocks) {
  std::map<std::int32_t, int> entities;
  for (const auto& [key, block] : blocks) entities.emplace(key.first, static_cast<int>(entities.size()) + 1);
  return entities;
}

std::string bounding_box(const FileNodes& nodes, bool is_point) {
  std::array<double, 3> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < nodes.coordinates.size(); ++i) {
    low[i % 3] = std::min(low[i % 3], nodes.coordinates[i]);
    high[i % 3] = std::max(high[i % 3], nodes.coordinates[i]);
  }
  auto text = fmt::format("{} {} {}", low[0], low[1], low[2]);
  return is_point ? text : fmt::format("{} {} {} {}", text, high[0], high[1], high[2]);
}

void append_names(const Mesh& mesh, std::string& text) {
  if (mesh.tag_names.empty()) return;
  fmt::format_to(std::back_inserter(text), "$PhysicalNames\n{}\n", mesh.tag_names.size());
  for (const auto& [name, group] : mesh.tag_names)
    fmt::format_to(std::back_inserter(text), "{} {} \"{}\"\n", group.first, group.second, name);
  text += "$EndPhysicalNames\n";
}

void append_entities(const Mesh& mesh, const FileNodes& nodes,
                     const std::array<std::map<std::int32_t, int>, 4>& entities, std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "$Entities\n{} {} {} {}\n", entities[0].size(), entities[1].size(), entities[2].size(),
                 entities[3].size());
  for (int dim = std::max(mesh.tdim - 1, 0); dim <= mesh.tdim; ++dim)
    for (const auto& [tag, entity] : entities[static_cast<std::size_t>(dim)]) {
      fmt::format_to(out, "{} {} ", entity, bounding_box(nodes, dim == 0));
      text += tag == 0 ? "0" : fmt::format("1 {}", tag);
      text += dim == 0 ? "\n" : " 0\n";
    }
  text += "$EndEntities\n";
}

void append_nodes(const Mesh& mesh, const FileNodes& nodes, std::string& text) {
  const auto count = nodes.coordinates.size() / 3;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "$Nodes\n1 {0} 1 {0}\n{1} 1 0 {0}\n", count, mesh.tdim);
  for (std::size_t i = 1; i <= count; ++i) fmt::format_to(out, "{}\n", i);
  for (std::size_t i = 0; i < count; ++i)
    fmt::format_to(out, "{} {} {}\n", nodes.coordinates[3 * i], nodes.coordinates[3 * i + 1],
                   nodes.coordinates[3 * i + 2]);
  text += "$EndNodes\n";
}

void append_blocks(const Blocks& blocks, const std::map<std::int32_t, int>& entities, std::size_t& next,
                   std::string& text) {
  auto out = std::back_inserter(text);
  for (const auto& [key, block] : blocks) {
    const auto n = static_cast<std::size_t>(block.type.num_nodes);
    fmt::format_to(out, "{} {} {} {}\n", block.dim, entities.at(key.first), block.type.number, block.nodes.size() / n);
    for (std::size_t i = 0; i < block.nodes.size(); ++i) {
      if (i % n == 0) fmt::format_to(out, "{}", next++);
      fmt::format_to(out, " {}{}", block.nodes[i] + 1, i % n == n - 1 ? "\n" : "");
    }
  }
}

std::size_t num_elements(const Blocks& blocks) {
  std::size_t sum = 0;
  for (const auto& [key, block] : blocks) sum += block.nodes.size() / static_cast<std::size_t>(block.type.num_nodes);
  return sum;
}

} // namespace

std::string gmsh_text(const Mesh& mesh) {
  for (const auto& group : mesh.groups) type_of(mesh, group.shape, group.degree);
  const auto nodes = make_nodes(mesh);
  const auto cells = cell_blocks(mesh, nodes), facets = facet_blocks(mesh, nodes);
  std::array<std::map<std::int32_t, int>, 4> entities;
  entities[static_cast<std::size_t>(mesh.tdim)] = entities_of(cells);
  entities[static_cast<std::size_t>(mesh.tdim - 1)] = entities_of(facets);

  std::string text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
  append_names(mesh, text);
  append_entities(mesh, nodes, entities, text);
  append_nodes(mesh, nodes, text);
  const auto total = num_elements(cells) + num_elements(facets);
  fmt::format_to(std::back_inserter(text), "$Elements\n{} {} 1 {}\n", cells.size() + facets.size(), total, total);
  std::size_t next = 1;
  append_blocks(facets, entities[static_cast<std::size_t>(mesh.tdim - 1)], next, text);
  append_blocks(cells, entities[static_cast<std::size_t>(mesh.tdim)], next, text);
  text += "$EndElements\n";
  return text;
}

} // namespace rafter::mesh
