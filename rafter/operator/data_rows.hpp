// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/domain.hpp>

/// Structured parts of a mesh repeat a few cells many times: batches of equal cells read the same row of the data per
/// cell (maps, nodes, coefficients, stored factors), which then stays in the nearest cache.
namespace rafter::op {

struct DataRows {
  base::AlignedVector<std::int32_t> of_batch; ///< row of a batch, shape (batch)
  std::vector<std::int32_t> cells;            ///< that a row is made of, shape (row, lane)
  int cells_per_batch = 8;
  std::int32_t count() const { return static_cast<std::int32_t>(cells.size()) / cells_per_batch; }
  /// `cells` in the place of the batches of `all`. Valid while this lives.
  BatchedCells representatives(const BatchedCells& all) const;
};

/// Two batches share a row when, lane by lane, the nodes of their cells relative to the first differ by less than 1e-12
/// of the cell's size plus what rounding of coordinates explains, and the coefficients are the same. Of affine maps,
/// the nodes are the vertices along the axes, which kernels take them from.
/// `reads_position`: numbers depend on where a cell is, so that no two are equal.
DataRows make_data_rows(const mesh::Mesh& mesh, const BatchedCells& cells, const CellCoefficients& coefficients,
                        bool reads_position);

/// A row for every batch.
DataRows one_row_each(const BatchedCells& cells);

} // namespace rafter::op
