// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace rafter::bench {

/// A suite of benchmarks: one line of the table in suites.cpp, and a file of its own.
struct Suite {
  std::string_view name, description;
  std::string (*options)();                           ///< for help texts, one line each
  int (*run)(std::span<const std::string> arguments); ///< exit code. Throws InputError for wrong options
};
std::span<const Suite> suites();

} // namespace rafter::bench
