// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The command returns one of these codes to the shell.
namespace rafter::app {

enum ExitCode : int {
  exit_done = 0,
  exit_not_solved = 1,  ///< the solve did not converge, or a check failed
  exit_wrong_input = 2, ///< the user's input is wrong
  exit_environment = 3, ///< something is missing outside of Rafter: compiler, device, space on a disk
  exit_fault = 4        ///< Rafter itself has an error
};

} // namespace rafter::app
