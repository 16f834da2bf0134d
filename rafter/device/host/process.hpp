// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace rafter::device {

struct ProcessResult {
  int exit_code = 0;  ///< of a process that ended by itself
  int signal = 0;     ///< that killed the process, or 0
  std::string output; ///< standard output and standard error, in the order written; at most 1 MiB
  bool is_success() const { return exit_code == 0 && signal == 0; }
};

/// Runs a program (arguments[0]: its path) with an argument vector, without a shell, with messages in English, and
/// waits. Throws EnvironmentError when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments);

/// Absolute path of a program: a name with a slash is taken as it is, others are looked up in the absolute folders of
/// PATH. "" when there is none that may be executed.
std::string find_program(const std::string& name);

} // namespace rafter::device
