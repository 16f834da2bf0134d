// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/opencl/opencl_device.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include <rafter/base/error.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/opencl/opencl_library.hpp>

namespace rafter::device {
/// A device with its context and its queue, which keeps the order of what is put into it.
class OpenClDevice::Queue {
public:
  Queue(std::shared_ptr<const OpenClLibrary> functions, const InstalledDevice& chosen)
      : library(std::move(functions)), device(chosen.id), capabilities(chosen.capabilities),
        caches_code(chosen.caches_code) {
    cl_int code = CL_SUCCESS;
    context = library->create_context(nullptr, 1, &device, nullptr, nullptr, &code);
    check_opencl(code, "making a context");
    queue = library->create_queue(context, device, 0, &code);
    if (code != CL_SUCCESS) library->release_context(context);
    check_opencl(code, "making a queue");
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() {
    library->finish(queue);
    library->release_queue(queue);
    library->release_context(context);
  }
  std::string name() const { return "'" + capabilities.description + "'"; }

  std::shared_ptr<const OpenClLibrary> library;
  cl_device_id device;
  Capabilities capabilities;
  bool caches_code; ///< InstalledDevice::caches_code
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  CopyCounter copies; ///< copies of all buffers
};

class OpenClDevice::Memory final : public Buffer {
public:
  Memory(std::shared_ptr<Queue> queue, std::size_t bytes) : queue_(std::move(queue)), bytes_(bytes) {
    const std::size_t most = queue_->capabilities.most_buffer_bytes;
    if (most > 0 && bytes > most)
      throw base::EnvironmentError("OpenCL: an array of " + std::to_string(bytes) + " bytes is larger than the " +
                                   std::to_string(most) + " that a buffer of the device " + queue_->name() +
                                   " may have: use a coarser mesh, a lower degree, or --device host");
    cl_int code = CL_SUCCESS;
    memory_ = queue_->library->create_buffer(queue_->context, CL_MEM_READ_WRITE, std::max<std::size_t>(1, bytes),
                                             nullptr, &code);
    check_opencl(code, "allocating " + std::to_string(bytes) + " of the " +
                           std::to_string(queue_->capabilities.memory_bytes) + " bytes of " + queue_->name());
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() override { queue_->library->release_buffer(memory_); }

  std::size_t size_bytes() const override { return bytes_; }
  void* handle() const override { return memory_; }

private:
  void write(const void* source, std::size_t bytes, std::size_t offset) override {
    check_opencl(
        queue_->library->write_buffer(queue_->queue, memory_, CL_TRUE, offset, bytes, source, 0, nullptr, nullptr),
        to_device);
    queue_->copies.count_to_device(bytes);
  }
  /// Puts the bytes into the queue as patterns of fills, which the driver copies at once. A pattern has a power of two
  /// of bytes, at most 128, of which its place is a multiple.
  void queue(const void* source, std::size_t bytes, std::size_t offset) override {
    constexpr std::size_t largest_pattern = 128;
    const auto* from = static_cast<const std::byte*>(source);
    queue_->copies.count_to_device(bytes);
    while (bytes > 0) {
      std::size_t pattern_bytes = std::bit_floor(std::min(bytes, largest_pattern));
      while (offset % pattern_bytes != 0) pattern_bytes /= 2;
      check_opencl(queue_->library->fill_buffer(queue_->queue, memory_, from, pattern_bytes, offset, pattern_bytes, 0,
                                                nullptr, nullptr),
                   to_device);
      from += pattern_bytes;
      offset += pattern_bytes;
      bytes -= pattern_bytes;
    }
  }
  void read(void* destination, std::size_t bytes, std::size_t offset) const override {
    check_opencl(
        queue_->library->read_buffer(queue_->queue, memory_, CL_TRUE, offset, bytes, destination, 0, nullptr, nullptr),
        "copying from the device");
    queue_->copies.count_to_host(bytes);
  }
  void copy(const Buffer& source, std::size_t bytes, std::size_t source_offset, std::size_t offset) override {
    check_opencl(queue_->library->copy_buffer(queue_->queue, dynamic_cast<const Memory&>(source).memory_, memory_,
                                              source_offset, offset, bytes, 0, nullptr, nullptr),
                 "copying on the device");
  }
  void set_to_zero(std::size_t bytes, std::size_t offset) override {
    const cl_uchar zero = 0;
    check_opencl(
        queue_->library->fill_buffer(queue_->queue, memory_, &zero, sizeof zero, offset, bytes, 0, nullptr, nullptr),
        "clearing memory of the device");
  }
  static constexpr const char* to_device = "copying to the device";
  std::shared_ptr<Queue> queue_;
  std::size_t bytes_;
  cl_mem memory_ = nullptr;
};

class OpenClDevice::Entry final : public Kernel, public std::enable_shared_from_this<Entry> {
public:
  Entry(std::shared_ptr<Queue> queue, std::shared_ptr<const Compiled> program, std::string name, cl_kernel kernel)
      : queue_(std::move(queue)), kernel_(kernel), program_(std::move(program)), name_(std::move(name)) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() override { queue_->library->release_kernel(kernel_); }
  const std::string& name() const override { return name_; }

  /// Puts a task into the queue. Returns its event, which the caller releases; null for a task without batches.
  cl_event run(const Task& task) const {
    const auto& library = *queue_->library;
    const auto groups = static_cast<std::size_t>(task.launch.num_groups(task.end - task.begin));
    if (groups == 0) return nullptr;
    cl_uint place = 0;
    const auto set = [&](const auto& value) {
      check_opencl(library.set_argument(kernel_, place++, sizeof value, &value), "binding an argument of " + name_);
    };
    for (std::size_t i = 0; i < task.arguments.size(); ++i) {
      set(static_cast<cl_mem>(task.arguments[i]->handle()));
      set(static_cast<cl_long>(task.offset(i)));
    }
    set(static_cast<cl_long>(task.begin));
    set(static_cast<cl_long>(task.end));
    std::array<std::size_t, 3> items{}, all{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      all[axis] = items[axis] = static_cast<std::size_t>(task.launch.items[axis]);
    all[0] *= groups;
    cl_event event = nullptr;
    check_opencl(library.run_kernel(queue_->queue, kernel_, 3, nullptr, all.data(), items.data(), 0, nullptr, &event),
                 "running " + name_);
    return event;
  }

private:
  std::shared_ptr<Queue> queue_;
  cl_kernel kernel_;
  std::shared_ptr<const Compiled> program_;
  std::string name_;
};

class OpenClDevice::Compiled final : public Program, public std::enable_shared_from_this<Compiled> {
public:
  Compiled(std::shared_ptr<Queue> queue, cl_program program) : queue_(std::move(queue)), program_(program) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  static constexpr const char* build_options = "-cl-std=CL1.2";
  ~Compiled() override { queue_->library->release_program(program_); }

  /// Says whether the driver has made code of the program.
  bool build() const {
    return queue_->library->build_program(program_, 1, &queue_->device, build_options, nullptr, nullptr) == CL_SUCCESS;
  }
  /// Returns the messages of the driver's compiler.
  std::string log() const {
    std::size_t size = 0;
    const auto ask = [&](std::size_t room, void* text, std::size_t* needed) {
      return queue_->library->get_build_info(program_, queue_->device, CL_PROGRAM_BUILD_LOG, room, text, needed);
    };
    if (ask(0, nullptr, &size) != CL_SUCCESS) return "";
    std::string result(size, '\0');
    if (ask(size, result.data(), nullptr) != CL_SUCCESS) return "";
    return result.substr(0, result.find('\0'));
  }
  /// Returns the content of a cache file: the code that the driver made, or its source where the driver keeps the code
  /// in a cache of its own; "" where it hands out no code.
  std::string entry(const std::string& source) const {
    if (queue_->caches_code) return source;
    const auto& library = *queue_->library;
    std::size_t size = 0;
    if (library.get_program_info(program_, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS)
      return "";
    std::string bytes(size, '\0');
    auto* place = reinterpret_cast<unsigned char*>(bytes.data());
    const auto code = library.get_program_info(program_, CL_PROGRAM_BINARIES, sizeof place, &place, nullptr);
    return code == CL_SUCCESS ? bytes : "";
  }

  std::shared_ptr<const Kernel> kernel(const std::string& name) const override {
    cl_int code = CL_SUCCESS;
    auto* const kernel = queue_->library->create_kernel(program_, ("entry_" + name).c_str(), &code);
    if (code == CL_INVALID_KERNEL_NAME) throw base::InternalError("the program has no entry point '" + name + "'");
    check_opencl(code, "taking the entry point " + name);
    return std::make_shared<Entry>(queue_, shared_from_this(), name, kernel);
  }

  static std::shared_ptr<const Compiled> from_source(const std::shared_ptr<Queue>& queue, const std::string& source) {
    cl_int code = CL_SUCCESS;
    const char* text = source.c_str();
    auto* const program = queue->library->create_program(queue->context, 1, &text, nullptr, &code);
    check_opencl(code, "reading a program");
    return std::make_shared<const Compiled>(queue, program);
  }
  /// The program in a cache file; null where the driver refuses it.
  static std::shared_ptr<const Compiled> from_entry(const std::shared_ptr<Queue>& queue, const std::string& bytes) {
    auto result = queue->caches_code ? from_source(queue, bytes) : from_binary(queue, bytes);
    return result != nullptr && result->build() ? result : nullptr;
  }

private:
  /// Null where the bytes are no code of this driver.
  static std::shared_ptr<const Compiled> from_binary(const std::shared_ptr<Queue>& queue, const std::string& bytes) {
    cl_int state = CL_SUCCESS, code = CL_SUCCESS;
    const std::size_t size = bytes.size();
    const auto* text = reinterpret_cast<const unsigned char*>(bytes.data());
    auto* const program =
        queue->library->create_program_from_binary(queue->context, 1, &queue->device, &size, &text, &state, &code);
    if (code != CL_SUCCESS) return nullptr;
    auto result = std::make_shared<const Compiled>(queue, program);
    return state == CL_SUCCESS ? result : nullptr;
  }

  std::shared_ptr<Queue> queue_;
  cl_program program_ = nullptr;
};

/// The events of the tasks of a run; of a run without tasks, that of all that was put into the queue before.
class OpenClDevice::Completion final : public Event {
public:
  explicit Completion(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  ~Completion() override {
    for (auto* const event : events_) queue_->library->release_event(event);
  }

  void add(const Task& task) {
    const auto* entry = dynamic_cast<const Entry*>(task.kernel);
    if (entry == nullptr) throw base::InternalError("a task without a kernel of an OpenCL device");
    kernels_.push_back(entry->shared_from_this());
    events_.reserve(kernels_.size());
    if (auto* const event = entry->run(task))
      events_.push_back(event);
    else
      kernels_.pop_back();
  }
  void add_all_before() {
    events_.reserve(1);
    cl_event event = nullptr;
    check_opencl(queue_->library->put_marker(queue_->queue, 0, nullptr, &event), "marking the end of runs");
    events_.push_back(event);
  }
  bool is_empty() const { return events_.empty(); }

  void wait() override {
    const auto& library = *queue_->library;
    const auto code = library.wait_for_events(static_cast<cl_uint>(events_.size()), events_.data());
    if (code == CL_SUCCESS) return;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      cl_int state = CL_COMPLETE; // negative: the code of a failure
      const auto answer =
          library.get_event_info(events_[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
      if (answer == CL_SUCCESS && state < 0) check_opencl(state, "running " + kernels_[i]->name());
    }
    check_opencl(code, "running " + (kernels_.empty() ? "kernels" : kernels_.front()->name()));
  }

private:
  std::shared_ptr<Queue> queue_;
  std::vector<cl_event> events_;                      ///< shape (task), or that of the marker
  std::vector<std::shared_ptr<const Entry>> kernels_; ///< shape (task)
};

OpenClDevice::OpenClDevice(OpenClOptions options)
    : queue_([&options] {
        auto library = options.library != nullptr ? options.library : OpenClLibrary::instance();
        const auto chosen = choose_device(*library, options.number);
        return std::make_shared<Queue>(std::move(library), chosen);
      }()),
      binaries_(std::move(options.directory),
                {.extension = ".clbin", .load = [queue = queue_](const auto&, const std::string& bytes) {
                   return Compiled::from_entry(queue, bytes);
                 }}) {}

Capabilities OpenClDevice::capabilities() const { return queue_->capabilities; }

Copies OpenClDevice::copies() const { return queue_->copies.total(); }

std::shared_ptr<Buffer> OpenClDevice::allocate(std::size_t bytes) { return std::make_shared<Memory>(queue_, bytes); }

std::shared_ptr<Buffer> OpenClDevice::wrap(void*, std::size_t) {
  throw base::InternalError("OpenCL devices have memory of their own and cannot wrap that of the host");
}

std::string OpenClDevice::key_of(const std::string& source) const {
  const auto& device = queue_->capabilities;
  return cache_key({RAFTER_VERSION, "opencl", device.description, device.version, Compiled::build_options, source});
}

std::filesystem::path OpenClDevice::file_of(const std::string& source) const {
  return binaries_.file_of(key_of(source));
}

std::shared_ptr<const Program> OpenClDevice::find(const std::string& source, const CompileOptions&) {
  return binaries_.find(key_of(source));
}

std::shared_ptr<const Program> OpenClDevice::compile(const std::string& source, const CompileOptions&) {
  return binaries_.program(key_of(source), [&](const auto&, const std::filesystem::path& kept) -> Binary {
    const auto program = Compiled::from_source(queue_, source);
    if (program->build()) return {program->entry(source), program};
    const std::string file = kept.string() + ".cl";
    write_private(file, source);
    throw base::EnvironmentError("OpenCL: the device " + queue_->name() + " cannot compile a kernel with " +
                                 Compiled::build_options + "\n  source kept: " + file + "\n" +
                                 first_lines(program->log(), 20));
  });
}

std::shared_ptr<Event> OpenClDevice::run(std::span<const Task> tasks) {
  const std::lock_guard lock(mutex_);
  auto result = std::make_shared<Completion>(queue_);
  for (const auto& task : tasks) result->add(task);
  if (result->is_empty()) result->add_all_before();
  check_opencl(queue_->library->flush(queue_->queue), "starting kernels"); // drivers may wait for more otherwise
  return result;
}

} // namespace rafter::device
