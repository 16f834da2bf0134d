// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/bound_kernel.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/operator/generate/cell_unknowns.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/least_traffic.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/tune/planner.hpp>

namespace rafter::op {

namespace {

using device::Array;
using Integers = space::IndexTables::Integers;
using Reals = Array<double>;

/// Kernels with points in lanes read whole vectors, so that arrays over points need this many numbers more behind the
/// last point.
constexpr std::size_t vector_room = 16;

constexpr std::array<std::string_view, 1> total_loops{"total(| sums): sum total = sums"};

} // namespace

BoundKernel::BoundKernel(const GeneratedForm& form, const GeneratedBlock& block)
    : form_(form), block_(block), device_(form.options.device), info_(block.kernel.info),
      tables_(*form.system.discretisation, device_, block.kernel.programs.main, info_.plan[schedule::key::compute]) {
  for (std::size_t i = 0; i < block.spaces.size(); ++i)
    spaces_.push_back(block.cell_block < 0 ? block.spaces[i]->index_tables(block.facet_dofs[i], device_)
                                           : block.spaces[i]->index_tables(block.cell_block, device_));
  fill_data();
  count();
}

KernelArguments BoundKernel::arguments() const {
  const auto& main = block_.kernel.programs.main;
  device::BufferRegistry kept;
  add_data(main.arguments, kept);
  if (cell_data_ != nullptr) cell_data_->batches.add_to(kept);
  tables_.add_to(kept);
  kept.add(schedule::role::data_rows, 0, data_rows_.device_read());
  kept.add(schedule::role::stored_point, 0, stored_point_.device_read());
  kept.add(schedule::role::stored_cell, 0, stored_cell_.device_read());
  return {*block_.program, main, kept};
}

void BoundKernel::add_data(const std::vector<schedule::LoopBuffer>& arguments, device::BufferRegistry& registry) const {
  for (std::size_t i = 0; i < spaces_.size(); ++i) {
    const int index = static_cast<int>(i);
    spaces_[i]->add_to(registry, index, [&](std::string_view role) { return reads(arguments, role, index); });
  }
  if (geometry_ != nullptr) return; // a MatrixWork has the rest
  cell_data_->add_to(registry);
  registry.add(schedule::role::cell_coefficients, 0, cell_coefficients_.device_read());
}

void BoundKernel::fill_data() {
  const auto& cells = block_.cells;
  const bool is_read_once = form_.purpose == Purpose::matrix && block_.cell_block >= 0 && block_.spaces.empty() &&
                            block_.setup_program == nullptr;
  if (is_read_once) {
    geometry_ = std::make_unique<const CellGeometry>(*form_.system.mesh, cells);
    base::AlignedVector<std::int32_t> records(static_cast<std::size_t>(num_records()));
    std::iota(records.begin(), records.end(), 0);
    data_rows_ = Integers(device_, std::move(records));
    return;
  }
  const auto representatives = block_.rows.representatives(cells);
  cell_data_ = cell_data(*form_.system.discretisation, cells, representatives, device_, reads_cell_by_cell());
  data_rows_ = device::to_array<std::int32_t>(device_, block_.rows.of_batch);
  auto coefficients = form_.coefficients.values(representatives);
  if (reads_cell_by_cell()) put_cell_by_cell(coefficients, cells.cells_per_batch, representatives.num_batches);
  cell_coefficients_ = Reals(device_, std::move(coefficients));
  const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
  const auto batches = static_cast<std::size_t>(cells.num_batches);
  const auto storage = info_.plan[schedule::key::storage];
  const auto stored = stored_numbers(block_);
  stored_point_ = Numbers(device_, stored.at_points == 0 ? 0 : stored.at_points + vector_room, storage);
  stored_cell_ = Numbers(device_, stored.per_cell, storage);
  num_integrals_ = form_.form.rank == 0 ? static_cast<std::size_t>(form_.form.num_values) : 0;
  integrals_ = Reals(device_, num_integrals_ * batches * cells_per_batch);
  for (std::size_t value = 0; value < num_integrals_; ++value) {
    const auto begin = static_cast<std::int32_t>(value * batches * cells_per_batch);
    totals_.emplace_back(device_, total_loops,
                         std::vector{EntryRange{begin, begin + static_cast<std::int32_t>(batches * cells_per_batch)}});
  }
}

/// Bytes of the entries that a run clears because a batch is the first to touch them. The count of the loop program
/// takes such a range as one entry, so that only the others are counted here.
double BoundKernel::uncounted_clearing_bytes() const {
  if (block_.cell_block < 0 || form_.purpose == Purpose::matrix) return 0;
  double entries = 0;
  for (const auto& output : block_.kernel.programs.outputs) {
    const auto* space = form_.output_spaces[static_cast<std::size_t>(output.field)].get();
    const auto place = std::ranges::find(block_.spaces, space) - block_.spaces.begin();
    const auto touched = spaces_[static_cast<std::size_t>(place)]->touched;
    for (std::size_t b = 0; b + 1 < touched.size(); b += 2) entries += touched[b + 1] - touched[b] - 1;
  }
  return entries * form_.word_bytes();
}

bool BoundKernel::reads_cell_by_cell() const { return schedule::reads_cell_by_cell(block_.kernel.programs.main.plan); }

BoundKernel::Runs BoundKernel::runs() const {
  const double cells = static_cast<double>(info_.num_cells), batches = static_cast<double>(info_.num_batches);
  // Such programs loop over cells, or have items for them: they are counted for one.
  if (block_.kernel.programs.main.vector_width == 1) return {.complete = cells};
  return {.complete = batches, .idle = batches - cells / block_.cells.cells_per_batch};
}

/// Counts executed and effective operations, the bytes of the nearest cache, and the compulsory bytes besides those of
/// vectors.
void BoundKernel::count() {
  const auto& built = block_.kernel.programs;
  auto& counts = info_.counts;
  const auto& executed = built.counts;
  const auto [complete, idle] = runs();
  counts.flops = executed.flops * complete;
  counts.operations = executed.operations * complete;
  counts.single_flops = executed.single_flops * complete;
  counts.single_operations = executed.single_operations * complete;
  counts.local_bytes_read = executed.local.read_bytes * complete - executed.masked.read_bytes * idle;
  counts.local_bytes_written =
      executed.local.written_bytes * complete - executed.masked.written_bytes * idle + uncounted_clearing_bytes();
  counts.effective_flops = built.cell_flops * static_cast<double>(info_.num_cells);
  counts.global_bytes_read = built.data_bytes * static_cast<double>(info_.num_batches);
}

/// The least traffic is remembered where texts of kernels are. Registers of a size that is not known hold everything.
schedule::LeastTraffic BoundKernel::least_traffic() const {
  const auto& kernel = block_.kernel;
  if (kernel.programs.least) return *kernel.programs.least;
  const auto known = static_cast<double>(target_of(*device_).register_bytes);
  const auto least = schedule::least_traffic(schedule::access_trace(schedule::read(info_.loop_program)),
                                             known > 0 ? known : std::numeric_limits<double>::infinity());
  const auto& planner = form_.options.planner->options();
  if (planner.kernel_texts != nullptr && !planner.weighs_all) {
    auto programs = kernel.programs;
    programs.least = least;
    planner.kernel_texts->remember(kernel.specification, programs);
  }
  return least;
}

machine::Counts BoundKernel::least_local_traffic() const {
  const auto least = least_traffic();
  const auto [complete, idle] = runs();
  return {.least_local_bytes_read = least.all.read_bytes * complete - least.masked.read_bytes * idle,
          .least_local_bytes_written =
              least.all.written_bytes * complete - least.masked.written_bytes * idle + uncounted_clearing_bytes()};
}

std::uint64_t BoundKernel::newest_input(const FormData& data) const {
  std::uint64_t newest = 1; // version of the mesh, which never changes
  for (const int i : block_.kernel.programs.setup_fields)
    newest = std::max(newest, data.field_version(static_cast<std::size_t>(i)));
  for (const int i : block_.kernel.programs.setup_parameters)
    newest = std::max(newest, data.parameter_version(static_cast<std::size_t>(i)));
  return newest;
}

void BoundKernel::refresh(const FormData& data) {
  if (block_.setup_program == nullptr) return;
  const auto newest = newest_input(data);
  if (newest <= stored_version_) return;
  run_setup(data);
  stored_version_ = newest;
  ++num_setups_;
}

std::unique_ptr<BoundKernel::Setup> BoundKernel::make_setup() const {
  const auto& setup = block_.kernel.programs.setup;
  base::AlignedVector<std::int32_t> numbers(static_cast<std::size_t>(block_.rows.count()));
  std::iota(numbers.begin(), numbers.end(), 0);
  auto result = std::make_unique<Setup>();
  result->tables = {*form_.system.discretisation, device_, setup, schedule::Precision::double_precision};
  result->batches = batch_numbers(block_.rows.representatives(block_.cells), device_);
  result->row_of_row = Integers(device_, std::move(numbers));
  device::BufferRegistry kept;
  add_data(setup.arguments, kept);
  result->batches.add_to(kept);
  result->tables.add_to(kept);
  kept.add(schedule::role::data_rows, 0, result->row_of_row.device_read());
  result->kernel.emplace(device_, StagedKernels::Arguments{{*block_.setup_program, setup, kept}},
                         StagedKernels::Stages{ranges_of(thread_ranges(block_.rows.count(), *device_))},
                         form_.coefficients.count());
  return result;
}

/// Computes the data that the cut stores, one row of cell data after the other.
void BoundKernel::run_setup(const FormData& data) {
  if (setup_ == nullptr) setup_ = make_setup();
  device::BufferRegistry run;
  data.add_to(run, form_.num_trials());
  run.add(schedule::role::stored_point, 0, stored_point_.device_write());
  run.add(schedule::role::stored_cell, 0, stored_cell_.device_write());
  setup_->kernel->run(run, false); // threads may take any ranges of rows, because rows are disjoint
  const auto& built = block_.kernel.programs;
  if (built.setup_fields.empty() && built.setup_parameters.empty())
    setup_.reset(); // the data of the mesh never change, so that set-up need not run again
}

void BoundKernel::add_integrals(device::BufferRegistry& run) {
  for (std::size_t value = 0; value < num_integrals_; ++value)
    run.add(schedule::role::integral, static_cast<int>(value), integrals_.device_write(),
            sizeof(double) * value * (integrals_.size() / num_integrals_));
}

void MatrixWork::add_to(device::BufferRegistry& registry) {
  registry.add(schedule::role::output_vector, 0, values.device_write());
  registry.add(schedule::role::map, 0, geometry.device_read());
  registry.add(schedule::role::nodes, 0, geometry.device_read());
  registry.add(schedule::role::cell_coefficients, 0, coefficients.device_read());
  registry.add(schedule::role::num_active, 0, num_active.device_read());
}

CellMatrices BoundKernel::cell_matrices(const KernelArguments& arguments, std::int32_t begin, std::int32_t end,
                                        MatrixWork& work) const {
  const std::int32_t first = geometry_ == nullptr ? begin : begin % num_records();
  if (geometry_ != nullptr) write_cells(begin, end, work);
  device::BufferRegistry used;
  work.add_to(used); // what was written on the host goes to the device, and earlier matrices on the host become stale
  const device::Task batches = arguments.task(first, first + end - begin);
  device_->run(std::span(&batches, 1));
  return {.batch_begin = begin, .batch_end = end, .values = work.values.host_read()};
}

/// Writes what the kernel reads of the cells of batches. It takes the number of the record for that of the batch.
void BoundKernel::write_cells(std::int32_t begin, std::int32_t end, MatrixWork& work) const {
  const auto& cells = block_.cells;
  const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
  const std::size_t numbers = geometry_->numbers_per_batch(),
                    coefficients = static_cast<std::size_t>(form_.coefficients.count()) * cells_per_batch;
  const auto geometry = work.geometry.host_write();
  const auto num_active = work.num_active.host_write();
  for (std::int32_t batch = begin; batch < end; ++batch) {
    const auto record = static_cast<std::size_t>(batch % num_records());
    const auto of_record = geometry.subspan(record * numbers, numbers);
    geometry_->write(batch, work.points, of_record.data());
    if (reads_cell_by_cell()) put_cell_by_cell(of_record, cells.cells_per_batch, 1);
    num_active[record] = cells.num_active(batch);
    if (coefficients == 0) continue;
    auto of_batch = cells;
    of_batch.cells = cells.cells.subspan(static_cast<std::size_t>(batch) * cells_per_batch, cells_per_batch);
    of_batch.num_batches = 1;
    auto values = form_.coefficients.values(of_batch);
    if (reads_cell_by_cell()) put_cell_by_cell(values, cells.cells_per_batch, 1);
    std::ranges::copy(values,
                      work.coefficients.host_write().begin() + static_cast<std::ptrdiff_t>(record * coefficients));
  }
}

void BoundKernel::enlarge(MatrixWorkSizes& sizes) const {
  const auto cells_per_batch = static_cast<std::size_t>(block_.cells.cells_per_batch),
             records = static_cast<std::size_t>(num_records());
  const auto entries = static_cast<std::size_t>(tune::num_matrix_entries(block_.kernel.programs));
  sizes.values = std::max(sizes.values, records * entries * cells_per_batch);
  sizes.num_active = std::max(sizes.num_active, records);
  if (geometry_ == nullptr) return;
  sizes.geometry = std::max(sizes.geometry, records * geometry_->numbers_per_batch());
  sizes.coefficients =
      std::max(sizes.coefficients, records * static_cast<std::size_t>(form_.coefficients.count()) * cells_per_batch);
}

std::int32_t BoundKernel::num_records() const {
  return schedule::num_matrix_records(tune::num_matrix_entries(block_.kernel.programs), block_.cells.cells_per_batch);
}

void BoundKernel::clear_integrals() { integrals_.device_overwrite()->clear(); }

std::vector<double> BoundKernel::integrals() const {
  std::vector<double> result;
  for (const auto& total : totals_) result.push_back(total.run("total", {}, {integrals_}).front());
  return result;
}

} // namespace rafter::op
