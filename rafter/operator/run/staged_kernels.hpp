// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <rafter/device/array.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/run/free_list.hpp>
#include <rafter/operator/run/kernel_arguments.hpp>

/// Runs compiled kernels on a device, stage by stage.
namespace rafter::op {

/// Compiles a kernel that takes no choice of compiler or flags.
std::shared_ptr<const device::Kernel> compiled(device::Device& device, const schedule::LoopProgram& loops);

/// Kernels that run in stages: those of forms, of their set-up, of transfers, of sums in two passes, of products.
///
///     once           text, compiled ────> kernel, with the arguments that stay (KernelArguments)
///                    stages of chunks ──> stages of launches, and the table of chunks that some kernels read
///     for each run   vectors, mode ─────> arguments of all kernels, which belong to this run while it lasts
///                    stage by stage ────> tasks of all launches of a stage, given to the device at once
///
/// Kernels that run at the same time are one stage; a stage begins when the one before has ended, which the device sees
/// to. Nobody waits here: on a device with memory of its own a run is queued, and who reads the vectors on the host
/// waits for it (device::Array). Several threads may run the same kernels at the same time on vectors of their own.
class StagedKernels {
public:
  /// Shape (stage, chunk); a chunk names its kernel by number.
  using Stages = std::vector<std::vector<BlockChunk>>;
  /// Arguments of one run, shape (kernel).
  using Arguments = std::vector<KernelArguments>;
  using Run = FreeList<Arguments>::Loan;
  /// Registers what one kernel alone reads and writes in a run, its mode included.
  using OwnBuffers = std::function<void(std::size_t kernel, device::BufferRegistry& own)>;

  /// `kernels` hold the arguments that stay. `count` is what they read behind the
  /// choice of mode: how many numbers a cell has, or rows a matrix. Kernels that read
  /// a table of chunks (schedule::role::chunk_bounds) get one, and one launch for all of their chunks in a stage.
  StagedKernels(std::shared_ptr<device::Device> device, Arguments kernels, const Stages& stages,
                std::int32_t count = 0);

  const Stages& stages() const { return stages_; } ///< shape (stage, launch)
  /// Says whether the launches of a kernel are over entries of the table of chunks, and not over batches.
  bool reads_bounds(std::size_t kernel) const { return kernels_[kernel].binds(schedule::role::chunk_bounds); }
  /// The mode of kernels that add to their output or overwrite it, {adds ? 1 : 0, count}.
  device::Buffer* mode(bool adds) const { return (adds ? add_ : overwrite_).device_read(); }

  /// Binds the arguments of a run. What `run` registers is for all kernels, and goes before what is their own and
  /// before the table of chunks.
  Run bind(const device::BufferRegistry& run, const OwnBuffers& own) const;
  /// Binds the arguments of one kernel alone.
  KernelArguments bind_one(std::size_t kernel, const device::BufferRegistry& run, const OwnBuffers& own) const;

  /// Runs stages begin .. end - 1.
  void run(const Arguments& arguments, std::size_t begin, std::size_t end) const;
  void run(const Arguments& arguments) const { run(arguments, 0, stages_.size()); }
  /// Binds and runs kernels that all add to their output, or all overwrite it.
  void run(const device::BufferRegistry& buffers, bool adds) const;

private:
  using Integers = device::Array<std::int32_t>;
  void bind_to(KernelArguments& arguments, std::size_t kernel, const device::BufferRegistry& run,
               const OwnBuffers& own) const;

  std::shared_ptr<device::Device> device_;
  Arguments kernels_; ///< only those that stay are bound
  Integers overwrite_, add_;
  Stages stages_;   ///< shape (stage, launch)
  Integers bounds_; ///< first batch of a chunk and that behind its last one, shape (chunk, 2)
  mutable FreeList<Arguments> free_arguments_;
};

/// Puts kernels whose batches may run in any order before the others, in a stage each: `whole` are all of their
/// batches, which no stage behind has any more.
StagedKernels::Stages with_first(std::span<const BlockChunk> whole, StagedKernels::Stages stages);

/// One stage of one kernel, whose threads take a range of batches each, shape (thread + 1).
std::vector<BlockChunk> ranges_of(std::span<const std::int64_t> ranges);

/// Prepares a vector that kernels overwrite: clears what they leave as it is, the entries `padding` or all
/// where kernels do not cover the vector, but add to it. Memory of a device is cleared as a whole where anything is.
template <class T> void clear_uncovered(device::Array<T>& y, std::span<const std::int32_t> padding, bool is_covered) {
  if (is_covered && y.device()->shares_host_memory()) {
    if (padding.empty()) return;
    const auto values = y.host_write();
    for (const auto entry : padding) values[static_cast<std::size_t>(entry)] = 0;
    return;
  }
  auto* const memory = y.device_overwrite();
  if (!is_covered || !padding.empty()) memory->clear();
}

} // namespace rafter::op
