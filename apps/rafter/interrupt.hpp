// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/error.hpp>

/// SIGINT, SIGTERM and SIGHUP: the first one asks to stop at the next good place and ends running compilers, any second
/// one ends the process at once. Neither leaves processes or temporary files behind.
namespace rafter::app {

/// To be called before any thread starts: a thread of its own looks after the signals, which all others block. Hangups
/// stay ignored for a process that was started so (nohup).
void watch_signals();
/// For commands without good places to stop: the first signal ends the process.
void end_at_first_signal();
bool is_interrupted();

/// The user stopped the run: exit code 1, nothing half-written.
class Interrupted : public base::SolverError {
public:
  Interrupted() : SolverError("stopped by a signal before the end") {}
};

/// Throws Interrupted once a signal has come.
void require_not_interrupted();

} // namespace rafter::app
