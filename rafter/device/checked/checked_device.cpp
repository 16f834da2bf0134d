// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/checked/checked_device.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <rafter/base/aligned.hpp>
#include <rafter/base/error.hpp>
#include <rafter/device/host/host_device.hpp>

namespace rafter::device {
namespace {

/// Longer than the widest store of a batch's column; a multiple of 64, so that buffers stay aligned.
constexpr std::size_t guard_bytes = 1024;
constexpr std::uint64_t poison_pattern =
    0x7ff4dead7ff4deadULL; ///< signalling NaN as a double, NaN as two floats, and out of range as an index
constexpr std::uint64_t guard = 0x7ff4face7ff4faceULL;

void fill(std::byte* memory, std::size_t bytes, std::uint64_t pattern) {
  for (std::size_t i = 0; i < bytes; i += sizeof pattern)
    std::memcpy(memory + i, &pattern, std::min(sizeof pattern, bytes - i));
}

bool is_filled(const std::byte* memory, std::size_t bytes, std::uint64_t pattern) {
  for (std::size_t i = 0; i < bytes; i += sizeof pattern)
    if (std::memcmp(memory + i, &pattern, std::min(sizeof pattern, bytes - i)) != 0) return false;
  return true;
}

/// Memory between two guard zones.
class CheckedBuffer final : public Buffer {
public:
  CheckedBuffer(std::size_t bytes, std::shared_ptr<CopyCounter> copies)
      : bytes_(bytes), memory_(bytes + 2 * guard_bytes), copies_(std::move(copies)) {
    fill(memory_.data(), guard_bytes, guard);
    fill(begin(), bytes_, poison_pattern);
    fill(begin() + bytes_, guard_bytes, guard);
  }
  std::size_t size_bytes() const override { return bytes_; }
  void* handle() const override { return begin(); }
  bool is_intact_before() const { return is_filled(memory_.data(), guard_bytes, guard); }
  bool is_intact_behind() const { return is_filled(begin() + bytes_, guard_bytes, guard); }

private:
  void write(const void* source, std::size_t bytes, std::size_t offset) override {
    std::memcpy(begin() + offset, source, bytes);
    copies_->count_to_device(bytes);
  }
  void read(void* destination, std::size_t bytes, std::size_t offset) const override {
    std::memcpy(destination, begin() + offset, bytes);
    copies_->count_to_host(bytes);
  }
  void copy(const Buffer& source, std::size_t bytes, std::size_t source_offset, std::size_t offset) override {
    std::memmove(begin() + offset, dynamic_cast<const CheckedBuffer&>(source).begin() + source_offset, bytes);
  }
  void set_to_zero(std::size_t bytes, std::size_t offset) override { std::memset(begin() + offset, 0, bytes); }
  std::byte* begin() const { return memory_.data() + guard_bytes; }
  std::size_t bytes_;
  mutable base::AlignedVector<std::byte> memory_;
  std::shared_ptr<CopyCounter> copies_;
};

void check_guards(const Task& task) {
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const auto* buffer = dynamic_cast<const CheckedBuffer*>(task.arguments[i]);
    if (buffer == nullptr)
      throw base::InternalError("argument " + std::to_string(i) + " of kernel '" + task.kernel->name() +
                                "' is not a buffer of the checked device");
    const bool is_before = !buffer->is_intact_before();
    if (!is_before && buffer->is_intact_behind()) continue;
    throw base::InternalError("kernel '" + task.kernel->name() + "' wrote " + (is_before ? "before" : "behind") +
                              " argument " + std::to_string(i) + " (" + std::to_string(buffer->size_bytes()) +
                              " bytes) in batches " + std::to_string(task.begin) + " to " + std::to_string(task.end));
  }
}

} // namespace

std::shared_ptr<Buffer> CheckedDevice::allocate(std::size_t bytes) {
  return std::make_shared<CheckedBuffer>(bytes, copies_);
}

std::shared_ptr<Buffer> CheckedDevice::wrap(void*, std::size_t) {
  throw base::InternalError("the checked device has its own memory and cannot wrap host memory");
}

std::shared_ptr<const Program> CheckedDevice::find(const std::string& source, const CompileOptions& options) {
  return cache_.find(source, options);
}

std::shared_ptr<const Program> CheckedDevice::compile(const std::string& source, const CompileOptions& options) {
  return cache_.program(source, options);
}

std::shared_ptr<Event> CheckedDevice::run(std::span<const Task> tasks) {
  const std::lock_guard lock(mutex_); // nobody else writes while guards are looked at
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::shuffle(order, generator_);
  for (const std::size_t i : order) {
    check_guards(tasks[i]); // detects memory of other devices, which kernels must not get
    run_task(tasks[i]);
    check_guards(tasks[i]);
  }
  return done();
}

void CheckedDevice::poison(void* memory, std::size_t bytes) const {
  fill(static_cast<std::byte*>(memory), bytes, poison_pattern);
}

} // namespace rafter::device
