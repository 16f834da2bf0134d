// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <exception>
#include <new>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>

#include "command_line.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"

namespace {

using namespace rafter;

int fail(int code, const char* text) {
  fmt::print(stderr, "rafter: {}\n", text);
  return code;
}

/// The one place where failures become exit codes.
int run(const std::vector<std::string>& arguments) {
  try {
    return app::run_command_line(arguments);
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

} // namespace

int main(int argc, char** argv) {
  app::install_interrupt_handlers();
  base::set_warning_handler([](const std::string& text) { fmt::print(stderr, "warning: {}\n", text); });
  const int code = run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  if (std::fflush(stdout) != 0) return fail(app::exit_environment, "standard output cannot be written");
  return code;
}
