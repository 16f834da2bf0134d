// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// Neighbours of the quadrilaterals or hexahedra of a group along parallel axes: the upper one sees the vertices of the
/// common facet in the same order as the lower one. So its vertex 0 is the one where the lower cell's axis ends, and
/// the last vertex of the lower one is where the upper cell's axis begins: cells are found by these two vertices,
/// without a table of all facets. The result does not depend on the number of threads.
class ParallelNeighbours {
public:
  ParallelNeighbours(const Mesh& mesh, int group);

  int dim() const { return dim_; }
  std::int32_t num_cells() const { return static_cast<std::int32_t>(vertices_.size() / num_vertices_); }

  /// Returns the cell across the facet at the upper end of an axis; -1 if there is none with parallel axes.
  std::int32_t above(std::int32_t cell, int axis) const {
    const auto begins = upper_.candidates(vertices_of(cell)[bit(axis)]);
    return find(begins, upper_, [&](std::int32_t other) { return continues(cell, other, axis); });
  }
  /// Returns the cell across the facet at the lower end of an axis; -1 if there is none with parallel axes.
  std::int32_t below(std::int32_t cell, int axis) const {
    const auto ends = lower_.candidates(vertices_of(cell)[num_vertices_ - 1 - bit(axis)]);
    return find(ends, lower_, [&](std::int32_t other) { return continues(other, cell, axis); });
  }

private:
  /// Finds cells by the vertex at one of their corners.
  struct CellsOfVertices {
    std::vector<std::int32_t> first; ///< first cell that has this vertex at the corner, shape (vertex); -1: none
    std::vector<std::int32_t> next;  ///< next cell that has the same one, shape (cell); -1: none
    std::int32_t candidates(std::int32_t vertex) const { return first[static_cast<std::size_t>(vertex)]; }
  };
  /// Most cells at one vertex that are looked at: meshes in which all cells meet in a vertex stay cheap.
  static constexpr int most_candidates = 32;

  CellsOfVertices cells_at(const Mesh& mesh, std::size_t corner) const;
  template <class Test> static std::int32_t find(std::int32_t cell, const CellsOfVertices& cells, const Test& test) {
    for (int candidate = 0; cell >= 0 && candidate < most_candidates; ++candidate) {
      if (test(cell)) return cell;
      cell = cells.next[static_cast<std::size_t>(cell)];
    }
    return -1;
  }
  static std::size_t bit(int axis) { return std::size_t{1} << axis; }
  /// Says whether the facet at the upper end of an axis of `lower` is the one at the lower end of that axis of `upper`.
  bool continues(std::int32_t lower, std::int32_t upper, int axis) const {
    const auto here = vertices_of(lower), there = vertices_of(upper);
    for (std::size_t v = 0; v < num_vertices_; ++v)
      if ((v & bit(axis)) != 0 && here[v] != there[v ^ bit(axis)]) return false;
    return true;
  }
  std::span<const std::int32_t> vertices_of(std::int32_t cell) const {
    return vertices_.subspan(static_cast<std::size_t>(cell) * num_vertices_, num_vertices_);
  }

  std::span<const std::int32_t> vertices_; ///< vertices of the cells, shape (cell, vertex)
  int dim_;
  std::size_t num_vertices_;      ///< number of vertices of a cell
  CellsOfVertices upper_, lower_; ///< cells by their first and by their last vertices
};

} // namespace rafter::mesh
