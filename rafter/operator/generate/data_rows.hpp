// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/operator/generate/domain.hpp>

namespace rafter::space {
class Discretisation;
}

/// Finds batches of equal cells. Structured parts of a mesh repeat a few cells many times: such batches read the same
/// row of the data per cell (maps, nodes, coefficients, stored factors), which then stays in the nearest cache.
namespace rafter::op {

/// The rows of data per cell, and the row that each batch reads.
struct DataRows {
  base::AlignedVector<std::int32_t> of_batch; ///< row of a batch, shape (batch)
  /// Cells that a row is made of, shape (row, cell); empty where each batch has a row of its own.
  std::vector<std::int32_t> cells;
  std::vector<std::int32_t> facets; ///< those of `cells` where these are facets, shape (row)
  int cells_per_batch = 8;
  std::int32_t count() const {
    return static_cast<std::int32_t>(cells.empty() ? of_batch.size()
                                                   : cells.size() / static_cast<std::size_t>(cells_per_batch));
  }
  /// Returns `all` with the cells of the rows in the place of its batches. The result refers to this object.
  BatchedCells representatives(const BatchedCells& all) const;
};

/// Finds the batches that share a row: those whose cells, one by one, have nodes that differ, relative to the first
/// node, by less than 1e-12 of the cell's size plus the rounding of coordinates, and whose coefficients and facets are
/// the same.
/// In cells with affine maps only the vertices along the axes are compared, because kernels take the map from them.
/// `reads_position` says that numbers depend on where a cell is, so that every batch gets its own row.
DataRows make_data_rows(const mesh::Mesh& mesh, const BatchedCells& cells, const CellCoefficients& coefficients,
                        bool reads_position);

/// Gives every batch a row of its own.
DataRows one_row_each(const BatchedCells& cells);

/// Returns the rows of data of these cells for forms without coefficients, shared with whoever holds the same ones.
std::shared_ptr<const DataRows> shared_data_rows(const space::Discretisation& discretisation, const BatchedCells& cells,
                                                 const CellCoefficients& none);

} // namespace rafter::op
