// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/host_device.hpp>

#include <array>
#include <cstring>
#include <rafter/base/aligned.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>

namespace rafter::device {
namespace {

int checked_num_threads(int num_threads) {
  constexpr int most = 4096;
  if (num_threads < 0 || num_threads > most)
    throw base::InputError("the number of threads is " + std::to_string(num_threads) + "; accepted: 1 to " +
                           std::to_string(most) + ", or 0 for all cores");
  return num_threads == 0 ? base::num_available_cores() : num_threads;
}

/// A buffer over host memory, which belongs to the caller or, with `owner`, to the buffer.
class HostBuffer final : public Buffer {
public:
  HostBuffer(void* memory, std::size_t bytes, std::shared_ptr<void> owner = nullptr)
      : memory_(memory), bytes_(bytes), owner_(std::move(owner)) {}
  std::size_t size_bytes() const override { return bytes_; }
  void* handle() const override { return memory_; }

private:
  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(memory_) + offset; }
  void write(const void* source, std::size_t bytes, std::size_t offset) override {
    std::memmove(at(offset), source, bytes);
  }
  void read(void* destination, std::size_t bytes, std::size_t offset) const override {
    std::memmove(destination, at(offset), bytes);
  }
  void copy(const Buffer& source, std::size_t bytes, std::size_t source_offset, std::size_t offset) override {
    std::memmove(at(offset), static_cast<const std::byte*>(source.handle()) + source_offset, bytes);
  }
  void set_to_zero(std::size_t bytes, std::size_t offset) override { std::memset(at(offset), 0, bytes); }
  void* memory_;
  std::size_t bytes_;
  std::shared_ptr<void> owner_;
};

class Done final : public Event {
public:
  void wait() override {}
};

} // namespace

std::shared_ptr<Event> done() {
  static const auto event = std::make_shared<Done>();
  return event;
}

void run_task(const Task& task) {
  const auto* kernel = dynamic_cast<const HostKernel*>(task.kernel);
  if (kernel == nullptr) throw base::InternalError("a task without a kernel of the host");
  constexpr std::size_t num_on_stack = 32;
  std::array<void*, num_on_stack> few;
  std::vector<void*> many(task.arguments.size() > num_on_stack ? task.arguments.size() : 0);
  void** handles = many.empty() ? few.data() : many.data();
  for (std::size_t i = 0; i < task.arguments.size(); ++i) handles[i] = task.handle(i);
  kernel->entry()(handles, task.begin, task.end);
}

HostDevice::HostDevice(int num_threads, CacheDirectory directory)
    : cache_(std::move(directory)), pool_(checked_num_threads(num_threads)) {}

std::shared_ptr<Buffer> HostDevice::allocate(std::size_t bytes) {
  const std::shared_ptr<void> memory(base::allocate_aligned(bytes), base::free_aligned);
  return std::make_shared<HostBuffer>(memory.get(), bytes, memory);
}

std::shared_ptr<Buffer> HostDevice::wrap(void* host, std::size_t bytes) {
  return std::make_shared<HostBuffer>(host, bytes);
}

std::shared_ptr<const Program> HostDevice::find(const std::string& source, const CompileOptions& options) {
  return cache_.find(source, options);
}

std::shared_ptr<const Program> HostDevice::compile(const std::string& source, const CompileOptions& options) {
  return cache_.program(source, options);
}

std::shared_ptr<Event> HostDevice::run(std::span<const Task> tasks) {
  pool_.run(static_cast<std::int64_t>(tasks.size()),
            [tasks](std::int64_t i) { run_task(tasks[static_cast<std::size_t>(i)]); });
  return done();
}

void HostDevice::parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  pool_.run(count, body);
}

} // namespace rafter::device
