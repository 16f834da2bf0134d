// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/schedule/loop_program.hpp>
#include <tests/support/host_memory_device.hpp>

/// A device whose language is the text of loop programs and which interprets them: the definition that compiled kernels
/// are held against.
namespace rafter::test {

class InterpreterDevice final : public HostMemoryDevice {
public:
  std::string name() const override { return "interpreter"; }
  std::string language() const override { return "loops"; }
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
      const auto moved = schedule::interpret(program, arguments, task.begin, task.end);
      traffic_.read_bytes += moved.read_bytes;
      traffic_.written_bytes += moved.written_bytes;
    }
    return device::done();
  }
  /// Of all runs so far.
  const schedule::Traffic& traffic() const { return traffic_; }

private:
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
  schedule::Traffic traffic_;
};

} // namespace rafter::test
