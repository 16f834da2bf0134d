// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstring>

#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>
#include <rafter/schedule/loop_program.hpp>

/// A device whose language is the text of loop programs and which interprets them: the definition that compiled kernels
/// are held against.
namespace rafter::test {

class InterpreterDevice final : public device::Device {
public:
  std::string name() const override { return "interpreter"; }
  std::string language() const override { return "loops"; }
  int num_threads() const override { return 1; }
  bool shares_host_memory() const override { return true; }
  std::shared_ptr<device::Buffer> allocate(std::size_t) override { throw base::InternalError("memory is shared"); }
  std::shared_ptr<device::Buffer> wrap(void* host, std::size_t bytes) override {
    return std::make_shared<Memory>(host, bytes);
  }
  std::shared_ptr<const device::Program> compile(const std::string& source, const device::CompileOptions&) override {
    return std::make_shared<Text>(source);
  }
  std::shared_ptr<device::Event> run(std::span<const device::Task> tasks) override {
    for (const auto& task : tasks) {
      const auto& program = static_cast<const Entry*>(task.kernel)->program;
      std::vector<schedule::Argument> arguments;
      const auto buffers = program.arguments();
      for (std::size_t i = 0; i < buffers.size(); ++i) {
        const auto* buffer = task.arguments[i];
        schedule::Argument argument;
        if (buffers[i].type == schedule::Type::real)
          argument.reals = {static_cast<double*>(buffer->handle()), buffer->size_bytes() / sizeof(double)};
        else if (buffers[i].type == schedule::Type::real32)
          argument.singles = {static_cast<float*>(buffer->handle()), buffer->size_bytes() / sizeof(float)};
        else
          argument.integers = {static_cast<std::int32_t*>(buffer->handle()),
                               buffer->size_bytes() / sizeof(std::int32_t)};
        arguments.push_back(argument);
      }
      schedule::interpret(program, arguments, task.begin, task.end);
    }
    return std::make_shared<Done>();
  }

private:
  struct Memory final : device::Buffer {
    Memory(void* h, std::size_t b) : host(h), bytes(b) {}
    std::size_t size_bytes() const override { return bytes; }
    void copy_from_host(const void* source, std::size_t n) override { std::memmove(host, source, n); }
    void copy_to_host(void* destination, std::size_t n) const override { std::memmove(destination, host, n); }
    void* handle() const override { return host; }
    void* host;
    std::size_t bytes;
  };
  struct Entry final : device::Kernel {
    explicit Entry(const std::string& text) : program(schedule::read(text)) {}
    const std::string& name() const override { return program.name; }
    schedule::LoopProgram program;
  };
  struct Text final : device::Program {
    explicit Text(const std::string& text) : entry(std::make_shared<Entry>(text)) {}
    std::shared_ptr<const device::Kernel> kernel(const std::string&) const override { return entry; }
    std::shared_ptr<Entry> entry;
  };
  struct Done final : device::Event {
    void wait() override {}
  };
};

} // namespace rafter::test
