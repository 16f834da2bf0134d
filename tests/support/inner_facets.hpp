// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/point_tree.hpp>

/// Meshes with tags on facets inside the domain, and meshes that are cut open there.
namespace rafter::test {

/// Returns a mesh with the same cells, tags and identified facets that does not know its surface yet.
inline mesh::Mesh fresh_copy(const mesh::Mesh& of) {
  mesh::Mesh result;
  result.tdim = of.tdim;
  result.gdim = of.gdim;
  result.num_vertices = of.num_vertices;
  result.points = of.points;
  result.groups = of.groups;
  result.tagged_facets = of.tagged_facets;
  result.global_vertices = of.global_vertices;
  result.periodic_facets = of.periodic_facets;
  result.physical_groups = of.physical_groups;
  result.source = of.source;
  return result;
}

/// A facet with the cells that have it, found by comparing vertices.
struct KnownFacet {
  std::array<std::int32_t, 4> vertices{-1, -1, -1, -1}; ///< vertices in the order of the first cell
  std::vector<mesh::Point> corners;                     ///< corners in cyclic order
  std::vector<mesh::FacetRef> sides;
};
inline std::vector<KnownFacet> all_facets(const mesh::Mesh& mesh) {
  std::map<std::vector<std::int32_t>, KnownFacet> found;
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto per_cell = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto x = mesh::cell_vertex_coordinates(mesh, static_cast<std::int32_t>(g), cell);
      for (int f = 0; f < element::num_facets(group.shape); ++f) {
        KnownFacet facet;
        std::vector<std::int32_t> key;
        for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, f)) {
          const auto local = static_cast<std::size_t>(v);
          facet.vertices[key.size()] = group.vertices[static_cast<std::size_t>(cell) * per_cell + local];
          key.push_back(facet.vertices[key.size()]);
          mesh::Point corner{};
          std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(local * dim), dim, corner.begin());
          facet.corners.push_back(corner);
        }
        if (key.size() == 4) std::swap(facet.corners[2], facet.corners[3]);
        std::ranges::sort(key);
        auto& known = found.emplace(key, facet).first->second;
        known.sides.push_back({static_cast<std::int32_t>(g), cell, f});
      }
    }
  }
  std::vector<KnownFacet> result;
  for (auto& [key, facet] : found) result.push_back(std::move(facet));
  return result;
}

/// Returns every third facet with two cells, and at least one.
inline std::vector<KnownFacet> some_inner_facets(const mesh::Mesh& mesh) {
  std::vector<KnownFacet> result;
  std::size_t count = 0;
  for (const auto& facet : all_facets(mesh))
    if (facet.sides.size() == 2 && count++ % 3 == 0) result.push_back(facet);
  return result;
}

/// Returns the mesh with a tag on these facets, too.
inline mesh::Mesh with_tag(const mesh::Mesh& mesh, std::span<const KnownFacet> facets, std::int32_t tag) {
  auto result = fresh_copy(mesh);
  for (const auto& facet : facets) result.tagged_facets.push_back({facet.vertices, tag});
  return result;
}

inline double between(const mesh::Point& a, const mesh::Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
inline double triangle_area(const mesh::Point& a, const mesh::Point& b, const mesh::Point& c) {
  const auto component = [&](std::size_t i, std::size_t j) {
    return (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
  };
  return 0.5 * std::hypot(component(0, 1), component(1, 2), component(2, 0));
}
/// Says whether a point lies on a plane facet: the triangles between it and the edges have the area of the facet.
inline bool lies_on(const KnownFacet& facet, const mesh::Point& x) {
  const auto& corners = facet.corners;
  if (corners.size() == 1) return between(corners[0], x) < 1e-9;
  if (corners.size() == 2)
    return std::abs(between(corners[0], x) + between(corners[1], x) - between(corners[0], corners[1])) < 1e-9;
  double around = 0, own = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    around += triangle_area(x, corners[i], corners[(i + 1) % corners.size()]);
    if (i > 0) own += triangle_area(corners[0], corners[i], corners[(i + 1) % corners.size()]);
  }
  return std::abs(around - own) < 1e-9;
}

/// Returns the mesh cut open between the cells whose mean has x below `cut` and the others: each half has vertices and
/// nodes of its own, and those of the second are moved by `gap` along x.
inline mesh::Mesh cut_open(const mesh::Mesh& mesh, double cut, double gap = 0) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  mesh::Mesh result;
  result.tdim = mesh.tdim;
  result.gdim = mesh.gdim;
  result.physical_groups = mesh.physical_groups;
  result.source = mesh.source + " (cut)";
  result.groups = mesh.groups;
  const bool are_nodes_vertices =
      std::ranges::all_of(mesh.groups, [](const auto& group) { return group.own_nodes.empty(); });
  std::map<std::pair<bool, std::int32_t>, std::int32_t> vertices, nodes;
  const auto is_second = [&](std::size_t g, std::int32_t cell) {
    const auto x = mesh::cell_vertex_coordinates(mesh, static_cast<std::int32_t>(g), cell);
    double mean = 0;
    for (std::size_t i = 0; i < x.size(); i += dim)
      mean += x[i] * static_cast<double>(dim) / static_cast<double>(x.size());
    return mean > cut;
  };
  const auto add_point = [&](std::int32_t node, bool second) {
    for (std::size_t d = 0; d < dim; ++d)
      result.points.push_back(mesh.points[static_cast<std::size_t>(node) * dim + d] + (second && d == 0 ? gap : 0));
  };
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    auto& group = result.groups[g];
    const auto per_cell = static_cast<std::size_t>(element::num_vertices(group.shape));
    const auto own = group.own_nodes.size() / group.tags.size();
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const bool second = is_second(g, cell);
      for (std::size_t i = 0; i < per_cell; ++i) {
        auto& v = group.vertices[static_cast<std::size_t>(cell) * per_cell + i];
        const auto [place, is_new] = vertices.try_emplace({second, v}, result.num_vertices);
        if (is_new) {
          ++result.num_vertices;
          if (are_nodes_vertices) add_point(v, second);
        }
        v = place->second;
      }
      for (std::size_t i = 0; i < own; ++i) {
        auto& n = group.own_nodes[static_cast<std::size_t>(cell) * own + i];
        const auto [place, is_new] = nodes.try_emplace({second, n}, static_cast<std::int32_t>(nodes.size()));
        if (is_new) add_point(n, second);
        n = place->second;
      }
    }
  }
  const auto& surface = mesh.surface();
  for (std::size_t i = 0; i < surface.exterior_facets.size(); ++i) {
    const auto& ref = surface.exterior_facets[i];
    const auto& group = result.groups[static_cast<std::size_t>(ref.group)];
    mesh::TaggedFacet facet{.tag = surface.exterior_tags[i]};
    std::size_t k = 0;
    for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, ref.facet))
      facet.vertices[k++] = group.vertices[static_cast<std::size_t>(ref.cell) *
                                               static_cast<std::size_t>(element::num_vertices(group.shape)) +
                                           static_cast<std::size_t>(v)];
    result.tagged_facets.push_back(facet);
  }
  return result;
}

/// Returns a box("quadrilateral", 2, 2) that is cut open at x = 0.5, with the middle of the lower edge there, seen from
/// one side, moved along x: a hole between two curved edges whose ends meet.
inline mesh::Mesh with_lens(const mesh::Mesh& open, double width) {
  auto result = fresh_copy(open);
  std::size_t last = 0;
  for (std::size_t i = 0; i < result.points.size(); i += 2)
    if (std::abs(result.points[i] - 0.5) < 1e-12 && std::abs(result.points[i + 1] - 0.1875) < 1e-12) last = i;
  result.points[last] += width;
  return result;
}

} // namespace rafter::test
