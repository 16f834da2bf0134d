// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/form_kernels.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/form_builder.hpp>
#include <rafter/operator/touched_ranges.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/least_traffic.hpp>

namespace rafter::op {

namespace {

using device::Array;
using device::Buffer;
using schedule::Role;

using Integers = Array<std::int32_t>;
using Reals = Array<double>;

/// Index tables of one space on one block, as kernels take them.
struct SpaceTables {
  Integers run_starts, run_permutations, permutations, interior_starts, interior_strides, first_touch, patch_starts,
      patch_numbers, patch_patterns, pattern_numbers, patterns;
};

/// Numbers as kernels take them, in double precision or in single precision or, where kernels differ, in both.
struct Numbers {
  Numbers() = default;
  /// Zeros.
  Numbers(const std::shared_ptr<device::Device>& device, std::size_t size, schedule::Precision precision)
      : reals(device, precision == schedule::Precision::double_precision ? size : 0),
        singles(device, precision == schedule::Precision::double_precision ? 0 : size) {}
  /// The values in both.
  Numbers(const std::shared_ptr<device::Device>& device, std::span<const double> values)
      : reals(device, base::AlignedVector<double>(values.begin(), values.end())),
        singles(device, base::AlignedVector<float>(values.begin(), values.end())) {}
  Buffer* buffer(const schedule::LoopBuffer& argument) {
    const auto of = [&](auto& array) { return argument.is_written ? array.device_write() : array.device_read(); };
    return argument.type == schedule::Type::real32 ? of(singles) : of(reals);
  }
  Reals reals;
  Array<float> singles;
};

/// Tables that kernels of a program take as arguments.
struct KernelTables {
  std::vector<Numbers> matrices;  ///< packed, of the tensor program
  std::vector<Integers> integers; ///< of the loop program, by index
};

/// Where the vectors of a run are; null: not given.
struct Vectors {
  Buffer *trial = nullptr, *fields = nullptr, *y = nullptr;
};

template <class T> Buffer* read_buffer(const Array<T>* vector) {
  return vector == nullptr ? nullptr : vector->device_read();
}

/// A kernel with its data on one block of cells or facets.
struct BoundKernel {
  explicit BoundKernel(const GeneratedBlock& from) : built(from), cells(from.cells), info(from.kernel.info) {}
  const GeneratedBlock& built;
  const BatchedCells& cells;
  KernelInfo info;
  std::shared_ptr<const device::Kernel> kernel;
  std::vector<schedule::LoopBuffer> arguments;
  std::vector<Buffer*> buffers; ///< resolved before each run: vectors change
  std::vector<std::unique_ptr<SpaceTables>> spaces;
  KernelTables tables;
  Reals map, nodes, cell_coefficients, reference_normal, integral;
  Numbers points, weights, stored_point, stored_cell;
  Integers num_active, data_rows;
};

/// Numbers behind the last point: kernels with points in lanes read whole vectors.
constexpr std::size_t vector_room = 16;

template <class T, class Source>
Array<T> to_array(const std::shared_ptr<device::Device>& device, const Source& source) {
  return Array<T>(device, base::AlignedVector<T>(source.begin(), source.end()));
}

} // namespace

std::int64_t System::offset(std::size_t field) const {
  std::int64_t result = 0;
  for (std::size_t f = 0; f < field && !has_own_vectors; ++f) result += spaces[f]->num_local();
  return result;
}

std::int64_t System::size() const {
  std::int64_t result = 0;
  for (const auto& space : spaces) result += space->num_local();
  return result;
}

std::size_t System::index_of(const form::FieldSpace& space) const {
  for (std::size_t f = 0; f < spaces.size(); ++f)
    if (spaces[f].get() == &space) return f;
  throw base::InputError("the form uses field '" + space.name + "', which is not a field of this system");
}

System make_system(std::vector<std::shared_ptr<const space::FunctionSpace>> spaces) {
  if (spaces.empty()) throw base::InputError("a system needs at least one function space");
  System system{spaces.front()->mesh_ptr(), spaces.front()->batches_ptr(), std::move(spaces)};
  for (const auto& space : system.spaces)
    if (space->mesh_ptr() != system.mesh || space->batches_ptr() != system.batches)
      throw base::InputError("the fields of a system must share one mesh and its batches; '" + space->name +
                             "' does not");
  if (system.size() >= std::int64_t{1} << 31)
    throw base::InputError(
        fmt::format("the system has {} local unknowns; a process holds at most 2147483647", system.size()));
  return system;
}

void check_size(const System& system, std::size_t size, const char* what) { check_size(system.size(), size, what); }
void check_size(std::int64_t expected, std::size_t size, const char* what) {
  if (static_cast<std::int64_t>(size) != expected)
    throw base::InputError(fmt::format("{} has {} entries, the system has {}", what, size, expected));
}

class FormKernels::Implementation {
public:
  explicit Implementation(std::shared_ptr<const GeneratedForm> built)
      : built_(std::move(built)), form_(built_->form), system_(built_->system), device_(built_->options.device),
        parameters_(device_, parameter_values(form_)), overwrite_(device_, mode(0)), add_(device_, mode(1)) {
    if (built_->matrix != nullptr) throw base::InternalError("the form is an assembled matrix");
    if (!built_->is_compiled) throw base::InternalError("kernels are compiled before they are bound to data");
    for (const auto& piece : built_->pieces) add_piece(piece);
    stages_ = chunk_stages(*built_);
  }

  template <class T> void run(const Array<T>* trial, const Vector* fields, Array<T>& y, bool adds) {
    require_vectors_of(sizeof(T));
    check_size(built_->output_size(), y.size(), "the output vector");
    check_inputs(trial, fields);
    const void* output = &y;
    if (output == trial || output == fields) throw base::InputError("input and output are the same vector");
    const bool is_covered = cells_cover_outputs();
    if (!adds && !is_covered) {
      const auto values = y.host_overwrite();
      std::fill(values.begin(), values.end(), T(0));
    }
    bind_all({read_buffer(trial), read_buffer(fields), y.device_write()}, adds || !is_covered);
    run_stages();
  }

  void run(const Vector& trial, Vector& y, const VectorWork& work) {
    require_vectors_of(sizeof(double));
    check_size(system_, y, "the output vector");
    check_inputs(&trial, nullptr);
    if (&y == &trial) throw base::InputError("input and output are the same vector");
    if (!device_->shares_host_memory())
      throw base::InternalError("fused work on vectors needs a device that shares the host's memory");
    const bool is_covered = cells_cover_outputs();
    bind_all({trial.device_read(), nullptr, y.device_write()}, !is_covered);
    const auto cleared = is_covered ? std::span<double>{} : y.host_write();
    const auto& touched = touched_ranges();
    for (const auto& stage : touched.stages)
      device_->parallel_for(static_cast<std::int64_t>(stage.size()), [&](std::int64_t chunk) {
        const auto& [first, last] = stage[static_cast<std::size_t>(chunk)];
        for (std::int32_t part = first; part <= last; ++part) run_part(touched, part, cleared, work);
      });
  }

  const TouchedRanges& touched_ranges() {
    if (touched_ranges_ == nullptr) touched_ranges_ = std::make_unique<TouchedRanges>(make_touched_ranges(*built_));
    return *touched_ranges_;
  }

  double integral(const Vector* fields) {
    check_inputs<double>(nullptr, fields);
    for (auto& piece : pieces_) {
      const auto totals = piece->integral.host_overwrite();
      std::fill(totals.begin(), totals.end(), 0.0);
    }
    bind_all({nullptr, read_buffer(fields), nullptr}, true);
    run_stages();
    double sum = 0;
    for (const auto& piece : pieces_)
      for (const double value : piece->integral.host_read()) sum += value;
    return sum;
  }

  const std::vector<KernelInfo>& info() const { return info_; }
  const std::shared_ptr<device::Device>& device() const { return device_; }

  machine::Counts counts() const {
    machine::Counts total;
    for (const auto& piece : pieces_) {
      total += piece->info.counts;
      total += least_local_traffic(*piece);
    }
    total.global_bytes_read += built_->input_bytes();
    total.global_bytes_written += built_->output_bytes();
    return total;
  }

private:
  void require_vectors_of(std::size_t word_bytes) const {
    if (word_bytes != static_cast<std::size_t>(built_->word_bytes()))
      throw base::InternalError("the vectors have another precision than those of the kernels");
  }
  template <class T> void check_inputs(const Array<T>* trial, const Vector* fields) const {
    if (trial != nullptr) check_size(built_->trial_size(), trial->size(), "the input vector");
    if (form_.fields.empty()) return;
    if (fields == nullptr)
      throw base::InputError(fmt::format("the form has coefficient fields ({}), whose values are not given",
                                         base::join(form_.field_names, ", ")));
    check_size(built_->fields_size(), fields->size(), "the vector of the fields");
  }
  base::AlignedVector<std::int32_t> mode(int adds) const { return {adds, built_->coefficients.count()}; }

  // --- data
  // -----------------------------------------------------------------------------------------------------------
  void add_piece(const GeneratedBlock& built) {
    auto piece = std::make_unique<BoundKernel>(built);
    for (std::size_t i = 0; i < built.fields.size(); ++i) piece->spaces.push_back(make_tables(built, i));
    fill_data(*piece);
    count(*piece);
    piece->kernel = built.program->kernel(built.kernel.loops.name);
    piece->arguments = built.kernel.loops.arguments();
    if (built.setup_program != nullptr) setup(*piece);
    info_.push_back(piece->info);
    pieces_.push_back(std::move(piece));
  }

  /// Tables of the i-th field of a piece as numbers of the system: every start is moved by the field's offset.
  std::unique_ptr<SpaceTables> make_tables(const GeneratedBlock& piece, std::size_t i) const {
    const auto offset = static_cast<std::int32_t>(system_.offset(piece.fields[i]));
    const auto moved = [&](const auto& starts) {
      base::AlignedVector<std::int32_t> result(starts.begin(), starts.end());
      for (auto& start : result) start += offset;
      return Integers(device_, std::move(result));
    };
    auto tables = std::make_unique<SpaceTables>();
    if (piece.block < 0) {
      const auto& dofs = *piece.facet_dofs[i];
      tables->run_starts = moved(dofs.run_starts);
      tables->run_permutations = to_array<std::int32_t>(device_, dofs.run_permutations);
      tables->permutations = to_array<std::int32_t>(device_, dofs.layout.permutations);
      tables->interior_starts = moved(dofs.interior_starts);
      tables->interior_strides = to_array<std::int32_t>(device_, dofs.interior_strides);
      return tables;
    }
    const auto& dofs = system_.spaces[piece.fields[i]]->block(piece.block);
    tables->run_starts = moved(dofs.run_starts);
    tables->run_permutations = to_array<std::int32_t>(device_, dofs.run_permutations);
    tables->permutations = to_array<std::int32_t>(device_, dofs.layout.permutations);
    tables->interior_starts = moved(dofs.interior_starts);
    // what is added to later: the touched range without the interior run, which is stored
    base::AlignedVector<std::int32_t> shared(dofs.first_touch.begin(), dofs.first_touch.end());
    if (!dofs.layout.interior_dofs.empty())
      for (std::size_t b = 0; b < dofs.interior_starts.size(); ++b) shared[2 * b + 1] = dofs.interior_starts[b];
    tables->first_touch = moved(shared);
    tables->pattern_numbers = to_array<std::int32_t>(device_, dofs.pattern_numbers);
    tables->patterns = to_array<std::int32_t>(device_, dofs.patterns);
    tables->patch_starts = moved(dofs.patch_starts);
    tables->patch_numbers = to_array<std::int32_t>(device_, dofs.patch_numbers);
    tables->patch_patterns = to_array<std::int32_t>(device_, dofs.patch_patterns);
    return tables;
  }

  void fill_data(BoundKernel& piece) {
    const auto& mesh = *system_.mesh;
    const auto& cells = piece.cells;
    piece.num_active = Integers(device_, active_counts(cells));
    piece.data_rows = to_array<std::int32_t>(device_, piece.built.rows.of_batch);
    const auto representatives = piece.built.rows.representatives(cells);
    if (cells.map == mesh::MapKind::isoparametric)
      piece.nodes = Reals(device_, geometry_nodes(mesh, representatives));
    else
      piece.map = Reals(device_, map_coefficients(mesh, representatives));
    piece.cell_coefficients = Reals(device_, built_->coefficients.values(representatives));
    const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
    const auto batches = static_cast<std::size_t>(cells.num_batches);
    const auto& program = piece.built.kernel.program;
    const auto storage = piece.info.plan.storage;
    const auto stored = stored_numbers(piece.built);
    piece.stored_point = Numbers(device_, stored.at_points == 0 ? 0 : stored.at_points + vector_room, storage);
    piece.stored_cell = Numbers(device_, stored.per_cell, storage);
    piece.integral = Reals(device_, form_.rank == 0 ? batches * cells_per_batch : 0);
    piece.points = Numbers(device_, program.points);
    auto weights = program.weights;
    weights.resize(weights.size() + vector_room);
    piece.weights = Numbers(device_, weights);
    if (cells.local_facet >= 0)
      piece.reference_normal = to_array<double>(device_, element::reference_normal(cells.shape, cells.local_facet));
    piece.tables = tables(program, piece.built.kernel.loops, piece.info.plan);
  }
  KernelTables tables(const kernel::TensorProgram& program, const schedule::LoopProgram& loops,
                      const schedule::Plan& plan) const {
    KernelTables result;
    for (const auto& matrix : program.matrices) {
      const auto table = matrix.is_data ? schedule::packed_table(matrix, plan) : std::vector<double>{};
      result.matrices.push_back(Numbers(device_, table));
    }
    for (const auto& argument : loops.arguments())
      if (argument.role == Role::table) result.integers.push_back(to_array<std::int32_t>(device_, argument.values));
    return result;
  }

  /// What a run clears: entries that a batch is the first to touch, of which the program's count knows one per batch.
  double uncounted_clearing_bytes(const BoundKernel& piece) const {
    if (piece.built.block < 0) return 0;
    double entries = 0;
    for (const auto& use : piece.built.kernel.program.outputs) {
      const auto field = built_->output_fields[static_cast<std::size_t>(use.index)];
      const auto place = std::ranges::find(piece.built.fields, field) - piece.built.fields.begin();
      const auto touched = piece.spaces[static_cast<std::size_t>(place)]->first_touch.host_read();
      for (std::size_t b = 0; b + 1 < touched.size(); b += 2) entries += touched[b + 1] - touched[b] - 1;
    }
    return entries * built_->word_bytes();
  }

  /// How often the loop program of a block runs, and what a run would move for lanes without a cell, which write
  /// nothing.
  struct Runs {
    double complete = 0, idle = 0;
  };
  static Runs runs(const BoundKernel& piece) {
    const double cells = static_cast<double>(piece.info.num_cells),
                 batches = static_cast<double>(piece.info.num_batches);
    if (piece.built.kernel.loops.vector_width == 1) return {.complete = cells}; // such programs loop over the cells
    return {.complete = batches, .idle = batches - cells / piece.cells.cells_per_batch};
  }

  /// Executed and effective operations, bytes of the nearest cache, and compulsory bytes besides the vectors.
  void count(BoundKernel& piece) const {
    const auto& built = piece.built.kernel;
    auto& counts = piece.info.counts;
    const auto executed = schedule::count(built.loops);
    const auto [complete, idle] = runs(piece);
    counts.flops = executed.flops * complete;
    counts.operations = executed.operations * complete;
    counts.single_flops = executed.single_flops * complete;
    counts.single_operations = executed.single_operations * complete;
    counts.local_bytes_read = executed.local.read_bytes * complete - executed.masked.read_bytes * idle;
    counts.local_bytes_written = executed.local.written_bytes * complete - executed.masked.written_bytes * idle +
                                 uncounted_clearing_bytes(piece);
    counts.effective_flops = kernel::count_flops(built.program) * static_cast<double>(piece.info.num_cells);
    counts.global_bytes_read = built.data_bytes * static_cast<double>(piece.info.num_batches);
  }

  /// Bytes of the nearest cache that no use of registers avoids. Tracing the accesses of a large kernel takes longer
  /// than the rest of its set-up, and only reports ask for them: they are counted then.
  machine::Counts least_local_traffic(const BoundKernel& piece) const {
    const auto least = schedule::least_traffic(schedule::access_trace(piece.built.kernel.loops));
    const auto [complete, idle] = runs(piece);
    return {.least_local_bytes_read = least.all.read_bytes * complete - least.masked.read_bytes * idle,
            .least_local_bytes_written = least.all.written_bytes * complete - least.masked.written_bytes * idle +
                                         uncounted_clearing_bytes(piece)};
  }

  /// Computes what the cut stores: row after row.
  void setup(BoundKernel& piece) {
    const auto& built = piece.built.kernel;
    const auto kernel = piece.built.setup_program->kernel(built.setup_loops.name);
    auto own = tables(built.setup_program, built.setup_loops, piece.info.plan);
    base::AlignedVector<std::int32_t> numbers(static_cast<std::size_t>(piece.built.rows.count()));
    std::iota(numbers.begin(), numbers.end(), 0);
    const Integers row_of_row(device_, std::move(numbers));
    std::vector<Buffer*> buffers;
    for (const auto& argument : built.setup_loops.arguments())
      buffers.push_back(argument.role == Role::data_rows ? row_of_row.device_read()
                                                         : buffer(piece, argument, own, {}, overwrite_));
    const device::Task task{kernel.get(), buffers, 0, piece.built.rows.count()};
    // one range per thread: rows are disjoint
    std::vector<device::Task> tasks;
    const std::int64_t parts = std::max(1, device_->num_threads());
    for (std::int64_t p = 0; p < parts; ++p) {
      device::Task part = task;
      part.begin = task.end * p / parts;
      part.end = task.end * (p + 1) / parts;
      tasks.push_back(part);
    }
    device_->run(tasks)->wait();
  }

  // --- running
  // --------------------------------------------------------------------------------------------------------
  Buffer* buffer(BoundKernel& piece, const schedule::LoopBuffer& argument, KernelTables& tables, const Vectors& vectors,
                 const Integers& mode) const {
    const auto index = static_cast<std::size_t>(argument.index);
    switch (argument.role) {
    case Role::mode:
      return mode.device_read();
    case Role::parameters:
      return parameters_.device_read();
    case Role::input_vector:
      return input(argument.index == schedule::trial_vector ? vectors.trial : vectors.fields);
    case Role::output_vector:
      return output(vectors.y);
    case Role::run_starts:
      return piece.spaces[index]->run_starts.device_read();
    case Role::run_permutations:
      return piece.spaces[index]->run_permutations.device_read();
    case Role::permutations:
      return piece.spaces[index]->permutations.device_read();
    case Role::interior_starts:
      return piece.spaces[index]->interior_starts.device_read();
    case Role::interior_strides:
      return piece.spaces[index]->interior_strides.device_read();
    case Role::first_touch:
      return piece.spaces[index]->first_touch.device_read();
    case Role::pattern_numbers:
      return piece.spaces[index]->pattern_numbers.device_read();
    case Role::patterns:
      return piece.spaces[index]->patterns.device_read();
    case Role::patch_starts:
      return piece.spaces[index]->patch_starts.device_read();
    case Role::patch_numbers:
      return piece.spaces[index]->patch_numbers.device_read();
    case Role::patch_patterns:
      return piece.spaces[index]->patch_patterns.device_read();
    case Role::num_active:
      return piece.num_active.device_read();
    case Role::data_rows:
      return piece.data_rows.device_read();
    case Role::map:
      return piece.map.device_read();
    case Role::nodes:
      return piece.nodes.device_read();
    case Role::cell_coefficients:
      return piece.cell_coefficients.device_read();
    case Role::stored_point:
      return piece.stored_point.buffer(argument);
    case Role::stored_cell:
      return piece.stored_cell.buffer(argument);
    case Role::reference_normal:
      return piece.reference_normal.device_read();
    case Role::points:
      return piece.points.buffer(argument);
    case Role::weights:
      return piece.weights.buffer(argument);
    case Role::matrix:
      return tables.matrices.at(index).buffer(argument);
    case Role::table:
      return tables.integers.at(index).device_read();
    case Role::integral:
      return piece.integral.device_write();
    default: // of other programs
      break;
    }
    throw base::InternalError("kernel argument " + argument.name + " has no role");
  }
  static Buffer* output(Buffer* y) {
    if (y == nullptr) throw base::InternalError("a functional writes no vector");
    return y;
  }
  static Buffer* input(Buffer* given) {
    if (given == nullptr) throw base::InputError("the form needs values of its fields: none were given");
    return given;
  }

  void bind(BoundKernel& piece, const Vectors& vectors, const Integers& mode) const {
    piece.buffers.clear();
    for (const auto& argument : piece.arguments)
      piece.buffers.push_back(buffer(piece, argument, piece.tables, vectors, mode));
  }
  /// Facets come after the cells and add.
  void bind_all(const Vectors& vectors, bool cells_add) {
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      bind(*pieces_[p], vectors, cells_add || p >= built_->num_cell_pieces ? add_ : overwrite_);
  }
  device::Task task(std::size_t piece, std::int32_t begin, std::int32_t end) const {
    return {pieces_[piece]->kernel.get(), pieces_[piece]->buffers, begin, end};
  }
  void run_stages() const {
    std::vector<device::Task> tasks;
    for (const auto& stage : stages_) {
      tasks.clear();
      for (const auto& chunk : stage) tasks.push_back(task(chunk.piece, chunk.batch_begin, chunk.batch_end));
      device_->run(tasks)->wait();
    }
  }
  /// Runs a part with the work fused into it. `cleared` is the output vector where kernels do not store all of it.
  void run_part(const TouchedRanges& touched, std::int32_t number, std::span<double> cleared,
                const VectorWork& work) const {
    const auto index = static_cast<std::size_t>(number);
    const ChunkPart& part = touched.parts[index];
    const auto before = touched.before[index], after = touched.after[index];
    if (work.before && !before.empty()) work.before(number, before);
    if (!cleared.empty())
      for (const auto& range : before) std::fill(cleared.begin() + range.begin, cleared.begin() + range.end, 0.0);
    if (part.batch_begin < part.batch_end) {
      const device::Task batches = task(part.piece, part.batch_begin, part.batch_end);
      device_->run(std::span(&batches, 1))->wait();
    }
    if (work.after && !after.empty()) work.after(number, after);
  }
  /// True when the cell kernels store every entry of the output vector.
  bool cells_cover_outputs() const {
    if (built_->num_cell_pieces == 0) return false;
    std::set<std::size_t> no_outputs;
    for (std::size_t f = 0; f < system_.spaces.size(); ++f)
      if (!system_.has_own_vectors && built_->is_coefficient_alone(f)) no_outputs.insert(f);
    for (std::size_t p = 0; p < built_->num_cell_pieces; ++p) {
      auto covered = no_outputs;
      for (const auto& use : pieces_[p]->built.kernel.program.outputs)
        covered.insert(built_->output_fields[static_cast<std::size_t>(use.index)]);
      if (covered.size() < (system_.has_own_vectors ? 1 : system_.spaces.size())) return false;
    }
    return true;
  }

  std::shared_ptr<const GeneratedForm> built_;
  const form::LoweredForm& form_;
  const System& system_;
  std::shared_ptr<device::Device> device_;
  Reals parameters_;
  Integers overwrite_, add_;
  std::vector<std::unique_ptr<BoundKernel>> pieces_; ///< as built_->pieces
  std::vector<KernelInfo> info_;
  std::vector<std::vector<BlockChunk>> stages_;
  std::unique_ptr<const TouchedRanges> touched_ranges_; ///< made on first use
};

FormKernels::FormKernels(std::shared_ptr<const GeneratedForm> built)
    : implementation_(std::make_unique<Implementation>(std::move(built))) {}
FormKernels::~FormKernels() = default;
FormKernels::FormKernels(FormKernels&&) noexcept = default;
FormKernels& FormKernels::operator=(FormKernels&&) noexcept = default;

void FormKernels::run(const Vector* trial, const Vector* fields, Vector& y, bool adds) const {
  implementation_->run(trial, fields, y, adds);
}
void FormKernels::run(const SingleVector& trial, SingleVector& y, bool adds) const {
  implementation_->run(&trial, nullptr, y, adds);
}
void FormKernels::run(const Vector& trial, Vector& y, const VectorWork& work) const {
  implementation_->run(trial, y, work);
}
const TouchedRanges& FormKernels::touched_ranges() const { return implementation_->touched_ranges(); }
double FormKernels::integral(const Vector* fields) const { return implementation_->integral(fields); }
const std::vector<KernelInfo>& FormKernels::info() const { return implementation_->info(); }
machine::Counts FormKernels::counts() const { return implementation_->counts(); }
const std::shared_ptr<device::Device>& FormKernels::device() const { return implementation_->device(); }

} // namespace rafter::op
