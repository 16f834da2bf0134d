// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <rafter/operator/generate/cell_unknowns.hpp>
#include <rafter/operator/run/form_kernels.hpp>

namespace rafter::op {

struct GeneratedForm;

/// How the cell matrices stand in the output of one kernel of Purpose::matrix, and which cells they belong to.
struct MatrixRecords {
  /// Place of each pair of unknowns in the matrix of a cell, shape (group of the row, group of the column, row in the
  /// group, column in the group); -1: the kernel writes none.
  std::vector<std::int32_t> places;
  /// Facet kernels: number of the cell in its block of cells, shape (batch, cell); else empty.
  std::vector<std::int32_t> cells;
  std::size_t num_entries = 0; ///< number of entries that the kernel writes for a cell
  /// Number of batches whose matrices an output holds at a time, see schedule::num_matrix_records.
  std::int32_t num_records = 1;
  int cells_per_batch = 8;
  /// Distances in the output of a batch from an entry to the next one, which `places` takes into account, and from a
  /// cell to the next one: the numbers of the cells stand side by side, or those of a cell do (schedule::Writing).
  std::size_t entry_stride = 8, cell_stride = 1;
  std::size_t block = 0; ///< number of the block that the cells are in, of the system's batches

  /// Number in its block of a cell of a batch of the kernel.
  std::int64_t cell_of(std::int32_t batch, int cell) const {
    const std::int64_t number = std::int64_t{batch} * cells_per_batch + cell;
    return cells.empty() ? number : cells[static_cast<std::size_t>(number)];
  }
  /// Where the matrix of a cell of a batch begins in the output.
  const double* values_of(const CellMatrices& matrices, std::int32_t batch, int cell) const {
    return matrices.values.data() +
           static_cast<std::size_t>(batch % num_records) * num_entries * static_cast<std::size_t>(cells_per_batch) +
           static_cast<std::size_t>(cell) * cell_stride;
  }
};

/// The records of each kernel, shape (position in GeneratedForm::blocks), with unknowns in groups of this size, as
/// CellUnknowns has them.
std::vector<MatrixRecords> matrix_records(const GeneratedForm& form, int group_size);

/// The place of a local unknown among the groups of CellUnknowns is a group and a component.
struct LocalGroup {
  std::size_t group = 0, component = 0; ///< local group; component in the group
};
/// Shape (local unknown).
std::vector<LocalGroup> local_groups(const System& system, std::size_t block, int group_size);

/// Cell matrices column by column, for forms whose kernels of all entries would be too large: the action of the form on
/// broken spaces gives one column of every cell matrix when it is applied to the unit vector of one local unknown in
/// all cells at once. The arguments of the constructor must outlive it.
class MatrixColumns {
public:
  explicit MatrixColumns(const FormKernels& kernels);
  const CellUnknowns& rows() const { return rows_; }

  /// Runs the action for each local unknown that `wants` names by block and number in the cell, and hands over the
  /// unknown with the vector of results, whose entries rows() lists.
  template <class Wants, class Visit> void run(const Wants& wants, const Visit& visit) const {
    Vector unit = make_unit(), column = make_column();
    for (int local = 0; local < columns_.most_per_cell(); ++local) {
      const auto is_wanted = [&](std::size_t block) {
        return local < columns_.blocks[block].length && wants(block, local);
      };
      if (!set(local, is_wanted, 1, unit)) continue;
      kernels_.run(&unit, column, false);
      visit(local, column.host_read());
      set(local, is_wanted, 0, unit);
    }
  }

private:
  Vector make_unit() const;
  Vector make_column() const;
  /// Sets the local unknown of all cells of the wanted blocks to a value. Says whether there is any.
  bool set(int local, const std::function<bool(std::size_t block)>& is_wanted, double value, Vector& unit) const;

  const FormKernels& kernels_;
  CellUnknowns rows_, columns_;
};

} // namespace rafter::op
