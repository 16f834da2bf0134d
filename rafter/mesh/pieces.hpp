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

/// Cells that hang together through shared vertices, directly or from cell to cell.
struct Pieces {
  std::int32_t count = 0;
  std::vector<std::vector<std::int32_t>> of_cell; ///< shape (group)(cell), in order of first appearance; -1: left out
  /// Translations by which periodic facets identify vertices of each piece, shape (piece), different ones once.
  std::vector<std::vector<std::array<double, 3>>> translations;
};
/// Pieces of the cells that the mask holds; the others connect nothing. Identified vertices are shared. Almost linear
/// in the number of cells.
Pieces connected_pieces(const Mesh& mesh, const CellMask& cells);

} // namespace rafter::mesh
