// SPDX-License-Identifier: BSD-3-Clause
#include <bench/suites.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>

#include "commands.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"

namespace rafter::app {
namespace {

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const auto& suite : bench::suites()) names.emplace_back(suite.name);
  return names;
}

} // namespace

int run_bench(const BenchOptions& options) {
  if (options.suite.empty() && !options.arguments.empty())
    throw base::InputError(fmt::format("bench: no suite before '{}'; the name of one comes first: {}",
                                       options.arguments.front(), base::join(suite_names(), ", ")));
  if (options.suite.empty()) {
    for (const auto& suite : bench::suites()) fmt::print("{:<20}{}\n", suite.name, suite.description);
    return exit_done;
  }
  end_at_first_signal(); // suites take minutes and have nothing to finish when they stop
  const auto names = suite_names();
  for (const auto& suite : bench::suites())
    if (suite.name == options.suite) return suite.run(options.arguments);
  throw base::InputError(fmt::format("bench: unknown suite '{}'{}; available: {}{}", options.suite,
                                     base::suggestion(options.suite, names), base::join(names, ", "),
                                     options.arguments.empty() ? "" : " (the name of a suite comes before options)"));
}

} // namespace rafter::app
