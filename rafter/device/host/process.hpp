// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include <rafter/base/error.hpp>

namespace rafter::device {

struct ProcessResult {
  int exit_code = 0;  ///< of a process that ended by itself
  int signal = 0;     ///< that killed the process, or 0
  std::string output; ///< standard output and standard error, in the order written; at most 1 MiB
  bool is_success() const { return exit_code == 0 && signal == 0; }
};

/// Runs a program (arguments[0]: its path) with an argument vector, without a shell, with messages in English, in a
/// process group of its own, and waits. `temporary_folder`: for its temporary files; empty: what the environment says.
/// Throws EnvironmentError when it cannot be started, ProcessesStopped.
ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& temporary_folder = {});

/// A program was ended, or not started, because of stop_processes().
class ProcessesStopped : public base::Error {
public:
  ProcessesStopped() : Error("running programs were stopped") {}
};

/// For a process that is asked to stop: ends all programs that run_process runs, with everything that they started
/// (their process groups), and lets no other start. Any thread may call it.
void stop_processes();
/// Programs may start again.
void allow_processes();
/// Waits until the stopped programs are gone, so that they make no more files; at most for the given time.
void await_stopped_processes(std::chrono::milliseconds patience);

/// Absolute path of a program: a name with a slash is taken as it is, others are looked up in the absolute folders of
/// PATH. "" when there is none that may be executed.
std::string find_program(const std::string& name);

} // namespace rafter::device
