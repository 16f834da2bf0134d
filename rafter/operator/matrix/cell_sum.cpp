// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/matrix/cell_sum.hpp>

#include <algorithm>
#include <limits>

#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>

namespace rafter::op {
namespace {

template <class Slot> bool is_uncoupled(Slot slot) { return slot == std::numeric_limits<Slot>::max(); }

} // namespace

CellSum::CellSum(const GeneratedMatrix& built, const CellUnknowns& unknowns, const SlicedPattern& pattern,
                 std::shared_ptr<FormData> data)
    : built_(built), unknowns_(unknowns), pattern_(pattern), kernels_(built.cells, std::move(data)) {
  if (built.cells->purpose != Purpose::matrix) {
    columns_ = std::make_unique<const MatrixColumns>(kernels_);
    return;
  }
  records_ = matrix_records(*built.cells, pattern.block);
  for (const auto& records : records_) {
    const auto columns = built.coupling.local_columns(records.block, pattern.block);
    const auto length = static_cast<std::size_t>(unknowns.blocks[records.block].length);
    are_whole_.push_back(pattern.block == 1 && std::ranges::find(records.places, -1) == records.places.end() &&
                         std::ranges::all_of(columns, [&](const auto& of_row) { return of_row.size() == length; }));
  }
}

base::AlignedVector<double> CellSum::run() const {
  if (columns_ != nullptr) return by_unit_vectors();
  const auto block = static_cast<std::size_t>(pattern_.block);
  base::AlignedVector<double> entries(static_cast<std::size_t>(pattern_.num_stored()) * block * block, 0.0);
  kernels_.cell_matrices([&](const CellMatrices& matrices) { add(matrices, entries); });
  return entries;
}

// --- kernels of cell matrices ---------------------------------------------------------------------------------------

void CellSum::add(const CellMatrices& matrices, std::span<double> entries) const {
  const auto& records = records_[matrices.block];
  const auto& range = unknowns_.blocks[records.block];
  const auto& cells = built_.cells->blocks[matrices.block].cells;
  const bool is_whole = are_whole_[matrices.block];
  for (std::int32_t batch = matrices.batch_begin; batch < matrices.batch_end; ++batch) {
    for (int cell = 0, active = cells.num_active(batch); cell < active; ++cell) {
      const auto first = range.first + records.cell_of(batch, cell) * range.length;
      const double* values = records.values_of(matrices, batch, cell);
      if (is_whole)
        add_whole_matrix(records, first, values, entries);
      else
        add_matrix(records, first, values, entries);
    }
  }
}

/// Adds the matrix of one cell. `values` points to its first entry; the entries of the other cells of the batch stand
/// between those of this one.
void CellSum::add_matrix(const MatrixRecords& records, std::int64_t first, const double* values,
                         std::span<double> entries) const {
  const auto& range = unknowns_.blocks[records.block];
  const auto length = static_cast<std::size_t>(range.length), size = static_cast<std::size_t>(pattern_.block);
  const auto* groups = unknowns_.entries.data() + first;
  const std::size_t block_stride = pattern_.block_stride(), column_stride = pattern_.column_stride();
  pattern_.with_slots(CellUnknowns::first_pair(range, first), [&](const auto* slots) {
    const auto* places = records.places.data();
    for (std::size_t row = 0; row < length; ++row) {
      double* of_row = entries.data() + pattern_.first_places[static_cast<std::size_t>(groups[row])];
      const std::size_t row_stride = pattern_.row_stride(groups[row]);
      for (std::size_t column = 0; column < length; ++column, ++slots, places += size * size) {
        if (is_uncoupled(*slots)) continue;
        double* to = of_row + *slots * block_stride;
        for (std::size_t i = 0; i < size; ++i)
          for (std::size_t j = 0; j < size; ++j)
            if (const auto place = places[i * size + j]; place >= 0)
              to[i * row_stride + j * column_stride] += values[static_cast<std::size_t>(place)];
      }
    }
  });
}

namespace {

/// A cell matrix and the places of its entries in the matrix.
template <class Slot> struct WholeMatrix {
  std::size_t length, stride; ///< number of rows; distance from a column's entry to the next one's
  const std::int32_t* groups; ///< shape (row)
  const Slot* slots;          ///< shape (row, column)
  const std::int32_t* places; ///< shape (row, column)
  const double* values;
};

/// `known_length` is the number of rows where the compiler is to know it, else 0.
template <std::size_t known_length, class Slot>
void add_rows(const WholeMatrix<Slot>& matrix, std::span<const std::size_t> first_places, double* entries) {
  const std::size_t length = known_length > 0 ? known_length : matrix.length;
  const auto* slots = matrix.slots;
  const auto* places = matrix.places;
  for (std::size_t row = 0; row < length; ++row, slots += length, places += length) {
    double* to = entries + first_places[static_cast<std::size_t>(matrix.groups[row])];
    for (std::size_t column = 0; column < length; ++column)
      to[slots[column] * matrix.stride] += matrix.values[places[column]];
  }
}

} // namespace

/// Does the same where the kernel writes all entries and groups are single unknowns, which takes no branches.
void CellSum::add_whole_matrix(const MatrixRecords& records, std::int64_t first, const double* values,
                               std::span<double> entries) const {
  const auto& range = unknowns_.blocks[records.block];
  pattern_.with_slots(CellUnknowns::first_pair(range, first), [&]<class Slot>(const Slot* slots) {
    const WholeMatrix<Slot> matrix{.length = static_cast<std::size_t>(range.length),
                                   .stride = pattern_.block_stride(),
                                   .groups = unknowns_.entries.data() + first,
                                   .slots = slots,
                                   .places = records.places.data(),
                                   .values = values};
    if (matrix.length == 4)
      add_rows<4>(matrix, pattern_.first_places, entries.data());
    else
      add_rows<0>(matrix, pattern_.first_places, entries.data());
  });
}

// --- unit vectors ---------------------------------------------------------------------------------------------------

base::AlignedVector<double> CellSum::by_unit_vectors() const {
  const auto block = static_cast<std::size_t>(pattern_.block);
  base::AlignedVector<double> entries(static_cast<std::size_t>(pattern_.num_stored()) * block * block, 0.0);
  const auto has_column = [&](std::size_t b, int local) {
    return built_.coupling.has_column(columns_->rows().blocks[b].components[static_cast<std::size_t>(local)]);
  };
  columns_->run(has_column, [&](int local, std::span<const double> column) { add_column(local, column, entries); });
  return entries;
}

/// Adds one column of every cell matrix, that of this local unknown. Chunks of one stage share no unknown, so that an
/// entry gets its terms stage by stage, in the same order for any number of threads.
void CellSum::add_column(int local, std::span<const double> column, std::span<double> to) const {
  const auto& batches = *built_.system.batches;
  const auto add_cells = [&](std::size_t block, std::int64_t begin, std::int64_t end) {
    const auto& range = unknowns_.blocks[block];
    const auto& broken = columns_->rows().blocks[block];
    const auto locals = local_groups(built_.system, block, pattern_.block);
    const auto& of_column = locals[static_cast<std::size_t>(local)];
    for (std::int64_t cell = begin; cell < end; ++cell) {
      const std::int64_t first = range.first + cell * range.length;
      const auto* groups = unknowns_.entries.data() + first;
      const auto* from = columns_->rows().entries.data() + broken.first + cell * broken.length;
      pattern_.with_slots(CellUnknowns::first_pair(range, first) + of_column.group, [&](const auto* slots) {
        for (std::size_t row = 0; row < locals.size(); ++row) {
          const auto& of_row = locals[row];
          const auto slot = slots[of_row.group * static_cast<std::size_t>(range.length)];
          if (is_uncoupled(slot)) continue;
          const auto group = groups[of_row.group];
          to[pattern_.first_places[static_cast<std::size_t>(group)] + of_row.component * pattern_.row_stride(group) +
             slot * pattern_.block_stride() + of_column.component * pattern_.column_stride()] +=
              column[static_cast<std::size_t>(from[row])];
        }
      });
    }
  };
  for (const auto& stage : batches.stages)
    kernels_.device()->parallel_for(static_cast<std::int64_t>(stage.size()), [&](std::int64_t c) {
      const auto& chunk = stage[static_cast<std::size_t>(c)];
      const auto block = static_cast<std::size_t>(chunk.block);
      const auto& range = columns_->rows().blocks[block];
      if (local >= range.length) return;
      const std::int64_t begin = std::int64_t{chunk.batch_begin} * batches.cells_per_batch,
                         end = std::min(range.num_cells, std::int64_t{chunk.batch_end} * batches.cells_per_batch);
      add_cells(block, begin, end);
    });
}

} // namespace rafter::op
