// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/matrix/matrix_records.hpp>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

int dofs_of(const space::FunctionSpace& space, std::size_t block) {
  return space.block(static_cast<int>(block)).layout.element->num_dofs();
}

/// Number of the first local unknown of each field of the system in the cells of a block, shape (field + 1).
std::vector<int> first_locals(const System& system, std::size_t block) {
  std::vector<int> result{0};
  for (const auto& space : system.spaces)
    result.push_back(result.back() + space->num_components() * dofs_of(*space, block));
  return result;
}

/// The cells of facets by their number in the block of cells that they are in.
void find_cells(const GeneratedForm& form, const BatchedCells& facets, MatrixRecords& records) {
  for (std::int64_t i = 0; i < std::int64_t{facets.num_batches} * facets.cells_per_batch; ++i) {
    const auto position = form.system.spaces.front()->position(facets.group, facets.cells[static_cast<std::size_t>(i)]);
    records.block = static_cast<std::size_t>(position.block);
    records.cells.push_back(position.batch * form.system.batches->cells_per_batch + position.cell);
  }
}

void find_places(const GeneratedForm& form, const tune::KernelPrograms& programs, int group_size,
                 MatrixRecords& records) {
  const auto first_rows = first_locals(form.system, records.block),
             first_columns = first_locals(form.trial_system, records.block);
  const auto row_groups = local_groups(form.system, records.block, group_size),
             column_groups = local_groups(form.trial_system, records.block, group_size);
  const auto size = static_cast<std::size_t>(group_size);
  const std::size_t num_column_groups = column_groups.size() / size;
  records.places.assign(row_groups.size() * column_groups.size(), -1);
  const std::size_t num_trials = form.trial_fields.size();
  std::int32_t offset = 0;
  for (const auto& output : programs.outputs) {
    const auto test = form.output_fields[static_cast<std::size_t>(output.field) / num_trials],
               trial = form.trial_fields[static_cast<std::size_t>(output.field) % num_trials];
    const int tests = output.num_tests, trials = output.num_trials,
              trial_components = form.trial_system.spaces[trial]->num_components();
    for (int pair = 0; pair < output.components; ++pair, offset += tests * trials)
      for (int i = 0; i < tests; ++i)
        for (int j = 0; j < trials; ++j) {
          const auto& row =
              row_groups[static_cast<std::size_t>(first_rows[test] + pair / trial_components * tests + i)];
          const auto& column =
              column_groups[static_cast<std::size_t>(first_columns[trial] + pair % trial_components * trials + j)];
          records.places[((row.group * num_column_groups + column.group) * size + row.component) * size +
                         column.component] = (offset + output.places[static_cast<std::size_t>(i * trials + j)]) *
                                             static_cast<std::int32_t>(records.entry_stride);
        }
  }
}

} // namespace

std::vector<LocalGroup> local_groups(const System& system, std::size_t block, int group_size) {
  std::vector<LocalGroup> result;
  int first = 0;
  for (const auto& space : system.spaces) {
    const int dofs = dofs_of(*space, block);
    for (int c = 0; c < space->num_components(); ++c)
      for (int i = 0; i < dofs; ++i)
        result.push_back(
            {static_cast<std::size_t>(first + c / group_size * dofs + i), static_cast<std::size_t>(c % group_size)});
    first += space->num_components() / group_size * dofs;
  }
  return result;
}

std::vector<MatrixRecords> matrix_records(const GeneratedForm& form, int group_size) {
  std::vector<MatrixRecords> result;
  for (const auto& block : form.blocks) {
    const auto& programs = block.kernel.programs;
    auto& records = result.emplace_back();
    records.cells_per_batch = block.cells.cells_per_batch;
    records.num_entries = static_cast<std::size_t>(tune::num_matrix_entries(programs));
    records.num_records = schedule::num_matrix_records(tune::num_matrix_entries(programs), records.cells_per_batch);
    const bool is_by_cell = schedule::writes_cell_by_cell(programs.main.plan);
    records.entry_stride = is_by_cell ? 1 : static_cast<std::size_t>(records.cells_per_batch);
    records.cell_stride = is_by_cell ? records.num_entries : 1;
    if (block.cell_block >= 0)
      records.block = static_cast<std::size_t>(block.cell_block);
    else
      find_cells(form, block.cells, records);
    find_places(form, programs, group_size, records);
  }
  return result;
}

MatrixColumns::MatrixColumns(const FormKernels& kernels)
    : kernels_(kernels), rows_(kernels.built().system, *kernels.device()),
      columns_(kernels.built().trial_system, *kernels.device()) {}

Vector MatrixColumns::make_unit() const {
  return Vector(kernels_.device(), static_cast<std::size_t>(kernels_.built().trial_system.size()));
}

Vector MatrixColumns::make_column() const {
  return Vector(kernels_.device(), static_cast<std::size_t>(kernels_.built().system.size()));
}

bool MatrixColumns::set(int local, const std::function<bool(std::size_t block)>& is_wanted, double value,
                        Vector& unit) const {
  bool is_used = false;
  const auto to = unit.host_write();
  for (std::size_t b = 0; b < columns_.blocks.size(); ++b) {
    if (!is_wanted(b)) continue;
    const auto& block = columns_.blocks[b];
    is_used = is_used || block.num_cells > 0;
    for (std::int64_t c = 0; c < block.num_cells; ++c)
      to[static_cast<std::size_t>(columns_.entries[static_cast<std::size_t>(block.first + c * block.length + local)])] =
          value;
  }
  return is_used;
}

} // namespace rafter::op
