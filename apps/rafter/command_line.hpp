// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace rafter::app {

/// Reads the arguments (without the program's name), runs the subcommand that they name and returns its exit code. Help
/// and version are printed on standard output. Throws InputError for arguments that no subcommand accepts.
int run_command_line(const std::vector<std::string>& arguments);

} // namespace rafter::app
