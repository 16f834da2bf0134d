// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/cell_sum.hpp>

#include <algorithm>

#include <rafter/operator/matrix_builder.hpp>

namespace rafter::op {
namespace {

/// Number of the first local unknown of each field of the system in the cells of a block, shape (field + 1).
std::vector<int> first_locals(const System& system, std::size_t range) {
  std::vector<int> result{0};
  for (const auto& space : system.spaces)
    result.push_back(result.back() +
                     space->num_components() * space->block(static_cast<int>(range)).layout.element->num_dofs());
  return result;
}

} // namespace

CellSum::CellSum(const GeneratedMatrix& built, const CellUnknowns& unknowns, const SlicedPattern& pattern,
                 std::shared_ptr<FormData> data)
    : built_(built), unknowns_(unknowns), pattern_(pattern), kernels_(built.cells, std::move(data)) {
  if (built.cells->purpose != Purpose::matrix)
    broken_entries_ = CellUnknowns(built.cells->system).entries;
  else
    for (std::size_t p = 0; p < built.cells->pieces.size(); ++p) targets_.push_back(target_of(p));
}

base::AlignedVector<double> CellSum::run() const {
  if (targets_.empty()) return by_unit_vectors();
  const auto block = static_cast<std::size_t>(pattern_.block);
  base::AlignedVector<double> entries(static_cast<std::size_t>(pattern_.num_stored()) * block * block, 0.0);
  kernels_.cell_matrices([&](const CellMatrices& matrices) { add(matrices, entries); });
  return entries;
}

// --- kernels of cell matrices ---------------------------------------------------------------------------------------

CellSum::Target CellSum::target_of(std::size_t number) const {
  const auto& form = *built_.cells;
  const auto& piece = form.pieces[number];
  const auto& generation = piece.kernel.generation;
  Target result{.places = {}, .cells = {}};
  result.cells_per_batch = piece.cells.cells_per_batch;
  result.num_entries = static_cast<std::size_t>(tune::num_matrix_entries(generation));
  result.num_records = schedule::num_matrix_records(tune::num_matrix_entries(generation), piece.cells.cells_per_batch);
  if (piece.block >= 0)
    result.range = static_cast<std::size_t>(piece.block);
  else
    for (std::int64_t i = 0; i < std::int64_t{piece.cells.num_batches} * piece.cells.cells_per_batch; ++i) {
      const auto cell = piece.cells.cells[static_cast<std::size_t>(i)];
      const auto position = form.system.spaces.front()->position(piece.cells.group, cell);
      result.range = static_cast<std::size_t>(position.block);
      const auto& range = unknowns_.blocks[result.range];
      const std::int64_t in_range = std::int64_t{position.batch} * form.system.batches->cells_per_batch + position.lane;
      result.cells.push_back(static_cast<std::int32_t>(range.first + in_range * range.length));
    }
  const auto& range = unknowns_.blocks[result.range];
  const auto length = static_cast<std::size_t>(range.length);
  result.places.assign(length * length, -1);
  const auto firsts = first_locals(form.system, result.range);
  const std::size_t num_trials = form.trial_fields.size();
  std::int32_t offset = 0;
  for (const auto& output : generation.outputs) {
    const auto& places = output.places;
    const auto test = form.output_fields[static_cast<std::size_t>(output.field) / num_trials],
               trial = form.trial_fields[static_cast<std::size_t>(output.field) % num_trials];
    const int tests = output.num_tests, trials = output.num_trials,
              trial_components = form.system.spaces[trial]->num_components();
    for (int pair = 0; pair < output.components; ++pair, offset += tests * trials)
      for (int i = 0; i < tests; ++i)
        for (int j = 0; j < trials; ++j) {
          const auto row = static_cast<std::size_t>(firsts[test] + pair / trial_components * tests + i),
                     column = static_cast<std::size_t>(firsts[trial] + pair % trial_components * trials + j);
          result.places[row * length + column] = offset + places[static_cast<std::size_t>(i * trials + j)];
        }
  }
  return result;
}

/// Returns the place of the first unknown of the cell.
std::int64_t CellSum::cell_of(const Target& target, std::size_t piece, std::int32_t batch, int lane) const {
  const std::int64_t number = std::int64_t{batch} * target.cells_per_batch + lane;
  if (built_.cells->pieces[piece].block < 0) return target.cells[static_cast<std::size_t>(number)];
  const auto& range = unknowns_.blocks[target.range];
  return range.first + number * range.length;
}

void CellSum::add(const CellMatrices& matrices, std::span<double> entries) const {
  const auto& target = targets_[matrices.piece];
  const std::int64_t num_items = built_.cells->pieces[matrices.piece].cells.num_items;
  for (std::int32_t batch = matrices.batch_begin; batch < matrices.batch_end; ++batch) {
    const auto record = static_cast<std::size_t>(batch % target.num_records) * target.num_entries *
                        static_cast<std::size_t>(target.cells_per_batch);
    for (int lane = 0; lane < target.cells_per_batch; ++lane) {
      if (std::int64_t{batch} * target.cells_per_batch + lane >= num_items) break;
      add_matrix(target, cell_of(target, matrices.piece, batch, lane),
                 matrices.values.subspan(record + static_cast<std::size_t>(lane)), entries);
    }
  }
}

/// Adds the matrix of one cell. `values` begins with its first entry; the entries of the other cells of the batch stand
/// between those of this one.
void CellSum::add_matrix(const Target& target, std::int64_t first, std::span<const double> values,
                         std::span<double> entries) const {
  const auto& range = unknowns_.blocks[target.range];
  const auto length = static_cast<std::size_t>(range.length);
  const auto* unknowns = unknowns_.entries.data() + first;
  const auto* slots = pattern_.slots.data() + CellUnknowns::first_pair(range, first);
  const auto* places = target.places.data();
  const std::size_t stride = pattern_.block_stride(), distance = static_cast<std::size_t>(target.cells_per_batch);
  const bool has_blocks = pattern_.block > 1;
  for (std::size_t row = 0; row < length; ++row, slots += length, places += length) {
    double* to = entries.data() + pattern_.first_place(unknowns[row]);
    for (std::size_t column = 0; column < length; ++column) {
      const auto slot = slots[column];
      const auto place = places[column];
      if (slot == SlicedPattern::not_coupled || place < 0) continue;
      const auto in_block =
          has_blocks ? static_cast<std::size_t>(unknowns[column] % pattern_.block * pattern_.height) : 0;
      to[slot * stride + in_block] += values[static_cast<std::size_t>(place) * distance];
    }
  }
}

// --- unit vectors ---------------------------------------------------------------------------------------------------

/// Applies the form to the unit vector of one local unknown in all cells at once, which gives one column of every cell
/// matrix.
base::AlignedVector<double> CellSum::by_unit_vectors() const {
  const auto block = static_cast<std::size_t>(pattern_.block);
  base::AlignedVector<double> entries(static_cast<std::size_t>(pattern_.num_stored()) * block * block, 0.0);
  const auto num_cell_entries = static_cast<std::size_t>(built_.cells->system.size());
  Vector unit(kernels_.device(), num_cell_entries), column(kernels_.device(), num_cell_entries);
  for (int local = 0; local < unknowns_.most_per_cell(); ++local) {
    if (!set(local, 1, unit)) continue;
    kernels_.run(&unit, column, false);
    add_column(local, column.host_read(), entries);
    set(local, 0, unit);
  }
  return entries;
}

/// Sets the local unknown of every cell to a value. Returns false where no integrand holds its trial function, so that
/// its column is empty.
bool CellSum::set(int local, double value, Vector& unit) const {
  bool is_used = false;
  const auto to = unit.host_write();
  for (const auto& range : unknowns_.blocks) {
    if (local >= range.length || !built_.coupling.has_column(range.components[static_cast<std::size_t>(local)]))
      continue;
    is_used = is_used || range.num_cells > 0;
    for (std::int64_t c = 0; c < range.num_cells; ++c)
      to[static_cast<std::size_t>(broken_entries_[static_cast<std::size_t>(range.first + c * range.length + local)])] =
          value;
  }
  return is_used;
}

/// Adds one column of every cell matrix, that of this local unknown. Chunks of one stage share no unknown, so that an
/// entry gets its terms stage by stage, in the same order for any number of threads.
void CellSum::add_column(int local, std::span<const double> column, std::span<double> to) const {
  const auto& batches = *built_.system.batches;
  const auto add_cell = [&](const CellUnknowns::CellRange& range, std::int64_t cell) {
    const std::int64_t first = range.first + cell * range.length;
    const auto* unknowns = unknowns_.entries.data() + first;
    const auto* from = broken_entries_.data() + first;
    const auto* slots = pattern_.slots.data() + CellUnknowns::first_pair(range, first) + local;
    const std::int32_t in_block = pattern_.block == 1 ? 0 : unknowns[local] % pattern_.block;
    const auto offset = static_cast<std::size_t>(in_block * pattern_.height);
    for (int row = 0; row < range.length; ++row)
      if (const auto slot = slots[row * range.length]; slot != SlicedPattern::not_coupled)
        to[offset + pattern_.first_place(unknowns[row]) + slot * pattern_.block_stride()] +=
            column[static_cast<std::size_t>(from[row])];
  };
  for (const auto& stage : batches.stages)
    kernels_.device()->parallel_for(static_cast<std::int64_t>(stage.size()), [&](std::int64_t c) {
      const auto& chunk = stage[static_cast<std::size_t>(c)];
      const auto& range = unknowns_.blocks[static_cast<std::size_t>(chunk.block)];
      if (local >= range.length) return;
      const std::int64_t begin = std::int64_t{chunk.batch_begin} * batches.cells_per_batch,
                         end = std::min(range.num_cells, std::int64_t{chunk.batch_end} * batches.cells_per_batch);
      for (std::int64_t cell = begin; cell < end; ++cell) add_cell(range, cell);
    });
}

} // namespace rafter::op
