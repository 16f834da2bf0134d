// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rafter/device/device.hpp>

namespace rafter::device {

/// What the OpenCL devices of this machine are, in the order of their numbers. Throws EnvironmentError where there is
/// no loader.
std::vector<Capabilities> opencl_devices();

/// An OpenCL device with doubles and atomic operations on 64 bits. Programs are OpenCL C 1.2, as emit writes it: the
/// entry point NAME is the kernel `entry_NAME`, which takes for each buffer its memory and the number of bytes to skip
/// (long), then the range of batches (two longs). Tasks run one after the other; compiled programs are kept by the
/// driver.
class OpenClDevice final : public Device {
public:
  /// `number`: in the order of opencl_devices(). Throws EnvironmentError where there is no such device, or it lacks
  /// what kernels need.
  explicit OpenClDevice(int number = 0);

  std::string name() const override { return "opencl"; }
  std::string language() const override { return "opencl"; }
  Capabilities capabilities() const override;
  Copies copies() const override;
  int num_threads() const override { return 1; }
  bool shares_host_memory() const override { return false; }
  std::shared_ptr<Buffer> allocate(std::size_t bytes) override;
  std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) override;
  /// On failure throws EnvironmentError with the log of the compiler and the source.
  std::shared_ptr<const Program> compile(const std::string& source, const CompileOptions& options = {}) override;
  std::shared_ptr<Event> run(std::span<const Task> tasks) override;

private:
  class Queue;
  class Memory;
  class Compiled;
  class Entry;
  class Finish;
  std::shared_ptr<Queue> queue_;
  std::mutex mutex_; ///< guards the arguments of kernels, which are set before each run
};

} // namespace rafter::device
