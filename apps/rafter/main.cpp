// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/mesh/limits.hpp>

#include "command_line.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"

namespace {

using namespace rafter;

/// Prints a line on standard error. On a terminal it replaces the line that shows progress.
void print_message(std::string_view kind, const char* text) {
  app::clear_line_of_terminal();
  app::print_error(fmt::format("{}: {}\n", kind, text));
}

int fail(int code, const char* text) {
  print_message("rafter", text);
  return code;
}

std::string output_failure(const std::string& reason) { return "standard output cannot be written: " + reason; }

/// Returns what failed: writing to standard output, as fmt reports it, or starting a thread, for whose stack the memory
/// does not suffice.
std::string system_failure(const std::system_error& error) {
  if (std::ferror(stdout) != 0) return output_failure(error.code().message());
  if (error.code() != std::errc::resource_unavailable_try_again) return error.what();
  return fmt::format("the system starts no more threads: limits on processes (ulimit -u) or memory (ulimit -v) are too "
                     "low; {:.2g} GB may be used here",
                     1e-9 * mesh::available_memory_bytes());
}

/// The sizes are measured after the failed allocation has been undone, so that they are lower than they were at the
/// failure.
std::string memory_failure() {
  const auto used = base::process_memory();
  return fmt::format(
      "the memory does not suffice: {}{:.2g} GB may be used here: use a coarser mesh, a lower degree or "
      "more memory",
      used ? fmt::format("{:.2g} GB were in use at most, and ", 1e-9 * static_cast<double>(used->peak_bytes))
           : std::string(),
      1e-9 * mesh::available_memory_bytes());
}

/// All failures become exit codes here.
int exit_code_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const base::InputError& error) {
    return fail(app::exit_wrong_input, error.what());
  } catch (const base::EnvironmentError& error) {
    return fail(app::exit_environment, error.what());
  } catch (const base::SolverError& error) {
    return fail(app::exit_not_solved, error.what());
  } catch (const std::system_error& error) {
    return fail(app::exit_environment, system_failure(error).c_str());
  } catch (const std::bad_alloc&) {
    return fail(app::exit_environment, memory_failure().c_str());
  } catch (const std::length_error&) { // a list would be longer than any memory
    return fail(app::exit_environment, memory_failure().c_str());
  } catch (const std::exception& error) {
    fail(app::exit_fault, error.what());
    return fail(app::exit_fault, "this is a fault of Rafter's own: please report it with the problem file");
  }
}

/// A failure after a signal is usually a consequence of it (the signal ends a compiler, for example), so that only the
/// signal is reported.
int run(const std::vector<std::string>& arguments) {
  try {
    app::watch_signals(); // must come before other threads start
    return app::run_command_line(arguments);
  } catch (const std::exception&) {
    if (app::is_interrupted()) return fail(app::exit_not_solved, app::Interrupted().what());
    return exit_code_of(std::current_exception());
  }
}

/// Prints each warning once: a second try of a solve meets again what the first one has met.
void print_warnings() {
  base::set_warning_handler([printed = std::set<std::string>()](const std::string& text) mutable {
    if (printed.insert(text).second) print_message("warning", text.c_str());
  });
}

/// Files that the program opens must not get the numbers of standard streams that were closed, or everything printed
/// would go into them.
void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
}

} // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  app::guard_standard_output();
  base::keep_freed_memory();
  std::signal(SIGPIPE, SIG_IGN); // a pipe that nobody reads is an error of writing,
  std::signal(SIGXFSZ, SIG_IGN); // and so is a file that grows beyond `ulimit -f`
  print_warnings();
  const int code = run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  if (std::fflush(stdout) != 0) return fail(app::exit_environment, output_failure(std::strerror(errno)).c_str());
  return code;
}
