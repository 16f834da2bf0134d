// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
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
  /// Names the neighbours that will be asked for.
  enum class Sides { above, both };
  ParallelNeighbours(const Mesh& mesh, int group, Sides sides = Sides::both);

  int dim() const { return dim_; }
  std::int32_t num_cells() const { return static_cast<std::int32_t>(vertices_.size() / num_vertices_); }

  /// Returns the cell across the facet at the upper end of an axis; -1 if there is none with parallel axes.
  std::int32_t above(std::int32_t cell, int axis) const {
    const auto begins = upper_.candidates(vertices_of(cell)[bit(axis)]);
    return find(begins, upper_, [&](std::int32_t other) { return continues(cell, other, axis); });
  }
  /// Says whether the facet at the upper end of an axis of `lower` is the one at the lower end of that axis of `upper`.
  bool continues(std::int32_t lower, std::int32_t upper, int axis) const {
    const auto* here = vertices_.data() + static_cast<std::size_t>(lower) * num_vertices_;
    const auto* there = vertices_.data() + static_cast<std::size_t>(upper) * num_vertices_;
    const auto& facet = facets_[static_cast<std::size_t>(axis)];
    std::int32_t difference = 0; // collected without branches in the loop
    for (const auto v : facet) difference |= here[v] ^ there[v ^ bit(axis)];
    return difference == 0;
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
  std::span<const std::int32_t> vertices_of(std::int32_t cell) const {
    return vertices_.subspan(static_cast<std::size_t>(cell) * num_vertices_, num_vertices_);
  }

  std::span<const std::int32_t> vertices_; ///< vertices of the cells, shape (cell, vertex)
  int dim_;
  std::size_t num_vertices_; ///< number of vertices of a cell
  /// Local vertices at the upper end of each axis, shape (axis, vertex); those of edges fill it twice.
  std::array<std::array<std::size_t, 4>, 3> facets_{};
  CellsOfVertices upper_, lower_; ///< cells by their first and by their last vertices
};

} // namespace rafter::mesh
