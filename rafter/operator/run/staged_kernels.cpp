// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/staged_kernels.hpp>

#include <algorithm>
#include <utility>

#include <rafter/emit/c_family.hpp>

namespace rafter::op {

std::shared_ptr<const device::Kernel> compiled(device::Device& device, const schedule::LoopProgram& loops) {
  const auto language = device.language();
  return device.compile(emit::emit(loops, language), {.language = language})->kernel(loops.name);
}

StagedKernels::StagedKernels(std::shared_ptr<device::Device> device, Arguments kernels, const Stages& stages,
                             std::int32_t count)
    : device_(std::move(device)), kernels_(std::move(kernels)), overwrite_(device_, {0, count}),
      add_(device_, {1, count}) {
  base::AlignedVector<std::int32_t> bounds;
  for (const auto& stage : stages) {
    auto& launches = stages_.emplace_back();
    for (const auto& chunk : stage) {
      if (!reads_bounds(chunk.block)) {
        launches.push_back(chunk);
        continue;
      }
      const auto begin = static_cast<std::int32_t>(bounds.size()), end = begin + 2;
      bounds.insert(bounds.end(), {chunk.batch_begin, chunk.batch_end});
      if (!launches.empty() && launches.back().block == chunk.block)
        launches.back().batch_end = end;
      else
        launches.push_back({chunk.block, begin, end});
    }
  }
  bounds_ = Integers(device_, std::move(bounds));
  for (const auto* table : {&overwrite_, &add_, &bounds_})
    (void)table->device_read(); // so that runs, which may be on several threads, need not bring them there
}

void StagedKernels::bind_to(KernelArguments& arguments, std::size_t kernel, const device::BufferRegistry& run,
                            const OwnBuffers& own) const {
  device::BufferRegistry of_kernel;
  own(kernel, of_kernel);
  of_kernel.add(schedule::role::chunk_bounds, 0, bounds_.device_read());
  arguments.bind(run, of_kernel);
}

StagedKernels::Run StagedKernels::bind(const device::BufferRegistry& run, const OwnBuffers& own) const {
  auto bound = free_arguments_.take([this] { return kernels_; });
  for (std::size_t k = 0; k < kernels_.size(); ++k) bind_to((*bound)[k], k, run, own);
  return bound;
}

KernelArguments StagedKernels::bind_one(std::size_t kernel, const device::BufferRegistry& run,
                                        const OwnBuffers& own) const {
  auto result = kernels_[kernel];
  bind_to(result, kernel, run, own);
  return result;
}

void StagedKernels::run(const Arguments& arguments, std::size_t begin, std::size_t end) const {
  std::vector<device::Task> tasks;
  for (const auto& stage : std::span(stages_).subspan(begin, end - begin)) {
    tasks.clear();
    for (const auto& [kernel, first, last] : stage) tasks.push_back(arguments[kernel].task(first, last));
    device_->run(tasks); // runs take the order in which they are asked for
  }
}

void StagedKernels::run(const device::BufferRegistry& buffers, bool adds) const {
  auto bound =
      bind(buffers, [&](std::size_t, device::BufferRegistry& own) { own.add(schedule::role::mode, 0, mode(adds)); });
  run(*bound);
}

StagedKernels::Stages with_first(std::span<const BlockChunk> whole, StagedKernels::Stages stages) {
  StagedKernels::Stages result;
  for (const auto& kernel : whole) result.push_back({kernel});
  for (auto& stage : stages) {
    std::erase_if(stage, [&](const BlockChunk& chunk) {
      return std::ranges::find(whole, chunk.block, &BlockChunk::block) != whole.end();
    });
    if (!stage.empty()) result.push_back(std::move(stage));
  }
  return result;
}

std::vector<BlockChunk> ranges_of(std::span<const std::int64_t> ranges) {
  std::vector<BlockChunk> result;
  for (std::size_t r = 0; r + 1 < ranges.size(); ++r)
    if (ranges[r] < ranges[r + 1])
      result.push_back({0, static_cast<std::int32_t>(ranges[r]), static_cast<std::int32_t>(ranges[r + 1])});
  return result;
}

} // namespace rafter::op
