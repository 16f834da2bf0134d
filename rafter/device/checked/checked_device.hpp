// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mutex>
#include <rafter/device/device.hpp>
#include <rafter/device/host/program_cache.hpp>
#include <random>

namespace rafter::device {

/// A host device that behaves like one with memory of its own, for tests. Its buffers are separate from host memory;
/// new memory and the outdated copy of an array are filled with NaNs; guard zones around every buffer are checked
/// before and after every task; and tasks run one by one in an order shuffled with a fixed seed. Code that depends on
/// the order of tasks or on outdated copies therefore fails.
class CheckedDevice final : public Device {
public:
  explicit CheckedDevice(CacheDirectory directory = CacheDirectory()) : cache_(std::move(directory)) {}

  std::string name() const override { return "checked"; }
  int num_threads() const override { return 1; }
  bool shares_host_memory() const override { return false; }
  std::shared_ptr<Buffer> allocate(std::size_t bytes) override;
  std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) override;
  std::shared_ptr<const Program> find(const std::string& source, const CompileOptions& options) override;
  std::shared_ptr<const Program> compile(const std::string& source, const CompileOptions& options = {}) override;
  /// Throws InternalError when a task wrote outside one of its arguments, naming kernel, argument and side.
  std::shared_ptr<Event> run(std::span<const Task> tasks) override;
  void poison(void* memory, std::size_t bytes) const override;
  Copies copies() const override { return copies_->total(); }

private:
  std::shared_ptr<CopyCounter> copies_ = std::make_shared<CopyCounter>();
  ProgramCache cache_;
  std::mutex mutex_;
  std::mt19937_64 generator_{20240229};
};

} // namespace rafter::device
