// SPDX-License-Identifier: BSD-3-Clause
#include "console.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <new>
#include <poll.h>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>
#include <rafter/base/terminal_text.hpp>

namespace rafter::app {
namespace {

constexpr int bar_width = 30;
constexpr const char* clear_line = "\r\033[K";
constexpr std::chrono::milliseconds terminal_period{100}, line_period{5000};

/// Returns how far the residual has come on its way to rtol, from 0 to 1 on a logarithmic scale.
double fraction(double residual, double rtol) {
  if (!(residual > 0) || !(rtol > 0) || rtol >= 1) return residual > 0 ? 0 : 1;
  return std::clamp(std::log(residual) / std::log(rtol), 0.0, 1.0);
}

std::string bar(double share) {
  const int filled = static_cast<int>(std::lround(share * bar_width));
  std::string text;
  for (int i = 0; i < bar_width; ++i) text += i < filled ? '#' : '.';
  return text;
}

} // namespace

namespace {

void write_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// Writes what a terminal may show of some bytes to standard output. Returns 0 where that fails.
ssize_t write_shown(void* shown, const char* bytes, std::size_t size) {
  const std::string text = static_cast<base::TerminalText*>(shown)->shown({bytes, size});
  for (std::string_view rest = text; !rest.empty();) {
    const auto count = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) { // somebody made the stream non-blocking
      pollfd ready{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return 0;
    }
  }
  return static_cast<ssize_t>(size);
}

} // namespace

void guard_standard_output() {
  static auto* const shown = new base::TerminalText; // it outlives all that prints when the process ends
  std::FILE* guarded =
      ::fopencookie(shown, "w", {.read = nullptr, .write = write_shown, .seek = nullptr, .close = nullptr});
  if (guarded == nullptr) throw std::bad_alloc();
  std::setvbuf(guarded, nullptr, ::isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF, BUFSIZ);
  std::fflush(stdout);
  stdout = guarded;
}

void print_error(const std::string& text) { write_error(base::terminal_text(text)); }

void clear_line_of_terminal() {
  if (::isatty(STDERR_FILENO) == 1) write_error(clear_line);
}

Console::Console() : is_terminal_(::isatty(STDERR_FILENO) == 1), last_shown_(Clock::now()) {}

void Console::show(const std::string& line) {
  write_error(clear_line + base::terminal_text(line));
  is_shown_ = true;
}

void Console::clear() {
  if (!is_shown_) return;
  write_error(clear_line);
  is_shown_ = false;
}

void Console::event(const std::string& text) {
  if (is_terminal_)
    show(text);
  else
    print_error(text + "\n");
}

bool Console::is_time_to_tell() {
  const auto now = Clock::now();
  if (now - last_shown_ < (is_terminal_ ? terminal_period : line_period)) return false;
  last_shown_ = now;
  return true;
}

void Console::compilation(std::size_t number, std::size_t count) {
  const bool is_first = number == 1;
  if (is_first) last_shown_ = Clock::now();
  if (is_first || number == count || is_time_to_tell()) event(fmt::format("compiling {} of {} kernels", number, count));
}

void Console::iteration(int number, double relative_residual, double rtol) {
  if (number <= 1) last_shown_ = Clock::now(); // short solves need no lines in between
  if (!is_time_to_tell()) return;
  const auto text = fmt::format("iteration {}, relative residual {:.2e}", number, relative_residual);
  if (is_terminal_)
    show(fmt::format("solve [{}] {}", bar(fraction(relative_residual, rtol)), text));
  else
    print_error("solve: " + text + "\n");
}

} // namespace rafter::app
