// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <rafter/schedule/launch_interpreter.hpp>
#include <tests/support/host_memory_device.hpp>
#include <tests/support/planner.hpp>

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
        if (program.launch == device::Launch{.batches = device::Launch::all_batches}) { // a loop over vectors
          schedule::interpret_launch(program, arguments, task.begin, task.end);
          continue;
        }
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
  /// One program or several, one behind the other.
  struct Text final : device::Program {
    explicit Text(const std::string& text) {
      const std::string head = "(program ";
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.size(), text.find(head, begin + 1));
        entries.push_back(std::make_shared<Entry>(text.substr(begin, end - begin)));
        begin = end;
      }
    }
    std::shared_ptr<const device::Kernel> kernel(const std::string& name) const override {
      for (const auto& entry : entries)
        if (entry->name() == name || entries.size() == 1) return entry;
      throw base::InternalError("the program has no entry point '" + name + "'");
    }
    std::vector<std::shared_ptr<Entry>> entries;
  };
  schedule::Traffic traffic_;
  std::atomic<int> num_compiled_ = 0, num_launches_ = 0;
};

/// Options of an operator whose kernels are interpreted. "": the planner chooses the plan.
inline op::OperatorOptions interpreted(const std::string& plan = "") {
  return planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan});
}

} // namespace rafter::test
