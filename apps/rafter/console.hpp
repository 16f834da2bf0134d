// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

namespace rafter::app {

/// Lets all that is printed on standard output from now on pass base::TerminalText, whoever prints it: titles, names
/// and paths come from files, and must not command the terminal that shows them. Results that go to standard output as
/// data (base::write_output) are left as they are.
void guard_standard_output();

/// Prints on standard error what base::terminal_text leaves. If that cannot be written (closed, full, a pipe that
/// nobody reads), the text is lost and the run goes on, since its results are worth more than messages about them.
void print_error(const std::string& text);
/// Removes the line of progress from standard error, if that is a terminal.
void clear_line_of_terminal();

/// This prints progress on standard error. A terminal shows one line that is rewritten, with a bar while a solver
/// iterates; any other output gets one line per event.
class Console {
public:
  Console();
  ~Console() { clear(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void event(const std::string& text);
  /// Shows that the compiler takes kernel `number` of `count`.
  void compilation(std::size_t number, std::size_t count);
  /// Shows an iteration of a solver that shall reach the relative residual `rtol`.
  void iteration(int number, double relative_residual, double rtol);
  /// Removes the line of progress from a terminal.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& line);
  /// Says whether what goes on may be printed again, so long after it was printed last.
  bool is_time_to_tell();
  bool is_terminal_ = false, is_shown_ = false;
  Clock::time_point last_shown_;
};

} // namespace rafter::app
