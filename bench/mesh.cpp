// SPDX-License-Identifier: BSD-3-Clause
#include <bench/mesh.hpp>

#include <algorithm>
#include <vector>

#include <bench/options.hpp>
#include <bench/suites.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::bench {
namespace {

constexpr const char* own_name = "mesh";
constexpr const char* usage = "rafter bench mesh FILE [--suite NAME] [options of the suite]";

/// Returns the names of all suites but this one.
std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const auto& suite : suites())
    if (suite.name != own_name) names.emplace_back(suite.name);
  return names;
}

Option suite_option(std::string& suite) {
  return name_option("--suite", "what runs on the mesh, with its options below", suite, suite_names());
}

} // namespace

int run_mesh(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments.front().starts_with("--"))
    throw base::InputError(fmt::format("bench mesh: no mesh file: {}", usage));
  std::string name = "bp";
  std::vector<std::string> of_suite{"--mesh", arguments.front()};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--mesh" || arguments[i].starts_with("--mesh="))
      throw base::InputError(fmt::format("bench mesh: --mesh: the mesh is {} already", arguments.front()));
    if (arguments[i] != "--suite" && !arguments[i].starts_with("--suite=")) {
      of_suite.push_back(arguments[i]);
      continue;
    }
    const std::size_t num_words = arguments[i] == "--suite" ? 2 : 1;
    const std::vector options{suite_option(name)};
    parse(own_name, arguments.subspan(i, std::min(num_words, arguments.size() - i)), options);
    i += num_words - 1;
  }
  for (const auto& suite : suites())
    if (suite.name == name) return suite.run(of_suite);
  throw base::InternalError("no suite " + name);
}

std::string mesh_options() {
  std::string name = "bp";
  const std::vector options{suite_option(name)};
  return fmt::format("  {}\n{}", usage, describe(options));
}

} // namespace rafter::bench
