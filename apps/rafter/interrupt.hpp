// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/error.hpp>

/// SIGINT, SIGTERM and SIGHUP stop a run. The first signal asks it to stop at the next place where that leaves nothing
/// half-done, and ends running compilers. A second signal, or one second without such a place, ends the process at
/// once. Neither leaves processes or temporary files behind.
namespace rafter::app {

/// Must be called before any thread starts: a thread of its own waits for the signals, which all others block. Hangups
/// stay ignored in a process that was started with them ignored (nohup).
void watch_signals();
/// Lets the first signal end the process, for commands that have nothing to finish.
void end_at_first_signal();
bool is_interrupted();

/// The user has stopped the run, which returns exit code 1 and leaves no half-written file.
class Interrupted : public base::SolverError {
public:
  Interrupted() : SolverError("stopped by a signal before the end") {}
};

/// Throws Interrupted if a signal has come.
void require_not_interrupted();

} // namespace rafter::app
