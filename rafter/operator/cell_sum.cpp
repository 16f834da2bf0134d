// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/cell_sum.hpp>

#include <algorithm>

#include <rafter/operator/matrix_builder.hpp>

namespace rafter::op {
namespace {

int component(const CellUnknowns::CellRange& block, int local) {
  return block.components[static_cast<std::size_t>(local)];
}

} // namespace

CellSum::CellSum(const GeneratedMatrix& built, const CellUnknowns& unknowns, const SlicedPattern& pattern,
                 std::shared_ptr<FormData> data)
    : batches_(*built.system.batches), unknowns_(unknowns), coupling_(built.coupling), pattern_(pattern),
      kernels_(built.cells, std::move(data)) {}

base::AlignedVector<double> CellSum::run() const {
  const auto block = static_cast<std::size_t>(pattern_.block);
  base::AlignedVector<double> entries(static_cast<std::size_t>(pattern_.num_stored()) * block * block, 0.0);
  const auto num_cell_entries = unknowns_.entries.size();
  Vector unit(kernels_.device(), num_cell_entries), column(kernels_.device(), num_cell_entries);
  for (int local = 0; local < unknowns_.most_per_cell(); ++local) {
    if (!set(local, 1, unit)) continue;
    kernels_.run(&unit, column, false);
    add(local, column.host_read(), entries);
    set(local, 0, unit);
  }
  return entries;
}

/// Gives the local unknown of every cell a value; false: no test function meets it.
bool CellSum::set(int local, double value, Vector& unit) const {
  bool is_used = false;
  const auto to = unit.host_write();
  for (const auto& block : unknowns_.blocks) {
    if (local >= block.length || !coupling_.has_column(component(block, local))) continue;
    is_used = is_used || block.num_cells > 0;
    for (std::int64_t c = 0; c < block.num_cells; ++c) {
      const auto place = static_cast<std::size_t>(block.first + c * block.length + local);
      to[static_cast<std::size_t>(unknowns_.broken_entries[place])] = value;
    }
  }
  return is_used;
}

/// Adds the column of this local unknown of every cell matrix. Chunks of a stage share no unknown: an entry gets its
/// terms stage by stage, in the same order for any number of threads.
void CellSum::add(int local, std::span<const double> column, std::span<double> entries) const {
  for (const auto& stage : batches_.stages)
    kernels_.device()->parallel_for(static_cast<std::int64_t>(stage.size()), [&](std::int64_t c) {
      const auto& chunk = stage[static_cast<std::size_t>(c)];
      const auto& block = unknowns_.blocks[static_cast<std::size_t>(chunk.block)];
      if (local >= block.length) return;
      const std::int64_t begin = std::int64_t{chunk.batch_begin} * batches_.cells_per_batch,
                         end = std::min(block.num_cells, std::int64_t{chunk.batch_end} * batches_.cells_per_batch);
      for (std::int64_t cell = begin; cell < end; ++cell) add_cell(block, cell, local, column, entries);
    });
}

void CellSum::add_cell(const CellUnknowns::CellRange& block, std::int64_t cell, int local,
                       std::span<const double> column, std::span<double> to) const {
  const std::int64_t first = block.first + cell * block.length;
  const auto* entries = unknowns_.entries.data() + first;
  const auto* from = unknowns_.broken_entries.data() + first;
  const auto* slots = pattern_.slots.data() + CellUnknowns::first_pair(block, first) + local;
  const std::size_t stride = pattern_.block_stride();
  const std::int32_t in_block = pattern_.block == 1 ? 0 : entries[local] % pattern_.block;
  const auto offset = static_cast<std::size_t>(in_block * pattern_.height);
  for (int row = 0; row < block.length; ++row)
    if (const auto slot = slots[row * block.length]; slot != SlicedPattern::not_coupled)
      to[offset + pattern_.first_place(entries[row]) + slot * stride] += column[static_cast<std::size_t>(from[row])];
}

} // namespace rafter::op
