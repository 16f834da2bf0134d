// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>

#include "command_line.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"

namespace {

using namespace rafter;

/// A line on standard error; on a terminal in place of the line that shows progress.
void tell(std::string_view kind, const char* text) {
  fmt::print(stderr, "{}{}: {}\n", ::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", kind, text);
}

int fail(int code, const char* text) {
  tell("rafter", text);
  return code;
}

/// The one place where failures become exit codes.
int exit_code_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const base::InputError& error) {
    return fail(app::exit_wrong_input, error.what());
  } catch (const base::EnvironmentError& error) {
    return fail(app::exit_environment, error.what());
  } catch (const base::SolverError& error) {
    return fail(app::exit_not_solved, error.what());
  } catch (const std::bad_alloc&) {
    return fail(app::exit_environment, "the memory of this machine does not suffice: use a coarser mesh, a lower "
                                       "degree or more memory");
  } catch (const std::exception& error) {
    fail(app::exit_fault, error.what());
    return fail(app::exit_fault, "this is a fault of Rafter's own: please report it with the problem file");
  }
}

/// A signal from the keyboard reaches the compiler, too, whose failure then is not the news.
int run(const std::vector<std::string>& arguments) {
  try {
    return app::run_command_line(arguments);
  } catch (const std::exception&) {
    if (app::is_interrupted()) return fail(app::exit_not_solved, app::Interrupted().what());
    return exit_code_of(std::current_exception());
  }
}

} // namespace

int main(int argc, char** argv) {
  app::install_interrupt_handlers();
  base::set_warning_handler([](const std::string& text) { tell("warning", text.c_str()); });
  const int code = run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  if (std::fflush(stdout) != 0) return fail(app::exit_environment, "standard output cannot be written");
  return code;
}
