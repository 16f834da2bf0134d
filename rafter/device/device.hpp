// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Where kernels run. Five small types: Device, Buffer, Program, Kernel (with bound arguments: Task) and Event.
namespace rafter::device {

/// Memory of a device. Owned through the pointer that Device::allocate returns.
class Buffer {
public:
  virtual ~Buffer() = default;
  virtual std::size_t size_bytes() const = 0;
  virtual void copy_from_host(const void* source, std::size_t bytes) = 0;
  virtual void copy_to_host(void* destination, std::size_t bytes) const = 0;
  /// Address that kernels receive (host-like devices: an ordinary pointer).
  virtual void* handle() const = 0;
};

/// An entry point of a program. Host entry points have the C signature
/// void name(void* const* arguments, int64_t begin, int64_t end): the buffers in order, then a range of batches.
class Kernel {
public:
  virtual ~Kernel() = default;
  virtual const std::string& name() const = 0;
};

class Program {
public:
  virtual ~Program() = default;
  /// Throws InternalError when the program has no such entry point.
  virtual std::shared_ptr<const Kernel> kernel(const std::string& name) const = 0;
};

/// Completion of what was submitted. Host-like devices finish before they return one.
class Event {
public:
  virtual ~Event() = default;
  virtual void wait() = 0;
};

/// A kernel with its arguments on a range of batches.
struct Task {
  const Kernel* kernel = nullptr;
  std::span<Buffer* const> arguments; ///< must outlive the run
  std::int64_t begin = 0, end = 0;
  std::span<const std::size_t> offsets = {}; ///< bytes of each buffer before what the kernel sees; empty: none anywhere

  std::size_t offset(std::size_t argument) const { return offsets.empty() ? 0 : offsets[argument]; }
  /// Address that the kernel receives.
  void* handle(std::size_t argument) const {
    return static_cast<std::byte*>(arguments[argument]->handle()) + offset(argument);
  }
};

struct CompileOptions {
  std::string language = "c";     ///< spelling table that produced the source
  std::string compiler;           ///< "" = the device's default ("gcc", "clang", or a path)
  std::string flag_set;           ///< one of Device::flag_sets(); "" = "default"
  std::vector<std::string> flags; ///< appended to those of the set
  auto operator<=>(const CompileOptions&) const = default;
};

class Device {
public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;                ///< "host", "checked"
  virtual std::string language() const { return "c"; } ///< of the source that compile() takes
  virtual int num_threads() const = 0;
  /// Compilers that CompileOptions::compiler may name and that are there, "default" first.
  virtual std::vector<std::string> compilers() const { return {"default"}; }
  /// Sets of flags that CompileOptions::flag_set may name, "default" first.
  virtual std::vector<std::string> flag_sets() const { return {"default"}; }
  virtual bool shares_host_memory() const = 0; ///< true: buffers may wrap host memory, copies are unnecessary
  virtual std::shared_ptr<Buffer> allocate(std::size_t bytes) = 0;
  /// A buffer over host memory that outlives it (devices that share host memory); else InternalError.
  virtual std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) = 0;
  /// Compiles or takes from the cache. Throws EnvironmentError (command, log and kept source named) on failure.
  virtual std::shared_ptr<const Program> compile(const std::string& source, const CompileOptions& options = {}) = 0;
  /// Runs tasks that may run at the same time (they write disjoint data), in any order on any thread.
  virtual std::shared_ptr<Event> run(std::span<const Task> tasks) = 0;
  /// Calls body(i) once for every i in [0, count) on the device's threads of the host, in any order, and returns when
  /// all are done: loops over vectors. Devices without such threads call it on the caller's. The body may call `run`,
  /// whose tasks are then worked on by its own thread: loops over cells with fused work do.
  virtual void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
  /// Told that the values in memory of either side mean nothing any more. Devices that look for faults fill it so that
  /// a use shows; others do nothing.
  virtual void poison(void* /*memory*/, std::size_t /*bytes*/) const {}
};

/// Device from its name as --device gives it: "host", "checked". num_threads 0: all cores that the process may use.
/// Throws InputError for unknown names, EnvironmentError for devices that this machine or build lacks.
std::shared_ptr<Device> make_device(const std::string& name, int num_threads = 0);

} // namespace rafter::device
