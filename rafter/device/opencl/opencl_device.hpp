// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <rafter/device/device_description.hpp>
#include <rafter/device/host/binary_cache.hpp>

namespace rafter::device {

struct OpenClLibrary;

/// The OpenCL devices of this machine, in the order of their numbers. Throws EnvironmentError where there is no loader.
std::vector<DeviceDescription> opencl_devices();

struct OpenClOptions {
  /// Number in the order of opencl_devices(); none: the first device that runs kernels, processors last.
  std::optional<int> number = {};
  CacheDirectory directory = CacheDirectory();            ///< folder of compiled programs
  std::shared_ptr<const OpenClLibrary> library = nullptr; ///< functions of the loader; null: that of this machine
};

/// An OpenCL device with doubles and atomic operations on 64 bits. Programs are OpenCL C 1.2, as emit writes it: the
/// entry point NAME is the kernel `entry_NAME`, which takes for each buffer its memory and the number of bytes to skip
/// (long), then the range of batches (two longs). Tasks run one after the other. Code that the driver compiled is kept
/// in the user's cache folder, under a key of source, device and driver. Failures of the driver are EnvironmentErrors.
/// The device ends, with what was put into its queue, when it and all that it made are gone; that must be before the
/// process destroys static objects, since the driver's threads use some of its compiler's.
class OpenClDevice final : public Device {
public:
  /// Throws EnvironmentError where there is no such device, or it lacks what kernels need.
  explicit OpenClDevice(OpenClOptions options = {});
  explicit OpenClDevice(int number) : OpenClDevice(OpenClOptions{.number = number}) {}

  std::string name() const override { return "opencl"; }
  std::string language() const override { return "opencl"; }
  Capabilities capabilities() const override;
  Copies copies() const override;
  int num_threads() const override { return 1; }
  bool shares_host_memory() const override { return false; }
  /// Throws EnvironmentError where the device does not have so much memory, or not contiguously.
  std::shared_ptr<Buffer> allocate(std::size_t bytes) override;
  std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) override;
  /// Throws EnvironmentError on failure, with the log of the compiler, and the place where the source is kept.
  std::shared_ptr<const Program> compile(const std::string& source, const CompileOptions& options = {}) override;
  std::shared_ptr<const Program> find(const std::string& source, const CompileOptions& options) override;
  std::shared_ptr<Event> run(std::span<const Task> tasks) override;
  /// Path of the cache file of a program, whether it exists or not.
  std::filesystem::path file_of(const std::string& source) const;

private:
  class Queue;
  class Memory;
  class Compiled;
  class Entry;
  class Completion;
  std::string key_of(const std::string& source) const;
  std::shared_ptr<Queue> queue_;
  BinaryCache binaries_;
  std::mutex mutex_; ///< guards the arguments of kernels, which are set before each run
};

} // namespace rafter::device
