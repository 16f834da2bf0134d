// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/vector_runner.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::op {

namespace {

/// Number of entries; 32 KiB, so that the operands of a block stay in cache.
constexpr std::int64_t block_length = 4096;
constexpr std::size_t min_threaded_length = 65536; ///< waking threads costs more than the loop over shorter vectors

/// Memory of the host that kernels of the host see for the length of a run.
class View final : public device::Buffer {
public:
  View(const void* memory, std::size_t bytes) : memory_(const_cast<void*>(memory)), bytes_(bytes) {}
  std::size_t size_bytes() const override { return bytes_; }
  void* handle() const override { return memory_; }

private:
  [[noreturn]] static void refuse() { throw base::InternalError("a view is not copied"); }
  void write(const void*, std::size_t, std::size_t) override { refuse(); }
  void read(void*, std::size_t, std::size_t) const override { refuse(); }
  void copy(const device::Buffer&, std::size_t, std::size_t, std::size_t) override { refuse(); }
  void set_to_zero(std::size_t, std::size_t) override { refuse(); }
  void* memory_;
  std::size_t bytes_;
};

/// The blocks of ranges, which are found without a list of them.
class Blocks {
public:
  explicit Blocks(std::span<const EntryRange> ranges) : ranges_(ranges) {
    for (const auto& range : ranges) count_ += count(range);
  }
  std::int64_t count() const { return count_; }
  EntryRange operator[](std::int64_t block) const {
    std::size_t r = 0;
    for (; block >= count(ranges_[r]); ++r) block -= count(ranges_[r]);
    const std::int64_t begin = ranges_[r].begin + block * block_length;
    return {static_cast<std::int32_t>(begin),
            static_cast<std::int32_t>(std::min<std::int64_t>(ranges_[r].end, begin + block_length))};
  }

private:
  static std::int64_t count(const EntryRange& range) {
    return (std::int64_t{range.end} - range.begin + block_length - 1) / block_length;
  }
  std::span<const EntryRange> ranges_; ///< a few: fields of a system
  std::int64_t count_ = 0;
};

void require_scalars(const VectorKernel& kernel, std::size_t found) {
  if (found < kernel.loop.scalars.size())
    throw base::InternalError(fmt::format("loop over vectors {}: {} scalars are given", kernel.loop.name, found));
}

/// Enlarges an array, whose values are lost.
void require_room(Vector& array, const std::shared_ptr<device::Device>& device, std::size_t n) {
  if (array.size() < n) array = Vector(device, n);
}

} // namespace

double scaled_root(const std::function<double(double factor)>& square_of) {
  // Squares of numbers up to 2^1024 times the first factor are below 2^848, those from 2^-1074 on times the last above
  // 2^-948. A sum above `least` loses nothing by what vanishes, of up to 2^70 squares of which each is below 2^-1022.
  constexpr double reducing = 0x1p-600, enlarging = 0x1p600, least = 0x1p-900;
  const double square = square_of(1);
  if (square >= least && std::isfinite(square)) return std::sqrt(square);
  const double factor = square < least ? enlarging : reducing;
  return std::sqrt(square_of(factor)) / factor;
}

void add_pairwise(std::span<double> sums, std::size_t num_sums) {
  const std::size_t num_rows = num_sums == 0 ? 0 : sums.size() / num_sums;
  for (std::size_t stride = 1; stride < num_rows; stride *= 2)
    for (std::size_t row = 0; row + stride < num_rows; row += 2 * stride)
      for (std::size_t k = 0; k < num_sums; ++k) sums[row * num_sums + k] += sums[(row + stride) * num_sums + k];
}

const VectorKernel& VectorRunner::kernel(std::string_view loop) const {
  if (kernels_ == nullptr) kernels_ = VectorKernels::of(device_, loops_, type_);
  return kernels_->find(loop);
}

std::size_t VectorRunner::size_of(const VectorKernel& kernel, LoopOperands operands) const {
  const auto& loop = kernel.loop;
  if (operands.size() != loop.operands.size() + kernel.num_lists)
    throw base::InternalError(fmt::format("loop over vectors {}: {} operands are given", loop.name, operands.size()));
  std::optional<std::size_t> size;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i < loop.operands.size() && !loop.operands[i].list.empty()) continue;
    if (size && *size != operands[i].size())
      throw base::InternalError(
          fmt::format("loop over vectors {}: vectors of {} and {} entries", loop.name, *size, operands[i].size()));
    size = operands[i].size();
  }
  return size.value_or(0);
}

std::span<const EntryRange> VectorRunner::visited(const VectorKernel& kernel, LoopOperands operands,
                                                  const EntryRange& whole) const {
  if (!ranges_ || kernel.num_lists > 0 || std::ranges::any_of(operands, &LoopOperand::is_range)) return {&whole, 1};
  for (const auto& range : *ranges_)
    if (range.end > whole.end)
      throw base::InternalError(
          fmt::format("vectors of {} entries, of which entry {} is an unknown", whole.end, range.end - 1));
  return *ranges_;
}

VectorRunner::Bound VectorRunner::bind(const VectorKernel& kernel, LoopOperands operands,
                                       std::span<const EntryRange> visited, std::size_t size) const {
  const bool is_whole =
      visited.size() == 1 && visited[0].begin == 0 && static_cast<std::size_t>(visited[0].end) == size;
  Bound result;
  for (std::size_t i = 0; i < operands.size(); ++i)
    result.add(i < kernel.loop.operands.size() ? operands[i].bind(kernel.loop.operands[i], is_whole)
                                               : operands[i].bind_list(),
               operands[i].offset());
  return result;
}

void VectorRunner::run_on_host(const VectorKernel& kernel, const Bound& bound, Scalars scalars,
                               std::span<const EntryRange> ranges, double* sums) const {
  static_assert(sizeof(EntryRange) == 2 * sizeof(std::int32_t));
  View of_scalars(scalars.data(), scalars.size_bytes()), of_ranges(ranges.data(), ranges.size_bytes()),
      of_sums(sums, kernel.loop.sums.size() * sizeof(double));
  Bound arguments = bound;
  for (device::Buffer* const buffer : {&of_scalars, &of_ranges, &of_sums}) arguments.add(buffer);
  const auto task = arguments.task(*kernel.main, kernel.main_launch, 0, static_cast<std::int64_t>(ranges.size()));
  device_->run(std::span(&task, 1))->wait();
}

std::span<double> VectorRunner::run(const VectorKernel& kernel, Scalars scalars, LoopOperands operands) const {
  if (!kernel.loop.then.empty())
    throw base::InternalError("loop over vectors " + kernel.loop.name + " assigns scalars: it is queued");
  require_scalars(kernel, scalars.size());
  const std::size_t num_sums = kernel.loop.sums.size();
  if (!device_->shares_host_memory()) {
    if (!scalars.empty()) {
      require_room(scalars_, device_, most_scalars);
      scalars_.device_overwrite()->queue_from_host(scalars.data(), scalars.size_bytes());
      launch(kernel, scalars_.device_read(), 0, operands);
    } else
      launch(kernel, nullptr, 0, operands);
    sums_.resize(num_sums);
    if (num_sums > 0) totals_.device_read()->copy_to_host(sums_.data(), num_sums * sizeof(double));
    return sums_;
  }
  const std::size_t size = size_of(kernel, operands);
  const EntryRange whole{0, static_cast<std::int32_t>(size)};
  const auto ranges = visited(kernel, operands, whole);
  const Bound bound = bind(kernel, operands, ranges, size);
  const Blocks blocks(ranges);
  sums_.assign(std::max<std::size_t>(1, static_cast<std::size_t>(blocks.count())) * num_sums, 0.0);
  const auto run_block = [&](std::int64_t number) {
    const EntryRange block = blocks[number];
    run_on_host(kernel, bound, scalars, {&block, 1}, sums_.data() + static_cast<std::size_t>(number) * num_sums);
  };
  if (size >= min_threaded_length)
    device_->parallel_for(blocks.count(), run_block);
  else
    for (std::int64_t block = 0; block < blocks.count(); ++block) run_block(block);
  add_pairwise(sums_, num_sums);
  return std::span(sums_).first(num_sums);
}

void VectorRunner::queue(std::string_view loop, Vector& scalars, std::size_t first,
                         std::initializer_list<LoopOperand> operands) const {
  const auto& found = kernel(loop);
  require_scalars(found, scalars.size() - first);
  launch(found, scalars.device_write(), first, {operands.begin(), operands.size()});
}

void VectorRunner::make_blocks(std::span<const EntryRange> visited) const {
  const auto are_same = [](const EntryRange& a, const EntryRange& b) { return a.begin == b.begin && a.end == b.end; };
  if (blocks_.size() > 0 && std::ranges::equal(visited, blocks_of_, are_same)) return;
  const Blocks blocks(visited);
  base::AlignedVector<std::int32_t> pairs;
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    const EntryRange range = blocks[block];
    pairs.insert(pairs.end(), {range.begin, range.end});
  }
  blocks_ = IntegerArray(device_, std::move(pairs));
  blocks_of_.assign(visited.begin(), visited.end());
}

void VectorRunner::launch(const VectorKernel& kernel, device::Buffer* scalars, std::size_t first,
                          LoopOperands operands) const {
  const std::size_t size = size_of(kernel, operands), num_sums = kernel.loop.sums.size();
  const EntryRange whole{0, static_cast<std::int32_t>(size)};
  const auto ranges = visited(kernel, operands, whole);
  if (!operands.empty()) make_blocks(ranges);
  const auto num_blocks = operands.empty() ? 0 : static_cast<std::int64_t>(blocks_.size() / 2);
  const auto num_rows = static_cast<std::size_t>(std::max<std::int64_t>(1, num_blocks));
  require_room(rows_, device_, num_rows * std::max<std::size_t>(1, num_sums));
  require_room(totals_, device_, most_scalars);
  if (num_blocks == 0) std::ranges::fill(rows_.host_overwrite(), 0.0);
  if (scalars == nullptr) scalars = totals_.device_read(); // nothing is read of it
  Bound arguments = bind(kernel, operands, ranges, size);
  arguments.add(scalars, first * sizeof(double));
  if (num_blocks > 0) arguments.add(blocks_.device_read());
  const std::size_t row = arguments.count;
  arguments.add(rows_.device_write());
  auto task = arguments.task(*kernel.main, kernel.main_launch, 0, num_blocks);
  const bool has_groups = kernel.main_launch.batches != device::Launch::all_batches;
  if (has_groups && num_blocks > 0) device_->run(std::span(&task, 1));
  for (std::int64_t block = 0; block < num_blocks && !has_groups; ++block) { // one row for each
    task.begin = block;
    task.end = block + 1;
    arguments.offsets[row] = static_cast<std::size_t>(block) * num_sums * sizeof(double);
    device_->run(std::span(&task, 1));
  }
  if (kernel.total == nullptr) return;
  Bound of_total;
  of_total.add(rows_.device_read());
  of_total.add(totals_.device_write());
  of_total.add(scalars, first * sizeof(double));
  const auto total = of_total.task(*kernel.total, kernel.total_launch, 0, std::max<std::int64_t>(1, num_blocks));
  device_->run(std::span(&total, 1));
}

FusedLoop::FusedLoop(const VectorRunner& runner, std::string_view loop, Scalars scalars, LoopOperands operands)
    : runner_(runner), kernel_(runner.kernel(loop)), operands_(operands.begin(), operands.end()) {
  require_scalars(kernel_, scalars.size());
  std::ranges::copy(scalars, scalars_.begin());
  bind();
}

FusedLoop::FusedLoop(const VectorRunner& runner, std::string_view loop, const Vector& scalars, std::size_t first,
                     std::initializer_list<LoopOperand> operands)
    : runner_(runner), kernel_(runner.kernel(loop)), kept_scalars_(&scalars), first_(first), operands_(operands) {
  require_scalars(kernel_, scalars.size() - first);
  if (runner.device()->shares_host_memory())
    std::ranges::copy(scalars.host_read().subspan(first, kernel_.loop.scalars.size()), scalars_.begin());
  bind();
}

void FusedLoop::bind() {
  if (!runner_.device()->shares_host_memory()) return;
  const std::size_t size = runner_.size_of(kernel_, operands_);
  const EntryRange whole{0, static_cast<std::int32_t>(size)};
  bound_ = runner_.bind(kernel_, operands_, runner_.visited(kernel_, operands_, whole), size);
}

void FusedLoop::operator()(std::int64_t part, std::span<const EntryRange> ranges, double* sums) const {
  const Scalars scalars = std::span(scalars_).first(kernel_.loop.scalars.size());
  if (part != VectorWork::all_parts) return runner_.run_on_host(kernel_, bound_, scalars, ranges, sums);
  if (kept_scalars_ != nullptr && kernel_.loop.sums.empty())
    return runner_.launch(kernel_, kept_scalars_->device_read(), first_, operands_);
  std::ranges::copy(runner_.run(kernel_, scalars, operands_), sums);
}

} // namespace rafter::op
