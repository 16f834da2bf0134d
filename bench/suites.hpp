// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace rafter::bench {

/// A suite of benchmarks is one line of the table in suites.cpp, and has a file of its own.
struct Suite {
  std::string_view name, description;
  std::string (*options)();                           ///< returns one line per option for help texts
  int (*run)(std::span<const std::string> arguments); ///< returns the exit code; throws InputError for wrong options
  bool takes_device = true;                           ///< --device: its work is that of operators alone
  bool takes_all_shapes = true;                       ///< --mesh: cells of any shape; else hexahedra alone
};
std::span<const Suite> suites();

} // namespace rafter::bench
