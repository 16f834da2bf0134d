// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/error.hpp>

/// SIGINT and SIGTERM: the first one asks to stop at the next good place, the second one ends the process at once.
namespace rafter::app {

void install_interrupt_handlers();
/// For commands without good places to stop: the first signal ends the process.
void restore_default_signals();
bool is_interrupted();

/// The user stopped the run: exit code 1, nothing half-written.
class Interrupted : public base::SolverError {
public:
  Interrupted() : SolverError("stopped by a signal; no output was written") {}
};

/// Throws Interrupted once a signal has come.
void require_not_interrupted();

} // namespace rafter::app
