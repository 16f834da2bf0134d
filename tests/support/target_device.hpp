// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/host_device.hpp>
#include <rafter/device/host/process.hpp>

#include <tests/support/device_folders.hpp>
#include <tests/support/source_directory.hpp>

namespace rafter::test {

/// A processor for which kernels are compiled.
struct Target {
  std::string name;
  std::string compiler;               ///< name of the program
  std::vector<std::string> processor; ///< flags that select the processor
  std::vector<std::string> emulator;  ///< command that runs its programs; empty if this machine can
  std::string packages;               ///< packages of Debian with compiler and emulator
  std::string instruction_set; ///< instruction set that this machine needs to run its programs; empty if any will do
  int floats = 4;              ///< number of floats in a register
};

/// Kernels of another processor are run by an emulator (or by this machine, with other flags). Programs are compiled
/// with the library's own flags into shared libraries, buffers are in a file, and tests/support/kernel_runner.c,
/// compiled for the same processor, maps the file and calls the kernels. Each run of tasks is one process.
class TargetDevice final : public device::Device {
public:
  explicit TargetDevice(Target target)
      : target_(std::move(target)), compiler_(device::find_compiler(target_.compiler)) {
    const auto result = device::run_process({compiler_.path, "-O1", "-o", runner().string(),
                                             test::source_directory() + "/tests/support/kernel_runner.c", "-ldl"});
    if (!result.is_success()) throw std::runtime_error("kernel_runner.c does not compile: " + result.output);
    const int file = open(arena().c_str(), O_RDWR | O_CREAT, 0600);
    const bool is_sized = file >= 0 && ftruncate(file, arena_bytes) == 0;
    memory_ = is_sized ? mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0) close(file);
    if (memory_ == MAP_FAILED) throw std::runtime_error("cannot map " + arena().string());
  }
  ~TargetDevice() override { munmap(memory_, arena_bytes); }
  TargetDevice(const TargetDevice&) = delete;
  TargetDevice& operator=(const TargetDevice&) = delete;

  std::string name() const override { return target_.name; }
  int num_threads() const override { return 1; }
  bool shares_host_memory() const override { return false; }
  std::shared_ptr<device::Buffer> wrap(void*, std::size_t) override {
    throw base::InternalError("kernels of other processors cannot use this program's memory");
  }
  std::shared_ptr<device::Buffer> allocate(std::size_t bytes) override {
    const std::size_t position = used_;
    used_ += (bytes + alignment - 1) / alignment * alignment;
    if (used_ > arena_bytes) throw std::runtime_error("the buffers of a test outgrow " + arena().string());
    return std::make_shared<Memory>(static_cast<char*>(memory_), position, bytes);
  }
  std::shared_ptr<const device::Program> compile(const std::string& source,
                                                 const device::CompileOptions& options) override {
    const std::string stem = (folder_.path() / ("kernel" + std::to_string(num_programs_++))).string();
    std::ofstream(stem + ".c") << source;
    device::compile_library(compiler_, {.flags = device::compiler_flags(options, target_.processor),
                                        .source = stem + ".c",
                                        .library = stem + ".so",
                                        .kept_source = stem + ".kept.c"});
    return std::make_shared<Library>(stem + ".so");
  }
  std::shared_ptr<device::Event> run(std::span<const device::Task> tasks) override {
    {
      std::ofstream list(task_list());
      for (const auto& task : tasks) {
        const auto& entry = dynamic_cast<const Entry&>(*task.kernel);
        list << entry.library << ' ' << entry.entry << ' ' << task.begin << ' ' << task.end << ' '
             << task.arguments.size();
        for (std::size_t i = 0; i < task.arguments.size(); ++i)
          list << ' ' << dynamic_cast<const Memory&>(*task.arguments[i]).position + task.offset(i);
        list << '\n';
      }
    }
    auto command = target_.emulator;
    if (!command.empty()) command[0] = device::find_program(command[0]);
    command.insert(command.end(), {runner().string(), arena().string(), task_list().string()});
    const auto result = device::run_process(command);
    if (!result.is_success())
      throw std::runtime_error("kernels for " + target_.name + " failed (exit code " +
                               std::to_string(result.exit_code) + ", signal " + std::to_string(result.signal) +
                               "): " + base::join(command, " ") + "\n" + result.output);
    return device::done();
  }

private:
  static constexpr std::size_t arena_bytes = std::size_t{256} << 20; ///< size of a sparse file
  static constexpr std::size_t alignment = 4096;

  struct Memory final : device::Buffer {
    Memory(char* arena, std::size_t p, std::size_t b) : memory(arena + p), position(p), bytes(b) {}
    std::size_t size_bytes() const override { return bytes; }
    void* handle() const override { return memory; }
    char* memory;
    std::size_t position, bytes;

  private:
    void write(const void* source, std::size_t n, std::size_t offset) override {
      std::memcpy(memory + offset, source, n);
    }
    void read(void* destination, std::size_t n, std::size_t offset) const override {
      std::memcpy(destination, memory + offset, n);
    }
    void copy(const device::Buffer& source, std::size_t n, std::size_t source_offset, std::size_t offset) override {
      std::memmove(memory + offset, static_cast<const char*>(source.handle()) + source_offset, n);
    }
    void set_to_zero(std::size_t n, std::size_t offset) override { std::memset(memory + offset, 0, n); }
  };
  struct Entry final : device::Kernel {
    Entry(std::string path, std::string n) : library(std::move(path)), entry(std::move(n)) {}
    const std::string& name() const override { return entry; }
    std::string library, entry;
  };
  struct Library final : device::Program {
    explicit Library(std::string p) : path(std::move(p)) {}
    std::shared_ptr<const device::Kernel> kernel(const std::string& name) const override {
      return std::make_shared<Entry>(path, name);
    }
    std::string path;
  };

  std::filesystem::path runner() const { return folder_.path() / "kernel_runner"; }
  std::filesystem::path arena() const { return folder_.path() / "arena"; }
  std::filesystem::path task_list() const { return folder_.path() / "tasks"; }

  Target target_;
  device::Compiler compiler_;
  Folder folder_;
  void* memory_ = nullptr;
  std::size_t used_ = 0;
  std::atomic<int> num_programs_ = 0;
};

} // namespace rafter::test
