// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/gpu/gpu_device.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/gpu/gpu_devices.hpp>
#include <rafter/device/gpu/gpu_library.hpp>

namespace rafter::device {

/// A device with its context and its stream, which keeps the order of what is put into it.
class GpuDevice::Queue {
public:
  Queue(std::shared_ptr<const GpuLibrary> functions, InstalledGpu chosen)
      : library(std::move(functions)), device(std::move(chosen)) {
    library->check(library->retain_context(&context_, device.id), "making a context");
    try {
      enter();
      constexpr unsigned beside_other_streams = 1;
      library->check(library->create_stream(&stream, beside_other_streams), "making a stream");
    } catch (...) {
      library->release_context(device.id);
      throw;
    }
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() {
    if (enter_to_release()) {
      library->wait_for_stream(stream);
      for (void* const event : events_) library->destroy_event(event);
      library->destroy_stream(stream);
    }
    library->release_context(device.id);
  }
  std::string name() const { return "'" + device.capabilities.description + "'"; }
  /// Makes the context that of the calling thread, as drivers ask for before all other calls.
  void enter() const { library->check(library->set_context(context_), "entering the context"); }
  /// The same for what is given back: false where the device is lost, with all that it had.
  bool enter_to_release() const noexcept { return library->set_context(context_) == GpuLibrary::success; }

  /// An event that nobody uses, which the caller gives back.
  void* take_event() {
    const std::lock_guard lock(mutex_);
    if (!events_.empty()) {
      void* const event = events_.back();
      events_.pop_back();
      return event;
    }
    constexpr unsigned without_times = 2;
    void* event = nullptr;
    library->check(library->create_event(&event, without_times), "making an event");
    return event;
  }
  void give_event(void* event) noexcept {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }

  /// Throws EnvironmentError where the local memory of a kernel does not fit. Drivers reserve it for all items that the
  /// device can hold, at the first launch, and keep what the largest kernel took.
  void require_local_memory(std::int64_t bytes_of_item, const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    const auto bytes = bytes_of_item * device.most_resident_items;
    if (bytes <= local_bytes_) return;
    std::size_t free = 0, all = 0;
    library->check(library->get_free_memory(&free, &all), "asking for free memory");
    if (bytes - local_bytes_ > static_cast<std::int64_t>(free))
      throw base::EnvironmentError(fmt::format("{}: the work arrays of kernel {}, {} bytes for each of the {} items "
                                               "that {} holds at a time, take {:.1f} GB, "
                                               "and {:.1f} GB are free: use a lower degree or --device host",
                                               library->names->maker, kernel, bytes_of_item, device.most_resident_items,
                                               name(), 1e-9 * static_cast<double>(bytes),
                                               1e-9 * static_cast<double>(free)));
    local_bytes_ = bytes;
  }

  std::shared_ptr<const GpuLibrary> library;
  InstalledGpu device;
  void* stream = nullptr;
  CopyCounter copies; ///< copies of all buffers

private:
  void* context_ = nullptr;
  std::mutex mutex_;
  std::vector<void*> events_;    ///< events that nobody uses
  std::int64_t local_bytes_ = 0; ///< local memory that kernels have been found to fit in
};

/// Copies between the memory of the host and that of the device by way of pinned memory, which alone is copied while
/// the host goes on. Any thread may ask; one copy is made at a time.
class GpuDevice::Staging {
public:
  explicit Staging(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    if (!queue_->enter_to_release()) return;
    queue_->library->wait_for_stream(queue_->stream); // copies from pinned memory may still be queued
    for (auto* halves : {&halves_, &ring_})
      for (auto& half : *halves) release(half);
  }

private:
  /// A part of pinned memory, and the event after which it may be written again.
  struct Half {
    std::byte* memory = nullptr;
    void* event = nullptr; ///< null: nothing is copied from it
  };

public:
  /// Returns when the copy, and all that was put into the stream before, has ended.
  void write(GpuLibrary::Address to, const void* source, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto* from = static_cast<const std::byte*>(source);
    for (std::size_t done = 0, i = 0; done < bytes; done += chunk, ++i) {
      auto& half = free_half(halves_, i, chunk);
      const auto size = std::min(chunk, bytes - done);
      std::memcpy(half.memory, from + done, size);
      check(queue_->library->copy_to_device(to + done, half.memory, size, queue_->stream), to_device);
      mark(half);
    }
    check(queue_->library->wait_for_stream(queue_->stream), to_device);
  }
  /// Returns when the source has been read.
  void queue(GpuLibrary::Address to, const void* source, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto* from = static_cast<const std::byte*>(source);
    while (bytes > 0) {
      if (ring_used_ == ring_half) {
        mark(ring_[ring_number_ % 2]);
        ++ring_number_;
        ring_used_ = 0;
      }
      auto& half = ring_used_ == 0 ? free_half(ring_, ring_number_, ring_half) : ring_[ring_number_ % 2];
      const auto size = std::min(bytes, ring_half - ring_used_);
      std::memcpy(half.memory + ring_used_, from, size);
      check(queue_->library->copy_to_device(to, half.memory + ring_used_, size, queue_->stream), to_device);
      ring_used_ += size;
      from += size;
      to += size;
      bytes -= size;
    }
  }
  /// Returns when the values are there.
  void read(void* destination, GpuLibrary::Address from, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto* to = static_cast<std::byte*>(destination);
    const auto take = [&](std::size_t i) {
      auto& half = halves_[i % 2];
      wait(half);
      std::memcpy(to + i * chunk, half.memory, std::min(chunk, bytes - i * chunk));
    };
    const std::size_t count = (bytes + chunk - 1) / chunk;
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= 2) take(i - 2);
      auto& half = free_half(halves_, i, chunk);
      check(queue_->library->copy_to_host(half.memory, from + i * chunk, std::min(chunk, bytes - i * chunk),
                                          queue_->stream),
            to_host);
      mark(half);
    }
    for (std::size_t i = count < 2 ? 0 : count - 2; i < count; ++i) take(i);
  }

private:
  using Halves = std::array<Half, 2>;
  static constexpr std::size_t chunk = std::size_t{4} << 20, ring_half = std::size_t{32} << 10;
  static constexpr const char* to_device = "copying to the device";
  static constexpr const char* to_host = "copying from the device";

  void check(int code, const char* what) const { queue_->library->check(code, what); }
  void mark(Half& half) {
    if (half.event == nullptr) half.event = queue_->take_event();
    check(queue_->library->record_event(half.event, queue_->stream), "marking a copy");
  }
  void wait(const Half& half) const {
    if (half.event != nullptr) check(queue_->library->wait_for_event(half.event), "copying");
  }
  /// The half of this number, when it may be written.
  Half& free_half(Halves& halves, std::size_t number, std::size_t bytes) {
    auto& half = halves[number % 2];
    if (half.memory == nullptr) {
      void* memory = nullptr;
      if (const int code = queue_->library->allocate_pinned(&memory, bytes, 0); code == GpuLibrary::out_of_memory)
        throw base::EnvironmentError(std::string(queue_->library->names->maker) + ": the host has no " +
                                     std::to_string(bytes) + " bytes of pinned memory for copies");
      else
        check(code, "allocating pinned memory of the host");
      half.memory = static_cast<std::byte*>(memory);
    }
    wait(half);
    return half;
  }
  void release(Half& half) {
    if (half.event != nullptr) queue_->give_event(half.event);
    if (half.memory != nullptr) queue_->library->free_pinned(half.memory);
  }

  std::shared_ptr<Queue> queue_;
  std::mutex mutex_;
  Halves halves_, ring_;
  std::size_t ring_number_ = 0, ring_used_ = 0; ///< half of the ring that is filled, and its bytes that are in use
};

class GpuDevice::Memory final : public Buffer {
public:
  Memory(std::shared_ptr<Queue> queue, std::shared_ptr<Staging> staging, std::size_t bytes)
      : queue_(std::move(queue)), staging_(std::move(staging)), bytes_(bytes) {
    queue_->enter();
    queue_->library->check(queue_->library->allocate(&address_, std::max<std::size_t>(1, bytes)),
                           "allocating " + std::to_string(bytes) + " of the " +
                               std::to_string(queue_->device.capabilities.memory_bytes) + " bytes of " +
                               queue_->name());
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() override {
    if (queue_->enter_to_release()) queue_->library->free(address_);
  }

  std::size_t size_bytes() const override { return bytes_; }
  void* handle() const override { return reinterpret_cast<void*>(address_); }

private:
  void write(const void* source, std::size_t bytes, std::size_t offset) override {
    queue_->enter();
    staging_->write(address_ + offset, source, bytes);
    queue_->copies.count_to_device(bytes);
  }
  void queue(const void* source, std::size_t bytes, std::size_t offset) override {
    queue_->enter();
    staging_->queue(address_ + offset, source, bytes);
    queue_->copies.count_to_device(bytes);
  }
  void read(void* destination, std::size_t bytes, std::size_t offset) const override {
    queue_->enter();
    staging_->read(destination, address_ + offset, bytes);
    queue_->copies.count_to_host(bytes);
  }
  void copy(const Buffer& source, std::size_t bytes, std::size_t source_offset, std::size_t offset) override {
    queue_->enter();
    queue_->library->check(queue_->library->copy(address_ + offset,
                                                 dynamic_cast<const Memory&>(source).address_ + source_offset, bytes,
                                                 queue_->stream),
                           "copying on the device");
  }
  void set_to_zero(std::size_t bytes, std::size_t offset) override {
    queue_->enter();
    queue_->library->check(queue_->library->fill(address_ + offset, 0, bytes, queue_->stream),
                           "clearing memory of the device");
  }
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<Staging> staging_;
  std::size_t bytes_;
  GpuLibrary::Address address_ = 0;
};

class GpuDevice::Entry final : public Kernel, public std::enable_shared_from_this<Entry> {
public:
  Entry(std::shared_ptr<Queue> queue, std::shared_ptr<const Compiled> program, std::string name, void* function)
      : queue_(std::move(queue)), program_(std::move(program)), name_(std::move(name)), function_(function) {}
  const std::string& name() const override { return name_; }

  /// Puts a task into the stream. Returns false for a task without batches.
  bool run(const Task& task) const {
    const auto groups = task.launch.num_groups(task.end - task.begin);
    if (groups == 0) return false;
    constexpr std::int64_t most_groups = (std::int64_t{1} << 31) - 1;
    if (groups > most_groups)
      throw base::InternalError(
          fmt::format("kernel {} is run in {} groups, and {} is what a launch takes", name_, groups, most_groups));
    std::vector<void*> values(task.arguments.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = task.handle(i);
    std::int64_t begin = task.begin, end = task.end;
    std::vector<void*> arguments;
    for (auto& value : values) arguments.push_back(&value);
    arguments.push_back(&begin);
    arguments.push_back(&end);
    const auto extent = [&](std::size_t axis) { return static_cast<unsigned>(task.launch.items[axis]); };
    const int code = queue_->library->launch(function_, static_cast<unsigned>(groups), 1, 1, extent(0), extent(1),
                                             extent(2), 0, queue_->stream, arguments.data(), nullptr);
    if (code != GpuLibrary::success) queue_->library->check(code, "running " + name_); // the text takes time
    return true;
  }

private:
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<const Compiled> program_;
  std::string name_;
  void* function_;
};

class GpuDevice::Compiled final : public Program, public std::enable_shared_from_this<Compiled> {
public:
  Compiled(std::shared_ptr<Queue> queue, void* module) : queue_(std::move(queue)), module_(module) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() override {
    if (!queue_->enter_to_release()) return;
    queue_->library->wait_for_stream(queue_->stream); // kernels may still be queued
    queue_->library->unload_module(module_);
  }

  std::shared_ptr<const Kernel> kernel(const std::string& name) const override {
    queue_->enter();
    const auto& library = *queue_->library;
    constexpr int not_found = 500; // code of all makers
    void* function = nullptr;
    const int code = library.get_function(&function, module_, ("entry_" + name).c_str());
    if (code == not_found) throw base::InternalError("the program has no entry point '" + name + "'");
    library.check(code, "taking the entry point " + name);
    int local_bytes = 0;
    library.check(library.get_function_attribute(&local_bytes, GpuLibrary::local_bytes_of_function, function),
                  "asking for the memory of " + name);
    queue_->require_local_memory(local_bytes, name);
    return std::make_shared<Entry>(queue_, shared_from_this(), name, function);
  }

  /// Loads machine code, or else the text beside it; null and the code of the driver where it takes neither.
  static std::pair<std::shared_ptr<const Compiled>, int> load(const std::shared_ptr<Queue>& queue,
                                                              const GpuCode& code) {
    queue->enter();
    int answer = GpuLibrary::success;
    for (const auto* bytes : {&code.code, &code.text}) {
      if (bytes->empty()) continue;
      void* module = nullptr;
      answer = queue->library->load_module(&module, bytes->c_str());
      if (answer == GpuLibrary::success) return {std::make_shared<const Compiled>(queue, module), answer};
    }
    return {nullptr, answer};
  }

private:
  std::shared_ptr<Queue> queue_;
  void* module_ = nullptr;
};

/// The event behind the tasks of a run.
class GpuDevice::Completion final : public Event {
public:
  Completion(std::shared_ptr<Queue> queue, std::vector<std::shared_ptr<const Entry>> kernels)
      : queue_(std::move(queue)), kernels_(std::move(kernels)), event_(queue_->take_event()) {
    const int code = queue_->library->record_event(event_, queue_->stream);
    if (code == GpuLibrary::success) return;
    queue_->give_event(event_);
    queue_->library->check(code, "marking the end of runs");
  }
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  ~Completion() override { queue_->give_event(event_); }
  void wait() override {
    queue_->enter();
    const int code = queue_->library->wait_for_event(event_);
    if (code == GpuLibrary::success) return;
    std::vector<std::string> names; // the driver does not say which one
    for (const auto& kernel : kernels_)
      if (std::ranges::find(names, kernel->name()) == names.end()) names.push_back(kernel->name());
    queue_->library->check(code, "running " + (names.empty() ? "kernels" : base::join(names, ", ")));
  }

private:
  std::shared_ptr<Queue> queue_;
  std::vector<std::shared_ptr<const Entry>> kernels_;
  void* event_;
};

namespace {

/// Code and text as the content of a cache file: the size of the code on a line of its own, then both.
std::string file_content(const GpuCode& code) {
  return std::to_string(code.code.size()) + "\n" + code.code + code.text;
}

GpuCode from_file_content(const std::string& bytes) {
  std::size_t size = 0;
  const auto line = bytes.find('\n');
  if (line == std::string::npos || std::from_chars(bytes.data(), bytes.data() + line, size).ec != std::errc() ||
      size > bytes.size() - line - 1)
    return {};
  return {.code = bytes.substr(line + 1, size), .text = bytes.substr(line + 1 + size), .kernels = {}};
}

} // namespace

GpuDevice::GpuDevice(const GpuMaker& maker, GpuOptions options)
    : maker_(maker), queue_([&] {
        auto library = gpu_library(maker.driver);
        auto chosen = choose_gpu(*library, options.number);
        return std::make_shared<Queue>(std::move(library), std::move(chosen));
      }()),
      staging_(std::make_shared<Staging>(queue_)),
      binaries_(std::move(options.directory),
                {.extension = std::string(".") + maker.driver.language,
                 .load = [queue = queue_](const auto&, const std::string& bytes) -> std::shared_ptr<const Program> {
                   return Compiled::load(queue, from_file_content(bytes)).first;
                 }}) {}

std::string GpuDevice::name() const { return maker_.driver.language; }

std::string GpuDevice::language() const { return maker_.driver.language; }

Capabilities GpuDevice::capabilities() const { return queue_->device.capabilities; }

Copies GpuDevice::copies() const { return queue_->copies.total(); }

std::shared_ptr<Buffer> GpuDevice::allocate(std::size_t bytes) {
  return std::make_shared<Memory>(queue_, staging_, bytes);
}

std::shared_ptr<Buffer> GpuDevice::wrap(void*, std::size_t) {
  throw base::InternalError("graphics processors have memory of their own and cannot wrap that of the host");
}

std::string GpuDevice::key_of(const std::string& source) const {
  return cache_key({RAFTER_VERSION, maker_.driver.language, queue_->device.capabilities.architecture,
                    GpuCompiler::instance(maker_.compiler)->key(), source});
}

std::shared_ptr<const Program> GpuDevice::find(const std::string& source, const CompileOptions&) {
  return binaries_.find(key_of(source));
}

std::shared_ptr<const Program> GpuDevice::compile(const std::string& source, const CompileOptions&) {
  return binaries_.program(key_of(source), [&](const auto&, const std::filesystem::path& kept) -> Binary {
    const auto compiler = GpuCompiler::instance(maker_.compiler);
    const auto code = compiler->compile(source, queue_->device.capabilities.architecture, kept);
    auto [program, answer] = Compiled::load(queue_, code);
    queue_->library->check(answer, "loading what " + compiler->version() + " compiled, by the driver " +
                                       queue_->device.capabilities.version + ",");
    return {file_content(code), std::move(program)};
  });
}

std::shared_ptr<Event> GpuDevice::run(std::span<const Task> tasks) {
  queue_->enter();
  std::vector<std::shared_ptr<const Entry>> kernels;
  for (const auto& task : tasks) {
    const auto* entry = dynamic_cast<const Entry*>(task.kernel);
    if (entry == nullptr) throw base::InternalError("a task without a kernel of a graphics processor");
    if (entry->run(task)) kernels.push_back(entry->shared_from_this());
  }
  return std::make_shared<Completion>(queue_, std::move(kernels));
}

const GpuMaker& cuda() {
  static const GpuMaker maker{.driver = cuda_names(), .compiler = nvrtc_names()};
  return maker;
}

const GpuMaker& hip() {
  static const GpuMaker maker{.driver = hip_names(), .compiler = hiprtc_names()};
  return maker;
}

std::span<const GpuMaker* const> gpu_makers() {
  static const std::array makers{&cuda(), &hip()};
  return makers;
}

} // namespace rafter::device
