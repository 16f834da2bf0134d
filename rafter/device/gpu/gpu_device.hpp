// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/device/device_description.hpp>
#include <rafter/device/gpu/gpu_compiler.hpp>
#include <rafter/device/host/binary_cache.hpp>

namespace rafter::device {

struct GpuLibrary;
struct GpuNames;

/// The drivers and compilers of a maker's graphics processors.
struct GpuMaker {
  const GpuNames& driver;
  const GpuCompilerNames& compiler;
};
const GpuMaker& cuda(); ///< NVIDIA
const GpuMaker& hip();  ///< AMD
/// Both.
std::span<const GpuMaker* const> gpu_makers();

/// The graphics processors of a maker, in the order of their numbers. Throws EnvironmentError where there is no driver.
std::vector<DeviceDescription> gpu_devices(const GpuMaker& maker);

struct GpuOptions {
  int number = 0;                              ///< number in the order of gpu_devices()
  CacheDirectory directory = CacheDirectory(); ///< folder of compiled programs
};

/// A graphics processor by its driver and its run-time compiler. Programs are what emit writes in the language of the
/// maker: the entry point NAME is the kernel `entry_NAME`, which takes the address of each buffer, then the range of
/// batches (two longs). Runs and copies take their order in one stream. Compiled code is kept in the user's
/// cache folder, under a key of source, architecture, compiler with its version, and options. Failures of the driver
/// are EnvironmentErrors. Any thread may use it.
class GpuDevice final : public Device {
public:
  /// Throws EnvironmentError where there is no such device, or it lacks what kernels need.
  explicit GpuDevice(const GpuMaker& maker, GpuOptions options = {});

  std::string name() const override;
  std::string language() const override;
  Capabilities capabilities() const override;
  Copies copies() const override;
  int num_threads() const override { return 1; }
  bool shares_host_memory() const override { return false; }
  /// Throws EnvironmentError where the device does not have so much memory.
  std::shared_ptr<Buffer> allocate(std::size_t bytes) override;
  std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) override;
  /// Throws EnvironmentError on failure, with the log of the compiler, and the place where the source is kept; and
  /// where the work arrays of the kernels, which the driver reserves for all items that the device can hold, would not
  /// fit.
  std::shared_ptr<const Program> compile(const std::string& source, const CompileOptions& options = {}) override;
  std::shared_ptr<const Program> find(const std::string& source, const CompileOptions& options) override;
  std::shared_ptr<Event> run(std::span<const Task> tasks) override;

private:
  class Queue;
  class Staging;
  class Memory;
  class Compiled;
  class Entry;
  class Completion;
  std::string key_of(const std::string& source) const;
  const GpuMaker& maker_;
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<Staging> staging_;
  BinaryCache binaries_;
};

} // namespace rafter::device
