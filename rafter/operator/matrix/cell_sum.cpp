// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/matrix/cell_sum.hpp>

#include <algorithm>
#include <limits>

#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

template <class Slot> bool is_uncoupled(Slot slot) { return slot == std::numeric_limits<Slot>::max(); }

/// Number of the first local unknown of each field of the system in the cells of a block, shape (field + 1).
std::vector<int> first_locals(const System& system, std::size_t range) {
  std::vector<int> result{0};
  for (const auto& space : system.spaces)
    result.push_back(result.back() +
                     space->num_components() * space->block(static_cast<int>(range)).layout.element->num_dofs());
  return result;
}

/// The place of a local unknown among the groups of CellUnknowns is a group and a component.
struct LocalGroup {
  std::size_t group = 0, component = 0; ///< local group; component in the group
};

/// Shape (local unknown).
std::vector<LocalGroup> local_groups(const System& system, std::size_t range, int size) {
  std::vector<LocalGroup> result;
  int first = 0;
  for (const auto& space : system.spaces) {
    const int num_dofs = space->block(static_cast<int>(range)).layout.element->num_dofs();
    for (int c = 0; c < space->num_components(); ++c)
      for (int i = 0; i < num_dofs; ++i)
        result.push_back(
            {static_cast<std::size_t>(first + c / size * num_dofs + i), static_cast<std::size_t>(c % size)});
    first += space->num_components() / size * num_dofs;
  }
  return result;
}

} // namespace

CellSum::CellSum(const GeneratedMatrix& built, const CellUnknowns& unknowns, const SlicedPattern& pattern,
                 std::shared_ptr<FormData> data)
    : built_(built), unknowns_(unknowns), pattern_(pattern), kernels_(built.cells, std::move(data)) {
  if (built.cells->purpose != Purpose::matrix)
    broken_unknowns_ = std::make_unique<const CellUnknowns>(built.cells->system, *kernels_.device());
  else
    for (std::size_t p = 0; p < built.cells->blocks.size(); ++p) targets_.push_back(target_of(p));
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
  const auto& block = form.blocks[number];
  const auto& programs = block.kernel.programs;
  Target result{.places = {}, .cells = {}};
  result.cells_per_batch = block.cells.cells_per_batch;
  result.num_entries = static_cast<std::size_t>(tune::num_matrix_entries(programs));
  result.num_records = schedule::num_matrix_records(tune::num_matrix_entries(programs), block.cells.cells_per_batch);
  if (block.cell_block >= 0)
    result.range = static_cast<std::size_t>(block.cell_block);
  else
    for (std::int64_t i = 0; i < std::int64_t{block.cells.num_batches} * block.cells.cells_per_batch; ++i) {
      const auto cell = block.cells.cells[static_cast<std::size_t>(i)];
      const auto position = form.system.spaces.front()->position(block.cells.group, cell);
      result.range = static_cast<std::size_t>(position.block);
      const auto& range = unknowns_.blocks[result.range];
      const std::int64_t in_range = std::int64_t{position.batch} * form.system.batches->cells_per_batch + position.cell;
      result.cells.push_back(static_cast<std::int32_t>(range.first + in_range * range.length));
    }
  find_places(block, result);
  return result;
}

void CellSum::find_places(const GeneratedBlock& block, Target& target) const {
  const auto& form = *built_.cells;
  const auto& programs = block.kernel.programs;
  const auto length = static_cast<std::size_t>(unknowns_.blocks[target.range].length),
             size = static_cast<std::size_t>(pattern_.block);
  target.places.assign(length * length * size * size, -1);
  const auto firsts = first_locals(form.system, target.range);
  const auto groups = local_groups(form.system, target.range, pattern_.block);
  const std::size_t num_trials = form.trial_fields.size();
  std::int32_t offset = 0;
  for (const auto& output : programs.outputs) {
    const auto& places = output.places;
    const auto test = form.output_fields[static_cast<std::size_t>(output.field) / num_trials],
               trial = form.trial_fields[static_cast<std::size_t>(output.field) % num_trials];
    const int tests = output.num_tests, trials = output.num_trials,
              trial_components = form.system.spaces[trial]->num_components();
    for (int pair = 0; pair < output.components; ++pair, offset += tests * trials)
      for (int i = 0; i < tests; ++i)
        for (int j = 0; j < trials; ++j) {
          const auto& row = groups[static_cast<std::size_t>(firsts[test] + pair / trial_components * tests + i)];
          const auto& column = groups[static_cast<std::size_t>(firsts[trial] + pair % trial_components * trials + j)];
          target.places[((row.group * length + column.group) * size + row.component) * size + column.component] =
              (offset + places[static_cast<std::size_t>(i * trials + j)]) * target.cells_per_batch;
        }
  }
  const auto columns = built_.coupling.local_columns(target.range, pattern_.block);
  target.is_whole = pattern_.block == 1 && std::ranges::find(target.places, -1) == target.places.end() &&
                    std::ranges::all_of(columns, [&](const auto& of_row) { return of_row.size() == length; });
}

/// Returns the place of the first group of unknowns of the cell.
std::int64_t CellSum::cell_of(const Target& target, std::size_t block, std::int32_t batch, int cell) const {
  const std::int64_t number = std::int64_t{batch} * target.cells_per_batch + cell;
  if (built_.cells->blocks[block].cell_block < 0) return target.cells[static_cast<std::size_t>(number)];
  const auto& range = unknowns_.blocks[target.range];
  return range.first + number * range.length;
}

void CellSum::add(const CellMatrices& matrices, std::span<double> entries) const {
  const auto& target = targets_[matrices.block];
  const auto& cells = built_.cells->blocks[matrices.block].cells;
  for (std::int32_t batch = matrices.batch_begin; batch < matrices.batch_end; ++batch) {
    const auto record = static_cast<std::size_t>(batch % target.num_records) * target.num_entries *
                        static_cast<std::size_t>(target.cells_per_batch);
    for (int cell = 0; cell < cells.num_active(batch); ++cell) {
      const auto first = cell_of(target, matrices.block, batch, cell);
      const auto values = matrices.values.subspan(record + static_cast<std::size_t>(cell));
      if (target.is_whole)
        add_whole_matrix(target, first, values, entries);
      else
        add_matrix(target, first, values, entries);
    }
  }
}

/// Adds the matrix of one cell. `values` begins with its first entry; the entries of the other cells of the batch stand
/// between those of this one.
void CellSum::add_matrix(const Target& target, std::int64_t first, std::span<const double> values,
                         std::span<double> entries) const {
  const auto& range = unknowns_.blocks[target.range];
  const auto length = static_cast<std::size_t>(range.length), size = static_cast<std::size_t>(pattern_.block);
  const auto* groups = unknowns_.entries.data() + first;
  const std::size_t block_stride = pattern_.block_stride(), column_stride = pattern_.column_stride();
  pattern_.with_slots(CellUnknowns::first_pair(range, first), [&](const auto* slots) {
    const auto* places = target.places.data();
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

/// Does the same for targets that are whole, which takes no branches.
void CellSum::add_whole_matrix(const Target& target, std::int64_t first, std::span<const double> values,
                               std::span<double> entries) const {
  const auto& range = unknowns_.blocks[target.range];
  pattern_.with_slots(CellUnknowns::first_pair(range, first), [&]<class Slot>(const Slot* slots) {
    const WholeMatrix<Slot> matrix{.length = static_cast<std::size_t>(range.length),
                                   .stride = pattern_.block_stride(),
                                   .groups = unknowns_.entries.data() + first,
                                   .slots = slots,
                                   .places = target.places.data(),
                                   .values = values.data()};
    if (matrix.length == 4)
      add_rows<4>(matrix, pattern_.first_places, entries.data());
    else
      add_rows<0>(matrix, pattern_.first_places, entries.data());
  });
}

// --- unit vectors ---------------------------------------------------------------------------------------------------

/// Applies the form to the unit vector of one local unknown in all cells at once, which gives one column of every cell
/// matrix.
base::AlignedVector<double> CellSum::by_unit_vectors() const {
  const auto block = static_cast<std::size_t>(pattern_.block);
  base::AlignedVector<double> entries(static_cast<std::size_t>(pattern_.num_stored()) * block * block, 0.0);
  const auto num_cell_entries = static_cast<std::size_t>(built_.cells->system.size());
  Vector unit(kernels_.device(), num_cell_entries), column(kernels_.device(), num_cell_entries);
  for (int local = 0; local < broken_unknowns_->most_per_cell(); ++local) {
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
  for (const auto& range : broken_unknowns_->blocks) {
    if (local >= range.length || !built_.coupling.has_column(range.components[static_cast<std::size_t>(local)]))
      continue;
    is_used = is_used || range.num_cells > 0;
    for (std::int64_t c = 0; c < range.num_cells; ++c) {
      const auto place = static_cast<std::size_t>(range.first + c * range.length + local);
      to[static_cast<std::size_t>(broken_unknowns_->entries[place])] = value;
    }
  }
  return is_used;
}

/// Adds one column of every cell matrix, that of this local unknown. Chunks of one stage share no unknown, so that an
/// entry gets its terms stage by stage, in the same order for any number of threads.
void CellSum::add_column(int local, std::span<const double> column, std::span<double> to) const {
  const auto& batches = *built_.system.batches;
  const auto add_cells = [&](std::size_t block, std::int64_t begin, std::int64_t end) {
    const auto& range = unknowns_.blocks[block];
    const auto& broken = broken_unknowns_->blocks[block];
    const auto locals = local_groups(built_.system, block, pattern_.block);
    const auto& of_column = locals[static_cast<std::size_t>(local)];
    for (std::int64_t cell = begin; cell < end; ++cell) {
      const std::int64_t first = range.first + cell * range.length;
      const auto* groups = unknowns_.entries.data() + first;
      const auto* from = broken_unknowns_->entries.data() + broken.first + cell * broken.length;
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
      const auto& range = broken_unknowns_->blocks[block];
      if (local >= range.length) return;
      const std::int64_t begin = std::int64_t{chunk.batch_begin} * batches.cells_per_batch,
                         end = std::min(range.num_cells, std::int64_t{chunk.batch_end} * batches.cells_per_batch);
      add_cells(block, begin, end);
    });
}

} // namespace rafter::op
