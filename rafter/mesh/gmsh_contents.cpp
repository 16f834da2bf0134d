// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/gmsh_contents.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/lattice.hpp>
#include <rafter/mesh/point_placement.hpp>
#include <rafter/mesh/writers.hpp>

namespace rafter::mesh {

using element::Shape;

namespace {

/// Equispaced nodes of a mesh, numbered so that neighbours share them.
struct FileNodes {
  std::vector<std::vector<std::int32_t>> cells; ///< node numbers from 0 for each group, shape (cell, lattice point)
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
      placement.place(cell_geometry(mesh, g, c, placement.is_oriented()), x);
      for (std::size_t p = 0; p < n; ++p) {
        const auto node = static_cast<std::size_t>(numbered.groups[g].nodes()[c * n + dofs[p]]);
        cells.push_back(static_cast<std::int32_t>(node));
        if (node >= static_cast<std::size_t>(mesh.num_vertices)) // coordinates of vertices are there already
          std::copy_n(x.data() + p * gdim, gdim, nodes.coordinates.data() + 3 * node);
      }
    }
  }
  return nodes;
}

using Blocks = std::map<std::pair<std::int32_t, int>, GmshBlock>; ///< blocks by (tag, type number)

GmshType type_of(const Mesh& mesh, Shape shape, int degree) {
  // a point has no degree
  if (const auto type = gmsh_type(shape, shape == Shape::point ? 1 : degree)) return *type;
  throw base::InputError(fmt::format("{}the geometry has degree {}; Gmsh files are written up to degree {}",
                                     prefix(mesh), degree, max_gmsh_degree));
}

GmshBlock& block_of(Blocks& blocks, const GmshType& type, std::int32_t tag) {
  auto& block = blocks[{tag, type.number}];
  block.type = type;
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

/// Blocks of the tagged facets. A facet's nodes are nodes of its cell: the facet's lattice is part of the cell's.
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

/// Appends the blocks of one dimension, and numbers their tags as entities.
void append_blocks(const PhysicalGroups& physical, int dim, Blocks blocks, std::vector<GmshBlock>& all) {
  std::map<std::int32_t, int> entities;
  for (auto& [key, block] : blocks) {
    block.entity = entities.emplace(key.first, static_cast<int>(entities.size()) + 1).first->second;
    block.groups = physical.groups_of(dim, key.first);
    all.push_back(std::move(block));
  }
}

} // namespace

std::size_t GmshContents::num_elements() const {
  std::size_t sum = 0;
  for (const auto& block : blocks) sum += block.num_elements();
  return sum;
}

GmshContents gmsh_contents(const Mesh& mesh) {
  for (const auto& group : mesh.groups) type_of(mesh, group.shape, group.degree);
  auto nodes = make_nodes(mesh);
  GmshContents contents;
  append_blocks(mesh.physical_groups, mesh.tdim - 1, facet_blocks(mesh, nodes), contents.blocks);
  append_blocks(mesh.physical_groups, mesh.tdim, cell_blocks(mesh, nodes), contents.blocks);
  contents.coordinates = std::move(nodes.coordinates);
  return contents;
}

} // namespace rafter::mesh
