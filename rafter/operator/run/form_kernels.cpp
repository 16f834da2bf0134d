// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/form_kernels.hpp>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/run/bound_kernel.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/free_list.hpp>
#include <rafter/operator/run/ghosts.hpp>
#include <rafter/operator/run/staged_kernels.hpp>
#include <rafter/operator/run/touched_ranges.hpp>
#include <rafter/operator/run/two_pass_sum.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {

namespace {

using device::Array;

schedule::Way way_of(const GeneratedBlock& block) { return schedule::way_of(block.kernel.programs.main.plan); }
bool stores_cells(const GeneratedBlock& block) { return way_of(block) == schedule::Way::cell_vector; }

/// The work of a run in stages, and how many of these, the first ones, are of kernels that store what cells contribute.
/// On whole meshes kernels whose batches may run in any order have one run each, before the others.
std::pair<StagedKernels::Stages, std::size_t> stages_of(const GeneratedForm& form, bool is_distributed) {
  if (is_distributed) return {chunk_stages(form), 0};
  std::vector<BlockChunk> whole;
  std::size_t num_storing = 0;
  for (const bool is_stored : {true, false}) {
    for (std::size_t p = 0; p < form.blocks.size(); ++p)
      if (schedule::may_run_in_any_order(way_of(form.blocks[p])) && stores_cells(form.blocks[p]) == is_stored)
        whole.push_back({p, 0, form.blocks[p].cells.num_batches});
    if (is_stored) num_storing = whole.size();
  }
  return {with_first(whole, chunk_stages(form)), num_storing};
}

/// The entries of the system's vectors to which the cells of a block add what they contribute to one field.
void find_entries(const GeneratedForm& form, const GeneratedBlock& block, int output, std::span<std::int32_t> entries) {
  const auto field = static_cast<std::size_t>(output);
  const auto& space = *form.output_spaces[field];
  const auto offset = static_cast<std::int32_t>(form.system.offset(form.output_fields[field]));
  const auto& cells = block.cells;
  const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
  std::vector<std::int32_t> of_cell(static_cast<std::size_t>(space.element(cells.shape)->num_dofs()) *
                                    static_cast<std::size_t>(space.num_components()));
  std::ranges::fill(entries, -1);
  for (std::int32_t batch = 0; batch < cells.num_batches; ++batch) {
    const auto begin = static_cast<std::size_t>(batch) * cells_per_batch;
    for (std::size_t cell = 0; cell < static_cast<std::size_t>(cells.num_active(batch)); ++cell) {
      const auto position = space.position(cells.group, cells.cells[begin + cell]);
      space.cell_dofs(position.block, position.batch, position.cell, of_cell);
      const auto first = begin * of_cell.size() + cell;
      for (std::size_t k = 0; k < of_cell.size(); ++k) entries[first + k * cells_per_batch] = offset + of_cell[k];
    }
  }
}

/// The vectors in which the kernels of a form store what cells contribute.
std::vector<CellVector> cell_vectors(const GeneratedForm& form) {
  std::vector<CellVector> result;
  for (std::size_t p = 0; p < form.blocks.size(); ++p) {
    const auto& block = form.blocks[p];
    if (!stores_cells(block)) continue;
    for (const auto& output : block.kernel.programs.outputs)
      if (output.num_trials == 0)
        result.push_back(
            {.kernel = p,
             .output = output.field,
             .size = static_cast<std::size_t>(block.cells.num_batches) *
                     static_cast<std::size_t>(block.cells.cells_per_batch * output.components * output.num_tests),
             .find_entries = [&form, &block, field = output.field](std::span<std::int32_t> entries) {
               find_entries(form, block, field, entries);
             }});
  }
  return result;
}

/// Registers the parts of a vector that belong to some fields, in their order.
void add_fields(device::BufferRegistry& run, const char* role, device::Buffer* vector, const System& system,
                std::span<const std::size_t> fields, std::size_t word_bytes) {
  for (std::size_t i = 0; i < fields.size(); ++i)
    run.add(role, static_cast<int>(i), vector, word_bytes * static_cast<std::size_t>(system.offset(fields[i])));
}

} // namespace

class FormKernels::Implementation {
public:
  Implementation(std::shared_ptr<const GeneratedForm> built, std::shared_ptr<FormData> data)
      : built_(std::move(built)), data_(std::move(data)), system_(built_->system), device_(built_->options.device) {
    if (built_->matrix != nullptr) throw base::InternalError("the form is an assembled matrix");
    if (!built_->is_compiled) throw base::InternalError("kernels are compiled before they are bound to data");
    if (data_ == nullptr) data_ = std::make_shared<FormData>(built_->form, device_);
    for (const auto& block : built_->blocks) {
      kernels_.push_back(std::make_unique<BoundKernel>(*built_, block));
      if (data_->has_values()) kernels_.back()->refresh(*data_);
      info_.push_back(kernels_.back()->info());
    }
    const auto [stages, num_storing] = stages_of(*built_, is_distributed());
    num_storing_ = num_storing;
    StagedKernels::Arguments arguments;
    for (const auto& kernel : kernels_) arguments.push_back(kernel->arguments());
    staged_ =
        std::make_unique<const StagedKernels>(device_, std::move(arguments), stages, built_->coefficients.count());
    if (const auto vectors = cell_vectors(*built_); !vectors.empty())
      sum_ = std::make_unique<const TwoPassSum>(device_, vectors, system_.size(), built_->vectors());
    padding_ = system_.padding();
    if (!is_distributed()) return;
    ghosts_ = std::make_shared<const Ghosts>(device_, system_);
    trial_ghosts_ = built_->is_square() ? ghosts_ : std::make_shared<const Ghosts>(device_, built_->trial_system);
    if (built_->vectors() == schedule::Precision::single_precision)
      ghosts_->prepare<float>();
    else
      ghosts_->prepare<double>();
  }

  template <class T> void run(const Array<T>* trial, Array<T>& y, bool adds) {
    check_run(trial, y);
    if (is_distributed()) return run_on_part(trial, y, adds);
    if (sum_ != nullptr) return run_in_two_passes(trial, y, adds);
    const bool is_covered = cells_cover_outputs();
    if (!adds) clear_uncovered(y, padding_, is_covered);
    auto bound = bind_all(trial, &y, adds || !is_covered);
    staged_->run(*bound);
  }
  /// Kernels that add to the vector run behind the sum, which overwrites it.
  template <class T> void run_in_two_passes(const Array<T>* trial, Array<T>& y, bool adds) {
    auto terms = sum_->take();
    if (!adds) (void)y.device_overwrite();
    auto bound = bind_all(trial, &y, true, &terms);
    staged_->run(*bound, 0, num_storing_);
    sum_->run(terms, y.device_write(), adds);
    staged_->run(*bound, num_storing_, staged_->stages().size());
  }

  template <class T> void run(const Array<T>& trial, Array<T>& y, const VectorWork& work) {
    check_run(&trial, y);
    if (!device_->shares_host_memory())
      throw base::InternalError("fused work on vectors needs a device that shares the host's memory");
    if (!built_->is_square()) throw base::InternalError("fused work on vectors needs one system of both functions");
    if (sum_ != nullptr) return run_between(trial, y, work);
    const bool is_covered = cells_cover_outputs();
    const auto& touched = touched_ranges();
    auto run = registered(&trial, &y);
    run.add(schedule::role::chunk_bounds, 0, part_bounds_.device_read());
    auto bound = staged_->bind(run, own_buffers(!is_covered));
    const auto cleared = is_covered ? std::span<T>{} : y.host_write();
    if (!padding_.empty()) clear_padding(y.host_write());
    for (const auto& stage : touched.stages)
      device_->parallel_for(static_cast<std::int64_t>(stage.size()), [&](std::int64_t chunk) {
        const auto& [first, last] = stage[static_cast<std::size_t>(chunk)];
        for (std::int32_t part = first; part <= last; ++part) run_part(*bound, touched, part, cleared, work);
      });
  }

  /// Kernels in two passes leave no part of a vector behind before the others.
  template <class T> void run_between(const Array<T>& trial, Array<T>& y, const VectorWork& work) {
    const auto& touched = touched_ranges();
    const auto call = [&](const VectorWork::Function& function, const auto& ranges) {
      for (std::size_t part = 0; part < touched.parts.size(); ++part)
        if (function && !ranges[part].empty()) function(static_cast<std::int64_t>(part), ranges[part]);
    };
    call(work.before, touched.before);
    run_in_two_passes(&trial, y, false);
    call(work.after, touched.after);
  }

  const TouchedRanges& touched_ranges() {
    const std::lock_guard lock(mutex_);
    if (touched_ranges_ == nullptr) {
      touched_ranges_ = std::make_unique<TouchedRanges>(make_touched_ranges(*built_));
      base::AlignedVector<std::int32_t> bounds;
      for (const auto& part : touched_ranges_->parts) bounds.insert(bounds.end(), {part.batch_begin, part.batch_end});
      part_bounds_ = Array<std::int32_t>(device_, std::move(bounds));
    }
    return *touched_ranges_;
  }

  std::vector<double> integrals() {
    const std::lock_guard one_at_a_time(integral_mutex_); // because kernels keep the sums of their batches
    data_->require_values();
    for (auto& kernel : kernels_) kernel->clear_integrals();
    auto bound = bind_all<double>(nullptr, nullptr, true);
    staged_->run(*bound);
    std::vector<double> sums(static_cast<std::size_t>(built_->form.num_values));
    for (const auto& kernel : kernels_) {
      const auto of_kernel = kernel->integrals();
      for (std::size_t value = 0; value < sums.size(); ++value) sums[value] += of_kernel[value];
    }
    if (is_distributed()) system_.mesh->communicator()->sum(sums);
    return sums;
  }

  void cell_matrices(const std::function<void(const CellMatrices&)>& visit, const WantsBatches& wants) {
    if (built_->purpose != Purpose::matrix) throw base::InternalError("the kernels are not those of cell matrices");
    data_->require_values();
    MatrixWorkSizes sizes;
    for (const auto& kernel : kernels_) kernel->enlarge(sizes);
    FreeList<MatrixWork> all_work;
    const auto without_work = registered<double>(nullptr, nullptr);
    for (const auto& stage : staged_->stages())
      device_->parallel_for(static_cast<std::int64_t>(stage.size()), [&](std::int64_t c) {
        const auto& chunk = stage[static_cast<std::size_t>(c)];
        auto& kernel = *kernels_[chunk.block];
        const std::int32_t step = kernel.num_records();
        auto work = all_work.take([&] { return MatrixWork(device_, sizes); });
        auto run = without_work;
        work->add_to(run);
        const auto arguments = staged_->bind_one(chunk.block, run, own_buffers(false));
        for (std::int32_t begin = chunk.batch_begin, end = begin; begin < chunk.batch_end; begin = end) {
          end = std::min(chunk.batch_end, (begin / step + 1) * step);
          if (wants && !wants(chunk.block, begin, end)) continue;
          auto matrices = kernel.cell_matrices(arguments, begin, end, *work);
          matrices.block = chunk.block;
          visit(matrices);
        }
      });
  }

  void refresh() {
    const std::lock_guard lock(mutex_);
    data_->require_values();
    for (auto& kernel : kernels_) kernel->refresh(*data_);
  }
  int num_setups() const {
    const std::lock_guard lock(mutex_);
    int result = 0;
    for (const auto& kernel : kernels_) result += kernel->num_setups();
    return result;
  }

  const GeneratedForm& built() const { return *built_; }
  FormData& data() const { return *data_; }
  const std::vector<KernelInfo>& info() const { return info_; }
  const std::shared_ptr<device::Device>& device() const { return device_; }

  machine::Counts counts() const {
    machine::Counts total;
    for (const auto& kernel : kernels_) {
      total += kernel->info().counts;
      total += kernel->least_local_traffic();
    }
    total.global_bytes_read += built_->input_bytes();
    total.global_bytes_written += built_->output_bytes();
    return total;
  }

private:
  template <class T> void check_run(const Array<T>* trial, const Array<T>& y) const {
    if (sizeof(T) != static_cast<std::size_t>(built_->word_bytes()))
      throw base::InternalError("the vectors have another precision than those of the kernels");
    check_size(system_, y, "the output vector");
    if (trial != nullptr) check_size(built_->trial_system, *trial, "the input vector");
    data_->require_values();
    if (trial == &y) throw base::InputError("input and output are the same vector");
  }
  template <class T> void clear_padding(std::span<T> y) const {
    for (const auto entry : padding_) y[static_cast<std::size_t>(entry)] = 0;
  }
  /// Registers what kernels read and write in a run. Each field has a buffer of its own: its part of the vector of the
  /// system. What is stored of data that have changed is computed first.
  template <class T> device::BufferRegistry registered(const Array<T>* trial, Array<T>* y) {
    device::BufferRegistry run;
    {
      const std::lock_guard lock(mutex_);
      for (auto& kernel : kernels_) kernel->refresh(*data_);
      data_->add_to(run, built_->num_trials());
    }
    if (trial != nullptr)
      add_fields(run, schedule::role::input_vector, trial->device_read(), built_->trial_system, built_->input_fields,
                 sizeof(T));
    if (y != nullptr)
      add_fields(run, schedule::role::output_vector, y->device_write(), system_, built_->output_fields, sizeof(T));
    return run;
  }
  /// Registers what one kernel alone takes. Kernels of facets run after those of cells and always add to the output.
  StagedKernels::OwnBuffers own_buffers(bool cells_add, TwoPassSum::Terms* terms = nullptr) {
    return [=, this](std::size_t kernel, device::BufferRegistry& own) {
      own.add(schedule::role::mode, 0, staged_->mode(cells_add || kernel >= built_->num_cell_blocks));
      kernels_[kernel]->add_integrals(own);
      if (terms != nullptr) sum_->add_to(own, kernel, *terms);
    };
  }
  template <class T>
  StagedKernels::Run bind_all(const Array<T>* trial, Array<T>* y, bool cells_add, TwoPassSum::Terms* terms = nullptr) {
    return staged_->bind(registered(trial, y), own_buffers(cells_add, terms));
  }
  /// Says whether a run takes part in exchanges with other processes. Kernels of one block alone are timed by this
  /// process, whether others have such a block or not.
  bool is_distributed() const { return system_.mesh->distribution != nullptr && built_->only_block < 0; }
  /// Runs the kernels on a part of a mesh. Cells inside of the part run while the ghosts of x are under way, then the
  /// others; what these add to ghosts of y goes to the owners.
  template <class T> void run_on_part(const Array<T>* trial, Array<T>& y, bool adds) {
    refresh(); // it may throw, which it must not do while messages are under way
    auto pending = trial != nullptr ? trial_ghosts_->start_update(*trial) : Ghosts::Pending<T>();
    const bool is_covered = cells_cover_outputs();
    if (!adds) clear_uncovered(y, padding_, is_covered);
    ghosts_->clear(y, !adds);
    std::optional<TwoPassSum::Terms> terms;
    if (sum_ != nullptr) terms.emplace(sum_->take());
    auto bound = bind_all(trial, &y, adds || !is_covered, terms ? &*terms : nullptr);
    const std::size_t num_interior = built_->num_cell_blocks > 0 ? system_.batches->num_interior_stages : 0;
    staged_->run(*bound, 0, num_interior);
    trial_ghosts_->finish_update(std::move(pending));
    staged_->run(*bound, num_interior, staged_->stages().size());
    if (sum_ != nullptr) sum_->run(*terms, y.device_write(), true);
    ghosts_->add_to_owners(y);
  }
  /// Runs a part with the work fused into it. `cleared` is the output vector where kernels add to entries that they do
  /// not clear; else empty.
  template <class T>
  void run_part(const StagedKernels::Arguments& arguments, const TouchedRanges& touched, std::int32_t number,
                std::span<T> cleared, const VectorWork& work) const {
    const auto index = static_cast<std::size_t>(number);
    const ChunkPart& part = touched.parts[index];
    const auto before = touched.before[index], after = touched.after[index];
    if (work.before && !before.empty()) work.before(number, before);
    if (!cleared.empty())
      for (const auto& range : before) std::fill(cleared.begin() + range.begin, cleared.begin() + range.end, T(0));
    if (part.batch_begin < part.batch_end) {
      const auto [begin, end] = staged_->reads_bounds(part.block) ? std::pair{2 * number, 2 * number + 2}
                                                                  : std::pair{part.batch_begin, part.batch_end};
      const device::Task batches = arguments[part.block].task(begin, end);
      device_->run(std::span(&batches, 1));
    }
    if (work.after && !after.empty()) work.after(number, after);
  }
  /// Says whether the cell kernels store every entry of the output vector, so that nothing needs to be cleared before
  /// them.
  bool cells_cover_outputs() const {
    if (built_->num_cell_blocks == 0) return false;
    for (std::size_t p = 0; p < built_->num_cell_blocks; ++p) {
      if (way_of(built_->blocks[p]) != schedule::Way::first_touch) return false;
      std::set<std::size_t> covered;
      for (const auto& output : built_->blocks[p].kernel.programs.outputs)
        covered.insert(built_->output_fields[static_cast<std::size_t>(output.field)]);
      if (covered.size() < system_.spaces.size()) return false;
    }
    return true;
  }

  std::shared_ptr<const GeneratedForm> built_;
  std::shared_ptr<FormData> data_;
  const System& system_;
  std::shared_ptr<device::Device> device_;
  std::vector<std::unique_ptr<BoundKernel>> kernels_; ///< shape (block), in the order of built_->blocks
  std::vector<KernelInfo> info_;
  std::unique_ptr<const StagedKernels> staged_; ///< the same kernels
  std::size_t num_storing_ = 0; ///< number of stages, the first ones, whose kernels store what cells contribute
  std::unique_ptr<const TwoPassSum> sum_; ///< sum of what kernels store; null: none does
  std::vector<std::int32_t> padding_;     ///< entries of the output vector that are no unknowns, which runs set to 0
  std::shared_ptr<const Ghosts> ghosts_, trial_ghosts_; ///< those of y and of x; null: the mesh is whole
  std::unique_ptr<const TouchedRanges> touched_ranges_; ///< made on first use
  Array<std::int32_t> part_bounds_;                     ///< table of its parts, in the place of that of chunks
  mutable std::mutex mutex_; ///< guards what kernels have stored and what is made on first use
  std::mutex integral_mutex_;
};

FormKernels::FormKernels(std::shared_ptr<const GeneratedForm> built, std::shared_ptr<FormData> data)
    : implementation_(std::make_unique<Implementation>(std::move(built), std::move(data))) {}
FormKernels::~FormKernels() = default;
FormKernels::FormKernels(FormKernels&&) noexcept = default;
FormKernels& FormKernels::operator=(FormKernels&&) noexcept = default;

void FormKernels::run(const Vector* trial, Vector& y, bool adds) const { implementation_->run(trial, y, adds); }
void FormKernels::run(const SingleVector& trial, SingleVector& y, bool adds) const {
  implementation_->run(&trial, y, adds);
}
void FormKernels::run(const Vector& trial, Vector& y, const VectorWork& work) const {
  implementation_->run(trial, y, work);
}
void FormKernels::run(const SingleVector& trial, SingleVector& y, const VectorWork& work) const {
  implementation_->run(trial, y, work);
}
const TouchedRanges& FormKernels::touched_ranges() const { return implementation_->touched_ranges(); }
void FormKernels::cell_matrices(const std::function<void(const CellMatrices&)>& visit,
                                const WantsBatches& wants) const {
  implementation_->cell_matrices(visit, wants);
}
std::vector<double> FormKernels::integrals() const { return implementation_->integrals(); }
const GeneratedForm& FormKernels::built() const { return implementation_->built(); }
FormData& FormKernels::data() const { return implementation_->data(); }
void FormKernels::refresh() const { implementation_->refresh(); }
int FormKernels::num_setups() const { return implementation_->num_setups(); }
const std::vector<KernelInfo>& FormKernels::info() const { return implementation_->info(); }
machine::Counts FormKernels::counts() const { return implementation_->counts(); }
const std::shared_ptr<device::Device>& FormKernels::device() const { return implementation_->device(); }

} // namespace rafter::op
