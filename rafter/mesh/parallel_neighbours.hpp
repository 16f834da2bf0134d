// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// Neighbours of the quadrilaterals or hexahedra of a group along parallel axes: the upper one sees the vertices of the
/// common facet in the same order as the lower one. So its vertex 0 is the one where the lower cell's axis ends, and
/// cells are found by their vertices 0, without a table of all facets. The result does not depend on the number of
/// threads.
class ParallelNeighbours {
public:
  ParallelNeighbours(const Mesh& mesh, int group);

  int dim() const { return dim_; }
  std::int32_t num_cells() const { return static_cast<std::int32_t>(next_.size()); }

  /// Returns the cell across the facet at this end (0, 1) of an axis; -1 if there is none with parallel axes.
  std::int32_t beside(std::int32_t cell, int axis, int side) const { return across_[place(cell, axis, side)]; }
  /// Says whether there is such a cell, and whether it sees this one across the same facet: of cells that lie on each
  /// other, which no valid mesh has, one sees the neighbour of another.
  bool is_mutual(std::int32_t cell, int axis, int side) const {
    const auto other = beside(cell, axis, side);
    return other >= 0 && beside(other, axis, 1 - side) == cell;
  }

private:
  /// Most cells with one vertex 0 that are looked at: meshes in which all cells meet in a vertex stay cheap.
  static constexpr int most_candidates = 32;

  std::int32_t find_above(std::int32_t cell, int axis) const;
  bool continues(std::int32_t below, std::int32_t above, int axis) const;
  std::span<const std::int32_t> vertices_of(std::int32_t cell) const {
    return vertices_.subspan(static_cast<std::size_t>(cell) * num_vertices_, num_vertices_);
  }
  std::size_t place(std::int32_t cell, int axis, int side) const {
    return 2 * (static_cast<std::size_t>(cell) * static_cast<std::size_t>(dim_) + static_cast<std::size_t>(axis)) +
           static_cast<std::size_t>(side);
  }

  std::span<const std::int32_t> vertices_; ///< vertices of the cells, shape (cell, vertex)
  int dim_;
  std::size_t num_vertices_;         ///< number of vertices of a cell
  std::vector<std::int32_t> first_;  ///< first cell with this vertex 0, shape (vertex); -1: none
  std::vector<std::int32_t> next_;   ///< next cell with the same vertex 0, shape (cell); -1: none
  std::vector<std::int32_t> across_; ///< neighbours, shape (cell, axis, side); -1: none
};

} // namespace rafter::mesh
