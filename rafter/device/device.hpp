// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <typeindex>
#include <vector>

#include <rafter/device/launch.hpp>

/// Devices, on which kernels run, as five small types: Device, Buffer, Program, Kernel (with bound arguments: Task) and
/// Event.
namespace rafter::device {

/// Bytes that were copied between the host and the memory of a device, and how many copies that took. Devices that
/// share the host's memory copy nothing.
struct Copies {
  std::int64_t bytes_to_device = 0, bytes_to_host = 0;
  std::int64_t num_to_device = 0, num_to_host = 0;
  bool operator==(const Copies&) const = default;
  Copies operator-(const Copies& before) const {
    return {bytes_to_device - before.bytes_to_device, bytes_to_host - before.bytes_to_host,
            num_to_device - before.num_to_device, num_to_host - before.num_to_host};
  }
};

/// Counts the copies of a device, on any thread.
class CopyCounter {
public:
  void count_to_device(std::size_t bytes) {
    bytes_to_device_ += static_cast<std::int64_t>(bytes);
    ++num_to_device_;
  }
  void count_to_host(std::size_t bytes) {
    bytes_to_host_ += static_cast<std::int64_t>(bytes);
    ++num_to_host_;
  }
  Copies total() const { return {bytes_to_device_, bytes_to_host_, num_to_device_, num_to_host_}; }

private:
  std::atomic<std::int64_t> bytes_to_device_{0}, bytes_to_host_{0}, num_to_device_{0}, num_to_host_{0};
};

/// Memory of a device. The pointer that Device::allocate returns owns it, together with its copies.
class Buffer {
public:
  virtual ~Buffer() = default;
  virtual std::size_t size_bytes() const = 0;
  /// Address that kernels receive; on devices that run on the host, an ordinary pointer.
  virtual void* handle() const = 0;
  /// Copies to the bytes from `offset` on. Tasks that were run before have ended by then, and the source may be changed
  /// afterwards. Throws InternalError for bytes behind the end.
  void copy_from_host(const void* source, std::size_t bytes, std::size_t offset = 0) {
    require_inside(bytes, offset);
    if (bytes > 0) write(source, bytes, offset);
  }
  /// Copies a few bytes, such as scalars of a loop, for tasks that are run afterwards. The source may be changed at
  /// once. If a device takes them into its queue, nobody waits for the tasks before.
  void queue_from_host(const void* source, std::size_t bytes, std::size_t offset = 0) {
    require_inside(bytes, offset);
    if (bytes > 0) queue(source, bytes, offset);
  }
  /// Copies the bytes from `offset` on, after tasks that were run before have ended. Throws InternalError for bytes
  /// behind the end.
  void copy_to_host(void* destination, std::size_t bytes, std::size_t offset = 0) const {
    require_inside(bytes, offset);
    if (bytes > 0) read(destination, bytes, offset);
  }
  /// Copies bytes of another buffer of the same device, after tasks that were run before and ahead of those that are
  /// run afterwards. Nobody waits, where a device has a queue. Throws InternalError for bytes behind either end.
  void copy_from(const Buffer& source, std::size_t bytes, std::size_t source_offset, std::size_t offset) {
    source.require_inside(bytes, source_offset);
    require_inside(bytes, offset);
    if (bytes > 0) copy(source, bytes, source_offset, offset);
  }
  /// Sets the bytes from `offset` on to zero, after tasks that were run before. Throws InternalError for bytes behind
  /// the end.
  void clear(std::size_t bytes, std::size_t offset = 0) {
    require_inside(bytes, offset);
    if (bytes > 0) set_to_zero(bytes, offset);
  }
  void clear() { clear(size_bytes()); }

private:
  virtual void write(const void* source, std::size_t bytes, std::size_t offset) = 0;
  virtual void queue(const void* source, std::size_t bytes, std::size_t offset) { write(source, bytes, offset); }
  virtual void read(void* destination, std::size_t bytes, std::size_t offset) const = 0;
  /// Bytes of one and the same buffer do not overlap.
  virtual void copy(const Buffer& source, std::size_t bytes, std::size_t source_offset, std::size_t offset) = 0;
  virtual void set_to_zero(std::size_t bytes, std::size_t offset) = 0;
  void require_inside(std::size_t bytes, std::size_t offset) const;
};

/// An entry point of a program. On the host it has the C signature void name(void* const* arguments, int64_t begin,
/// int64_t end), for the buffers in order and a range of batches.
class Kernel {
public:
  virtual ~Kernel() = default;
  virtual const std::string& name() const = 0;
};

/// Compiled source with one or more entry points.
class Program {
public:
  virtual ~Program() = default;
  /// Throws InternalError when the program has no such entry point.
  virtual std::shared_ptr<const Kernel> kernel(const std::string& name) const = 0;
};

/// Completion of one run. Runs of a device take the order in which they are asked for, and copies take theirs among
/// them. Who only runs more tasks, or copies to the host, therefore needs no event: the copy waits for all runs before
/// it. Who times a run, or must know that it went well, waits for its event. Devices that run on the host have finished
/// when they return an event.
class Event {
public:
  virtual ~Event() = default;
  /// Returns when the tasks of the run have ended, those of later runs need not. It may be called again, on any thread.
  /// Throws EnvironmentError, which names the kernel, where one of them has failed on the device.
  virtual void wait() = 0;
};

/// A kernel with its arguments, on the range of batches begin .. end - 1.
struct Task {
  const Kernel* kernel = nullptr;
  std::span<Buffer* const> arguments; ///< must outlive the run
  std::int64_t begin = 0, end = 0;
  /// Bytes at the begin of each buffer that the kernel does not see; empty: none.
  std::span<const std::size_t> offsets = {};
  Launch launch = {}; ///< launch that the program states; devices of the host run batches in ascending order

  std::size_t offset(std::size_t argument) const { return offsets.empty() ? 0 : offsets[argument]; }
  /// Address of an argument that the kernel receives.
  void* handle(std::size_t argument) const {
    return static_cast<std::byte*>(arguments[argument]->handle()) + offset(argument);
  }
};

struct CompileOptions {
  std::string language = "c";     ///< language of the source: the table of spellings that produced it
  std::string compiler;           ///< name ("gcc", "clang") or path; "": the default of the device
  std::string flag_set;           ///< one of Device::flag_sets(); "": the usual one
  std::vector<std::string> flags; ///< flags that are appended to those of the set
  auto operator<=>(const CompileOptions&) const = default;
};

/// A product of two matrices of doubles, rows x depth and depth x columns, that items in step compute together by one
/// instruction.
struct MatrixShape {
  int rows = 0, columns = 0, depth = 0;
  bool operator==(const MatrixShape&) const = default;
};
inline auto members(const MatrixShape& value) {
  const auto& [rows, columns, depth] = value;
  return std::tie(rows, columns, depth);
}

/// Properties of a device, for reports, for the planner and for what kernels are lowered for. Drivers do not give all
/// of them: a number that is 0, a text that is "", a list that is empty and an ability that is false are not known, and
/// kernels are then made without them.
struct Capabilities {
  std::string description;                 ///< name that its maker gives it
  std::string version;                     ///< version of its driver, which compiled kernels depend on
  std::string architecture;                ///< name under which compilers know its instructions: "sm_90", "gfx942"
  std::vector<std::string> languages{"c"}; ///< languages of the sources that it compiles, that of its kernels first
  int num_compute_units = 0;
  int most_items = 0;         ///< number of items that a group may have
  int sub_group_width = 1;    ///< number of items that run in step
  int vector_width = 1;       ///< doubles that an item computes at a time: 1, 2, 4 or 8
  int registers_per_item = 0; ///< registers of 32 bits that an item may have
  int registers_per_unit = 0; ///< registers of 32 bits that the items on a compute unit have between them
  std::size_t memory_bytes = 0;
  std::size_t most_buffer_bytes = 0;      ///< size of the largest buffer
  std::size_t shared_bytes = 0;           ///< memory that the items of a group share
  std::int64_t work_bytes_per_item = 0;   ///< size of the largest work arrays of an item
  std::vector<MatrixShape> matrix_shapes; ///< products of doubles by matrix units
  bool is_processor = false;              ///< a processor: items of a group run one after the other on one thread
  bool has_doubles = true;
  bool has_atomic_doubles = false; ///< adds doubles atomically by an instruction of its own
  bool has_unified_memory = false; ///< its memory is that of the host, though it is copied to and from
  bool operator==(const Capabilities&) const = default;
};

/// A place where kernels are compiled and run.
class Device {
public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;                ///< name of the device, such as "host" or "checked"
  virtual std::string language() const { return "c"; } ///< language of the source that compile() takes
  virtual Capabilities capabilities() const { return {}; }
  /// Returns the copies to and from its memory since the device was made.
  virtual Copies copies() const { return {}; }
  virtual int num_threads() const = 0;
  /// Available compilers that CompileOptions::compiler may name, "default" first.
  virtual std::vector<std::string> compilers() const { return {"default"}; }
  /// Sets of flags that CompileOptions::flag_set may name, "default" first.
  virtual std::vector<std::string> flag_sets() const { return {"default"}; }
  /// True when buffers may wrap host memory, so that copies are unnecessary.
  virtual bool shares_host_memory() const = 0;
  virtual std::shared_ptr<Buffer> allocate(std::size_t bytes) = 0;
  /// A buffer over host memory, which must outlive it. Throws InternalError on devices that do not share host memory.
  virtual std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) = 0;
  /// Compiles a source, or takes the program from the cache. On failure throws EnvironmentError that names the command,
  /// its output and the kept source.
  virtual std::shared_ptr<const Program> compile(const std::string& source, const CompileOptions& options = {}) = 0;
  /// Runs tasks in any order on any thread. They may run at the same time, because they write disjoint data. They begin
  /// when those of earlier runs have ended, whose events need not be waited for. The event of a run without tasks is
  /// that of all that was asked of the device before.
  virtual std::shared_ptr<Event> run(std::span<const Task> tasks) = 0;
  /// Calls body(i) once for every i in [0, count) on the host threads of the device, in any order, and returns when all
  /// calls are done; serves loops over vectors. Devices without such threads run it on the thread of the caller. The
  /// body may call `run`, whose tasks are then worked on by the thread of the body: loops over cells with fused work
  /// do.
  virtual void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
  /// Says that the values in a range of host or device memory are outdated. Devices that look for errors fill it so
  /// that later use shows; others do nothing.
  virtual void poison(void* /*memory*/, std::size_t /*bytes*/) const {}
  /// The program of a source if it need not be compiled: that of a cache. Null: compile() would compile it.
  virtual std::shared_ptr<const Program> find(const std::string& /*source*/, const CompileOptions& /*options*/) {
    return nullptr;
  }

  /// Returns the object of type T that is kept under the key (address, number), which `make` makes at the first call.
  /// Kernels that many share are kept so, and end with the device: kept objects must not refer to it. Any thread may
  /// ask; `make` must not keep anything on the same device.
  template <class T>
  std::shared_ptr<const T> keep(const void* address, int number,
                                const std::function<std::shared_ptr<const T>()>& make) {
    const std::lock_guard lock(kept_mutex_);
    auto& kept = kept_[{std::type_index(typeid(T)), address, number}];
    if (kept == nullptr) kept = make();
    return std::static_pointer_cast<const T>(kept);
  }

private:
  std::mutex kept_mutex_;
  std::map<std::tuple<std::type_index, const void*, int>, std::shared_ptr<const void>> kept_;
};

/// The device of this name ("host", "checked", "opencl", "cuda:1", "hip"), as given to --device. With num_threads 0 the
/// host uses all cores that the process may use. Throws InputError for unknown names, and EnvironmentError for devices
/// that this machine or build lacks.
std::shared_ptr<Device> make_device(const std::string& name, int num_threads = 0);

} // namespace rafter::device
