// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include <rafter/base/error.hpp>

namespace rafter::device {

/// The end of a process, and the text that it printed.
struct ProcessResult {
  int exit_code = 0;  ///< exit code of a process that ended by itself
  int signal = 0;     ///< signal that killed the process, or 0
  std::string output; ///< standard output and standard error, in the order written; at most 1 MiB
  bool is_success() const { return exit_code == 0 && signal == 0; }
};

/// Runs a program, whose path is arguments[0], with an argument vector and without a shell, in a process group of its
/// own and with messages in English, and waits for its end. `temporary_folder` is for the program's temporary files;
/// empty: as the environment says. Throws EnvironmentError when it cannot be started, and ProcessesStopped.
ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& temporary_folder = {});

/// A program was killed, or not started, because of stop_processes().
class ProcessesStopped : public base::Error {
public:
  ProcessesStopped() : Error("running programs were stopped") {}
};

/// Kills all programs that run_process runs, with everything that they started (their process groups), and lets no
/// other start: for a process that is asked to stop. Any thread may call it.
void stop_processes();
/// Lets programs start again.
void allow_processes();
/// Waits until the killed programs are gone, so that they make no more files; at most for the given time.
void await_stopped_processes(std::chrono::milliseconds patience);

/// Absolute path of a program. A name with a slash is a path; other names are looked up in the absolute folders of
/// PATH. "" when there is no such executable file.
std::string find_program(const std::string& name);

} // namespace rafter::device
