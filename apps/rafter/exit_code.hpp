// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What the command returns to the shell.
namespace rafter::app {

enum ExitCode : int {
  exit_done = 0,
  exit_not_solved = 1,  ///< the solve did not converge, or a check failed
  exit_wrong_input = 2, ///< the user can mend it
  exit_environment = 3, ///< no compiler, no device, disk full
  exit_fault = 4        ///< of Rafter's own
};

} // namespace rafter::app
