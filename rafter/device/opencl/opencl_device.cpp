// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/opencl/opencl_device.hpp>

#include <algorithm>
#include <array>

#include <rafter/base/error.hpp>
#include <rafter/device/opencl/opencl_library.hpp>

namespace rafter::device {
namespace {

const OpenClLibrary& library() { return OpenClLibrary::instance(); }

std::vector<cl_device_id> all_devices() {
  cl_uint num_platforms = 0;
  // The loader reports an error where it knows no platform.
  if (library().get_platforms(0, nullptr, &num_platforms) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> platforms(num_platforms);
  check_opencl(library().get_platforms(num_platforms, platforms.data(), nullptr), "looking for platforms");
  std::vector<cl_device_id> result;
  for (const auto platform : platforms) {
    cl_uint count = 0;
    if (library().get_devices(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    check_opencl(library().get_devices(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
                 "looking for devices");
    result.insert(result.end(), devices.begin(), devices.end());
  }
  return result;
}

std::string text_info(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  check_opencl(library().get_device_info(device, what, 0, nullptr, &size), "asking a device");
  std::string result(size, '\0');
  check_opencl(library().get_device_info(device, what, size, result.data(), nullptr), "asking a device");
  return result.substr(0, result.find('\0'));
}
template <class T> T number_info(cl_device_id device, cl_device_info what) {
  T result{};
  check_opencl(library().get_device_info(device, what, sizeof result, &result, nullptr), "asking a device");
  return result;
}

bool has_extension(cl_device_id device, const std::string& name) {
  return (" " + text_info(device, CL_DEVICE_EXTENSIONS) + " ").find(" " + name + " ") != std::string::npos;
}

Capabilities capabilities_of(cl_device_id device) {
  return {.description = text_info(device, CL_DEVICE_NAME),
          .version = text_info(device, CL_DEVICE_VERSION) + ", driver " + text_info(device, CL_DRIVER_VERSION),
          .num_compute_units = static_cast<int>(number_info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS)),
          .most_items = static_cast<int>(number_info<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE)),
          .vector_width = static_cast<int>(number_info<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE)),
          .memory_bytes = static_cast<std::size_t>(number_info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE)),
          .most_buffer_bytes = static_cast<std::size_t>(number_info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE)),
          .shared_bytes = static_cast<std::size_t>(number_info<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE)),
          .has_doubles = has_extension(device, "cl_khr_fp64"),
          .has_unified_memory = number_info<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE};
}

void require_extensions(cl_device_id device) {
  for (const std::string needed : {"cl_khr_fp64", "cl_khr_int64_base_atomics"})
    if (!has_extension(device, needed))
      throw base::EnvironmentError("the OpenCL device '" + text_info(device, CL_DEVICE_NAME) + "' lacks " + needed +
                                   ", which kernels need");
}

} // namespace

/// A device with its context and its queue, which keeps the order of what is put into it.
class OpenClDevice::Queue {
public:
  explicit Queue(cl_device_id of) : device(of) {
    cl_int code = CL_SUCCESS;
    context = library().create_context(nullptr, 1, &device, nullptr, nullptr, &code);
    check_opencl(code, "making a context");
    queue = library().create_queue(context, device, 0, &code);
    if (code != CL_SUCCESS) library().release_context(context);
    check_opencl(code, "making a queue");
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() {
    library().finish(queue);
    library().release_queue(queue);
    library().release_context(context);
  }

  cl_device_id device;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  CopyCounter copies; ///< of all buffers
};

class OpenClDevice::Memory final : public Buffer {
public:
  Memory(std::shared_ptr<Queue> queue, std::size_t bytes) : queue_(std::move(queue)), bytes_(bytes) {
    cl_int code = CL_SUCCESS;
    memory_ =
        library().create_buffer(queue_->context, CL_MEM_READ_WRITE, std::max<std::size_t>(1, bytes), nullptr, &code);
    check_opencl(code, "allocating " + std::to_string(bytes) + " bytes");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() override { library().release_buffer(memory_); }

  std::size_t size_bytes() const override { return bytes_; }
  void* handle() const override { return memory_; }

private:
  void write(const void* source, std::size_t bytes, std::size_t offset) override {
    check_opencl(library().write_buffer(queue_->queue, memory_, CL_TRUE, offset, bytes, source, 0, nullptr, nullptr),
                 "copying to the device");
    queue_->copies.count_to_device(bytes);
  }
  void read(void* destination, std::size_t bytes, std::size_t offset) const override {
    check_opencl(
        library().read_buffer(queue_->queue, memory_, CL_TRUE, offset, bytes, destination, 0, nullptr, nullptr),
        "copying from the device");
    queue_->copies.count_to_host(bytes);
  }
  void set_to_zero() override {
    const cl_uchar zero = 0;
    check_opencl(library().fill_buffer(queue_->queue, memory_, &zero, sizeof zero, 0, bytes_, 0, nullptr, nullptr),
                 "clearing memory of the device");
  }
  std::shared_ptr<Queue> queue_;
  std::size_t bytes_;
  cl_mem memory_ = nullptr;
};

class OpenClDevice::Entry final : public Kernel {
public:
  Entry(std::shared_ptr<const Compiled> program, std::string name, cl_kernel kernel)
      : kernel_(kernel), program_(std::move(program)), name_(std::move(name)) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() override { library().release_kernel(kernel_); }
  const std::string& name() const override { return name_; }

  /// Puts a run into a queue.
  void run(cl_command_queue queue, const Task& task) const {
    const auto groups = static_cast<std::size_t>(task.launch.num_groups(task.end - task.begin));
    if (groups == 0) return;
    cl_uint place = 0;
    const auto set = [&](const auto& value) {
      check_opencl(library().set_argument(kernel_, place++, sizeof value, &value), "binding an argument of " + name_);
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
    check_opencl(library().run_kernel(queue, kernel_, 3, nullptr, all.data(), items.data(), 0, nullptr, nullptr),
                 "running " + name_);
  }

private:
  cl_kernel kernel_;
  std::shared_ptr<const Compiled> program_;
  std::string name_;
};

class OpenClDevice::Compiled final : public Program, public std::enable_shared_from_this<Compiled> {
public:
  Compiled(std::shared_ptr<Queue> queue, const std::string& source) : queue_(std::move(queue)) {
    cl_int code = CL_SUCCESS;
    const char* text = source.c_str();
    program_ = library().create_program(queue_->context, 1, &text, nullptr, &code);
    check_opencl(code, "reading a program");
    if (library().build_program(program_, 1, &queue_->device, "-cl-std=CL1.2", nullptr, nullptr) == CL_SUCCESS) return;
    const auto what = log();
    library().release_program(program_);
    throw base::EnvironmentError("OpenCL: the device '" + text_info(queue_->device, CL_DEVICE_NAME) +
                                 "' cannot compile a kernel; it says:\n" + what + "\nThe source is:\n" + source);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() override { library().release_program(program_); }

  std::shared_ptr<const Kernel> kernel(const std::string& name) const override {
    cl_int code = CL_SUCCESS;
    const auto kernel = library().create_kernel(program_, ("entry_" + name).c_str(), &code);
    if (code == CL_INVALID_KERNEL_NAME) throw base::InternalError("the program has no entry point '" + name + "'");
    check_opencl(code, "taking the entry point " + name);
    return std::make_shared<Entry>(shared_from_this(), name, kernel);
  }

private:
  std::string log() const {
    std::size_t size = 0;
    library().get_build_info(program_, queue_->device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string result(size, '\0');
    library().get_build_info(program_, queue_->device, CL_PROGRAM_BUILD_LOG, size, result.data(), nullptr);
    return result.substr(0, result.find('\0'));
  }
  std::shared_ptr<Queue> queue_;
  cl_program program_ = nullptr;
};

class OpenClDevice::Finish final : public Event {
public:
  explicit Finish(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}
  void wait() override { check_opencl(library().finish(queue_->queue), "running kernels"); }

private:
  std::shared_ptr<Queue> queue_;
};

std::vector<Capabilities> opencl_devices() {
  std::vector<Capabilities> result;
  for (const auto device : all_devices()) result.push_back(capabilities_of(device));
  return result;
}

OpenClDevice::OpenClDevice(int number) {
  const auto devices = all_devices();
  if (number < 0 || number >= static_cast<int>(devices.size()))
    throw base::EnvironmentError(
        "there is no OpenCL device " + std::to_string(number) + "; this machine has " + std::to_string(devices.size()) +
        (devices.empty() ? "; one that is the processor: apt-get install pocl-opencl-icd" : ""));
  const auto device = devices[static_cast<std::size_t>(number)];
  require_extensions(device);
  queue_ = std::make_shared<Queue>(device);
}

Capabilities OpenClDevice::capabilities() const { return capabilities_of(queue_->device); }

Copies OpenClDevice::copies() const { return queue_->copies.total(); }

std::shared_ptr<Buffer> OpenClDevice::allocate(std::size_t bytes) { return std::make_shared<Memory>(queue_, bytes); }

std::shared_ptr<Buffer> OpenClDevice::wrap(void*, std::size_t) {
  throw base::InternalError("OpenCL devices have memory of their own and cannot wrap that of the host");
}

std::shared_ptr<const Program> OpenClDevice::compile(const std::string& source, const CompileOptions&) {
  return std::make_shared<Compiled>(queue_, source);
}

std::shared_ptr<Event> OpenClDevice::run(std::span<const Task> tasks) {
  const std::lock_guard lock(mutex_);
  for (const auto& task : tasks) {
    const auto* entry = dynamic_cast<const Entry*>(task.kernel);
    if (entry == nullptr) throw base::InternalError("a task without a kernel of an OpenCL device");
    entry->run(queue_->queue, task);
  }
  return std::make_shared<Finish>(queue_);
}

} // namespace rafter::device
