// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/bound_kernel.hpp>

#include <algorithm>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/least_traffic.hpp>

namespace rafter::op {

namespace {

using device::Array;
using device::Buffer;
using schedule::Role;
using Integers = space::IndexTables::Integers;
using Reals = Array<double>;

/// Numbers behind the last point: kernels with points in lanes read whole vectors.
constexpr std::size_t vector_room = 16;

template <class T, class Source>
Array<T> to_array(const std::shared_ptr<device::Device>& device, const Source& source) {
  return Array<T>(device, base::AlignedVector<T>(source.begin(), source.end()));
}

} // namespace

Numbers::Numbers(const std::shared_ptr<device::Device>& device, std::size_t size, schedule::Precision precision)
    : reals(device, precision == schedule::Precision::double_precision ? size : 0),
      singles(device, precision == schedule::Precision::double_precision ? 0 : size) {}

Numbers::Numbers(const std::shared_ptr<device::Device>& device, std::span<const double> values)
    : reals(device, base::AlignedVector<double>(values.begin(), values.end())),
      singles(device, base::AlignedVector<float>(values.begin(), values.end())) {}

Buffer* Numbers::buffer(const schedule::LoopBuffer& argument) {
  const auto of = [&](auto& array) { return argument.is_written ? array.device_write() : array.device_read(); };
  return argument.type == schedule::Type::real32 ? of(singles) : of(reals);
}

BoundKernel::BoundKernel(const GeneratedForm& form, const GeneratedBlock& piece)
    : form_(form), piece_(piece), device_(form.options.device), info_(piece.kernel.info),
      kernel_(piece.program->kernel(piece.kernel.loops.name)), parameters_(piece.kernel.loops.arguments()),
      tables_(tables(piece.kernel.program, piece.kernel.loops)) {
  for (std::size_t i = 0; i < piece.spaces.size(); ++i)
    spaces_.push_back(piece.block < 0 ? piece.spaces[i]->index_tables(piece.facet_dofs[i], device_)
                                      : piece.spaces[i]->index_tables(piece.block, device_));
  fill_data();
  count();
  arguments_.buffers.resize(parameters_.size());
  arguments_.offsets.resize(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!is_of_run(parameters_[i].role)) arguments_.buffers[i] = table(parameters_[i], tables_);
}

void BoundKernel::fill_data() {
  const auto& mesh = *form_.system.mesh;
  const auto& cells = piece_.cells;
  num_active_ = Integers(device_, active_counts(cells));
  data_rows_ = to_array<std::int32_t>(device_, piece_.rows.of_batch);
  const auto representatives = piece_.rows.representatives(cells);
  if (cells.map == mesh::MapKind::isoparametric)
    nodes_ = Reals(device_, geometry_nodes(mesh, representatives));
  else
    map_ = Reals(device_, map_coefficients(mesh, representatives));
  cell_coefficients_ = Reals(device_, form_.coefficients.values(representatives));
  const auto lanes = static_cast<std::size_t>(cells.cells_per_batch);
  const auto batches = static_cast<std::size_t>(cells.num_batches);
  const auto& program = piece_.kernel.program;
  const auto storage = info_.plan.storage;
  const auto stored = stored_numbers(piece_);
  stored_point_ = Numbers(device_, stored.at_points == 0 ? 0 : stored.at_points + vector_room, storage);
  stored_cell_ = Numbers(device_, stored.per_cell, storage);
  integral_ = Reals(device_, form_.form.rank == 0 ? batches * lanes : 0);
  points_ = Numbers(device_, program.points);
  auto weights = program.weights;
  weights.resize(weights.size() + vector_room);
  weights_ = Numbers(device_, weights);
  if (cells.local_facet >= 0)
    reference_normal_ = to_array<double>(device_, element::reference_normal(cells.shape, cells.local_facet));
}

BoundKernel::Tables BoundKernel::tables(const kernel::TensorProgram& program,
                                        const schedule::LoopProgram& loops) const {
  Tables result;
  for (const auto& matrix : program.matrices) {
    const auto table = matrix.is_data ? schedule::packed_table(matrix, info_.plan) : std::vector<double>{};
    result.matrices.push_back(Numbers(device_, table));
  }
  for (const auto& argument : loops.arguments())
    if (argument.role == Role::table) result.values.push_back(to_array<std::int32_t>(device_, argument.values));
  return result;
}

/// What a run clears: entries that a batch is the first to touch, of which the program's count knows one per batch.
double BoundKernel::uncounted_clearing_bytes() const {
  if (piece_.block < 0 || form_.purpose == Purpose::matrix) return 0;
  double entries = 0;
  for (const auto& use : piece_.kernel.program.outputs) {
    const auto* space = form_.output_spaces[static_cast<std::size_t>(use.index)].get();
    const auto place = std::ranges::find(piece_.spaces, space) - piece_.spaces.begin();
    const auto touched = spaces_[static_cast<std::size_t>(place)]->first_touch.host_read();
    for (std::size_t b = 0; b + 1 < touched.size(); b += 2) entries += touched[b + 1] - touched[b] - 1;
  }
  return entries * form_.word_bytes();
}

BoundKernel::Runs BoundKernel::runs() const {
  const double cells = static_cast<double>(info_.num_cells), batches = static_cast<double>(info_.num_batches);
  if (piece_.kernel.loops.vector_width == 1) return {.complete = cells}; // such programs loop over the cells
  return {.complete = batches, .idle = batches - cells / piece_.cells.cells_per_batch};
}

/// Executed and effective operations, bytes of the nearest cache, and compulsory bytes besides the vectors.
void BoundKernel::count() {
  const auto& built = piece_.kernel;
  auto& counts = info_.counts;
  const auto executed = schedule::count(built.loops);
  const auto [complete, idle] = runs();
  counts.flops = executed.flops * complete;
  counts.operations = executed.operations * complete;
  counts.single_flops = executed.single_flops * complete;
  counts.single_operations = executed.single_operations * complete;
  counts.local_bytes_read = executed.local.read_bytes * complete - executed.masked.read_bytes * idle;
  counts.local_bytes_written =
      executed.local.written_bytes * complete - executed.masked.written_bytes * idle + uncounted_clearing_bytes();
  counts.effective_flops = kernel::count_flops(built.program) * static_cast<double>(info_.num_cells);
  counts.global_bytes_read = built.data_bytes * static_cast<double>(info_.num_batches);
}

machine::Counts BoundKernel::least_local_traffic() const {
  const auto least = schedule::least_traffic(schedule::access_trace(piece_.kernel.loops));
  const auto [complete, idle] = runs();
  return {.least_local_bytes_read = least.all.read_bytes * complete - least.masked.read_bytes * idle,
          .least_local_bytes_written =
              least.all.written_bytes * complete - least.masked.written_bytes * idle + uncounted_clearing_bytes()};
}

std::uint64_t BoundKernel::newest_input(const FormData& data) const {
  std::uint64_t newest = 1; // of the mesh
  for (const int i : piece_.kernel.setup_fields)
    newest = std::max(newest, data.field_version(static_cast<std::size_t>(i)));
  for (const int i : piece_.kernel.setup_parameters)
    newest = std::max(newest, data.parameter_version(static_cast<std::size_t>(i)));
  return newest;
}

void BoundKernel::refresh(const FormData& data) {
  if (piece_.setup_program == nullptr) return;
  const auto newest = newest_input(data);
  if (newest <= stored_version_) return;
  run_setup(data);
  stored_version_ = newest;
  ++num_setups_;
}

/// Computes what the cut stores: row after row.
void BoundKernel::run_setup(const FormData& data) {
  const auto& built = piece_.kernel;
  const auto kernel = piece_.setup_program->kernel(built.setup_loops.name);
  auto own = tables(built.setup_program, built.setup_loops);
  base::AlignedVector<std::int32_t> numbers(static_cast<std::size_t>(piece_.rows.count()));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Integers row_of_row(device_, std::move(numbers)), mode(device_, {0, form_.coefficients.count()});
  const auto parameters = built.setup_loops.arguments();
  Arguments arguments;
  arguments.buffers.resize(parameters.size());
  arguments.offsets.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].role == Role::data_rows)
      arguments.buffers[i] = row_of_row.device_read();
    else if (is_of_run(parameters[i].role))
      take(parameters[i], i, {.data = &data, .mode = mode.device_read()}, arguments);
    else
      arguments.buffers[i] = table(parameters[i], own);
  std::vector<device::Task> tasks; // one range per thread: rows are disjoint
  const std::int64_t parts = std::max(1, device_->num_threads()), count = piece_.rows.count();
  for (std::int64_t p = 0; p < parts; ++p)
    tasks.push_back({kernel.get(), arguments.buffers, count * p / parts, count * (p + 1) / parts, arguments.offsets});
  device_->run(tasks)->wait();
}

bool BoundKernel::is_of_run(Role role) {
  return role == Role::mode || role == Role::parameters || role == Role::input_vector || role == Role::output_vector ||
         role == Role::integral;
}

void BoundKernel::bind(const RunArguments& run) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (is_of_run(parameters_[i].role)) take(parameters_[i], i, run, arguments_);
}

CellMatrices BoundKernel::cell_matrices(std::int32_t begin, std::int32_t end, Vector& values) const {
  std::vector<Buffer*> buffers = arguments_.buffers;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].role == Role::output_vector) buffers[i] = values.device_write();
  const device::Task batches{kernel_.get(), buffers, begin, end, arguments_.offsets};
  device_->run(std::span(&batches, 1))->wait();
  return {.batch_begin = begin, .batch_end = end, .values = values.host_read()};
}

std::int64_t BoundKernel::record_size() const {
  return schedule::num_matrix_entries(piece_.kernel.program) * piece_.cells.cells_per_batch;
}
std::int32_t BoundKernel::num_records() const {
  return schedule::num_matrix_records(piece_.kernel.program, piece_.cells.cells_per_batch);
}

device::Task BoundKernel::task(std::int64_t begin, std::int64_t end) const {
  return {kernel_.get(), arguments_.buffers, begin, end, arguments_.offsets};
}

std::size_t BoundKernel::word_bytes(const schedule::LoopBuffer& argument) const {
  return static_cast<std::size_t>(schedule::size_bytes(argument.type));
}

/// Each field has a pointer of its own, into the vector of the system that it is part of.
void BoundKernel::take(const schedule::LoopBuffer& argument, std::size_t place, const RunArguments& run,
                       Arguments& to) {
  const auto index = static_cast<std::size_t>(argument.index);
  auto*& buffer = to.buffers[place];
  auto& offset = to.offsets[place];
  switch (argument.role) {
  case Role::mode:
    buffer = run.mode;
    return;
  case Role::parameters:
    buffer = run.data->parameters().device_read();
    return;
  case Role::integral:
    buffer = integral_.device_write();
    return;
  case Role::input_vector:
    if (index >= form_.num_trials()) {
      buffer = run.data->field(index - form_.num_trials()).device_read();
      return;
    }
    if (run.trial == nullptr) throw base::InternalError("a bilinear form needs the vector of its trial functions");
    buffer = run.trial;
    offset = word_bytes(argument) * static_cast<std::size_t>(form_.trial_system.offset(form_.input_fields[index]));
    return;
  default: // the output vector
    if (run.y == nullptr) throw base::InternalError("a functional writes no vector");
    buffer = run.y;
    offset = 0;
    if (form_.purpose == Purpose::matrix) return; // records of cell matrices
    offset = word_bytes(argument) * static_cast<std::size_t>(form_.system.offset(form_.output_fields[index]));
  }
}

Buffer* BoundKernel::index_table(const schedule::LoopBuffer& argument) const {
  const auto of = [&](Integers space::IndexTables::*table) {
    return (spaces_.at(static_cast<std::size_t>(argument.index)).get()->*table).device_read();
  };
  using space::IndexTables;
  switch (argument.role) {
  case Role::run_starts:
    return of(&IndexTables::run_starts);
  case Role::run_permutations:
    return of(&IndexTables::run_permutations);
  case Role::permutations:
    return of(&IndexTables::permutations);
  case Role::interior_starts:
    return of(&IndexTables::interior_starts);
  case Role::interior_strides:
    return of(&IndexTables::interior_strides);
  case Role::first_touch:
    return of(&IndexTables::first_touch);
  case Role::pattern_numbers:
    return of(&IndexTables::pattern_numbers);
  case Role::patterns:
    return of(&IndexTables::patterns);
  case Role::patch_starts:
    return of(&IndexTables::patch_starts);
  case Role::patch_numbers:
    return of(&IndexTables::patch_numbers);
  case Role::patch_patterns:
    return of(&IndexTables::patch_patterns);
  default: // of other programs
    break;
  }
  throw base::InternalError("kernel argument " + argument.name + " has no role");
}

Buffer* BoundKernel::table(const schedule::LoopBuffer& argument, Tables& tables) {
  const auto index = static_cast<std::size_t>(argument.index);
  switch (argument.role) {
  case Role::num_active:
    return num_active_.device_read();
  case Role::data_rows:
    return data_rows_.device_read();
  case Role::map:
    return map_.device_read();
  case Role::nodes:
    return nodes_.device_read();
  case Role::cell_coefficients:
    return cell_coefficients_.device_read();
  case Role::stored_point:
    return stored_point_.buffer(argument);
  case Role::stored_cell:
    return stored_cell_.buffer(argument);
  case Role::reference_normal:
    return reference_normal_.device_read();
  case Role::points:
    return points_.buffer(argument);
  case Role::weights:
    return weights_.buffer(argument);
  case Role::matrix:
    return tables.matrices.at(index).buffer(argument);
  case Role::table:
    return tables.values.at(index).device_read();
  default:
    return index_table(argument);
  }
}

void BoundKernel::clear_integral() { std::ranges::fill(integral_.host_overwrite(), 0.0); }

double BoundKernel::integral() const {
  const auto totals = integral_.host_read();
  return std::accumulate(totals.begin(), totals.end(), 0.0);
}

} // namespace rafter::op
