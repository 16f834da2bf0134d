// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// One flag per cell, shape (group)(cell).
using CellMask = std::vector<std::vector<std::uint8_t>>;
CellMask make_cell_mask(const Mesh& mesh, bool value);

/// Sets of cells that are connected through shared vertices, directly or from cell to cell.
struct ConnectedComponents {
  std::int32_t count = 0;
  std::vector<std::vector<std::int32_t>> of_cell; ///< number for each cell, shape (group)(cell), in the order of
                                                  ///< first appearance; -1: the cell is left out
  /// Translations by which periodic facets identify vertices of each connected component, shape (connected component),
  /// each translation once.
  std::vector<std::vector<std::array<double, 3>>> translations;
};
/// Finds the connected components of the cells in the mask; other cells connect nothing. Identified vertices count as
/// shared. Takes almost linear time in the number of cells.
ConnectedComponents connected_components(const Mesh& mesh, const CellMask& cells);

} // namespace rafter::mesh
