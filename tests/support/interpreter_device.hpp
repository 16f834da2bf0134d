// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <rafter/schedule/launch_interpreter.hpp>
#include <tests/support/host_memory_device.hpp>

/// The language of this device is the text of loop programs, which it interprets. Compiled kernels are compared with
/// it, since the interpreter defines what loop programs mean. Programs whose groups have items run with a look at
/// races.
namespace rafter::test {

class InterpreterDevice : public HostMemoryDevice {
public:
  std::string name() const override { return "interpreter"; }
  std::string language() const override { return "loops"; }
  std::shared_ptr<const device::Program> compile(const std::string& source, const device::CompileOptions&) override {
    ++num_compiled_;
    return std::make_shared<Text>(source);
  }
  std::shared_ptr<device::Event> run(std::span<const device::Task> tasks) override {
    for (const auto& task : tasks) {
      const auto& program = static_cast<const Entry*>(task.kernel)->program;
      std::vector<schedule::Argument> arguments;
      const auto buffers = program.arguments();
      for (std::size_t i = 0; i < buffers.size(); ++i) {
        void* const begin = task.handle(i);
        const std::size_t bytes = task.arguments[i]->size_bytes() - task.offset(i);
        schedule::Argument argument;
        if (buffers[i].type == schedule::Type::real)
          argument.reals = {static_cast<double*>(begin), bytes / sizeof(double)};
        else if (buffers[i].type == schedule::Type::real32)
          argument.singles = {static_cast<float*>(begin), bytes / sizeof(float)};
        else
          argument.integers = {static_cast<std::int32_t*>(begin), bytes / sizeof(std::int32_t)};
        arguments.push_back(argument);
      }
      if (!program.launch.is_of_host()) {
        launch(program, arguments, task.begin, task.end);
        ++num_launches_;
        continue;
      }
      const auto moved = schedule::interpret(program, arguments, task.begin, task.end);
      traffic_.read_bytes += moved.read_bytes;
      traffic_.written_bytes += moved.written_bytes;
    }
    return device::done();
  }
  int num_compiled() const { return num_compiled_; } ///< number of programs so far
  int num_launches() const { return num_launches_; } ///< runs of programs whose groups have items
  /// Returns the traffic of all runs of host programs so far.
  const schedule::Traffic& traffic() const { return traffic_; }

protected:
  /// Runs a program whose groups have items.
  virtual void launch(const schedule::LoopProgram& program, std::span<const schedule::Argument> arguments,
                      std::int64_t begin, std::int64_t end) {
    schedule::interpret_launch(program, arguments, begin, end);
  }

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
  std::atomic<int> num_compiled_ = 0, num_launches_ = 0;
};

} // namespace rafter::test
