// SPDX-License-Identifier: BSD-3-Clause
#include <bench/options.hpp>

#include <algorithm>
#include <numeric>

#include <bench/suites.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/element.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::bench {
namespace {

constexpr int max_threads = 4096;
constexpr int max_refinements = 10;

std::string with_default(const std::string& help, const std::string& value) {
  return value.empty() ? help : fmt::format("{} (default {})", help, value);
}

template <class T> T parsed(const std::string& text);
template <> int parsed<int>(const std::string& text) { return static_cast<int>(base::parse_integer(text)); }
template <> double parsed<double>(const std::string& text) { return base::parse_double(text); }

template <class T> T parsed_within(const std::string& text, T least, T most) {
  const double number = base::parse_double(text); // an integer that is too large for its type is out of range, too
  if (!(number >= static_cast<double>(least) && number <= static_cast<double>(most)))
    throw base::InputError(
        fmt::format("{} is out of range ({:g} to {:g})", text, static_cast<double>(least), static_cast<double>(most)));
  return parsed<T>(text);
}

/// Reads "3" or "1..8", which includes both ends.
std::vector<int> range_within(const std::string& text, int least, int most) {
  const auto dots = text.find("..");
  const int first = parsed_within(text.substr(0, dots), least, most);
  const int last = dots == std::string::npos ? first : parsed_within(text.substr(dots + 2), least, most);
  if (last < first) throw base::InputError(fmt::format("{} is empty: {} is larger than {}", text, first, last));
  std::vector<int> result(static_cast<std::size_t>(last - first) + 1);
  std::iota(result.begin(), result.end(), first);
  return result;
}
std::vector<double> range_within(const std::string& text, double least, double most) {
  return {parsed_within(text, least, most)};
}

template <class T> Option one(const std::string& key, const std::string& help, T& target, T least, T most) {
  return {key, "N", with_default(help, fmt::format("{}", target)),
          [&target, least, most](const std::string& text) { target = parsed_within(text, least, most); }};
}

template <class T>
Option list(const std::string& key, const std::string& help, std::vector<T>& target, T least, T most) {
  return {key, "LIST", with_default(help, fmt::format("{}", fmt::join(target, ","))),
          [&target, least, most](const std::string& text) {
            target.clear();
            for (const auto& part : base::split(text, ','))
              for (const T number : range_within(part, least, most)) target.push_back(number);
          }};
}

void require_accepted(const std::string& name, const std::vector<std::string>& accepted) {
  if (std::ranges::find(accepted, name) == accepted.end())
    throw base::InputError(fmt::format("'{}' is unknown{}; accepted: {}", name, base::suggestion(name, accepted),
                                       base::join(accepted, ", ")));
}

constexpr const char* device_key = "--device";

std::vector<std::string> suites_on_devices() {
  std::vector<std::string> names;
  for (const auto& suite : suites())
    if (suite.takes_device) names.emplace_back(suite.name);
  return names;
}

const Option& find(const std::string& suite, std::span<const Option> options, const std::string& key) {
  std::vector<std::string> keys;
  for (const auto& option : options) {
    if (option.key == key) return option;
    keys.push_back(option.key);
  }
  if (key == device_key)
    throw base::InputError(fmt::format("bench {}: {}: it runs on the host, beside loops that are written for the host; "
                                       "suites that take it: {}",
                                       suite, key, base::join(suites_on_devices(), ", ")));
  throw base::InputError(fmt::format("bench {}: unknown option '{}'{}; options: {}", suite, key,
                                     base::suggestion(key, keys), base::join(keys, " ")));
}

} // namespace

Option integer_option(const std::string& key, const std::string& help, int& target, int least, int most) {
  return one(key, help, target, least, most);
}
Option number_option(const std::string& key, const std::string& help, double& target, double least, double most) {
  return one(key, help, target, least, most);
}
Option integers_option(const std::string& key, const std::string& help, std::vector<int>& target, int least, int most) {
  return list(key, help, target, least, most);
}
Option numbers_option(const std::string& key, const std::string& help, std::vector<double>& target, double least,
                      double most) {
  return list(key, help, target, least, most);
}

Option names_option(const std::string& key, const std::string& help, std::vector<std::string>& target,
                    const std::vector<std::string>& accepted) {
  return {key, "LIST",
          with_default(fmt::format("{}: of {}", help, base::join(accepted, ", ")), base::join(target, ",")),
          [&target, accepted](const std::string& text) {
            target = base::split(text, ',');
            for (const auto& name : target) require_accepted(name, accepted);
          }};
}

Option name_option(const std::string& key, const std::string& help, std::string& target,
                   const std::vector<std::string>& accepted) {
  return {key, "NAME", with_default(fmt::format("{}: {}", help, base::join(accepted, " or ")), target),
          [&target, accepted](const std::string& text) {
            require_accepted(text, accepted);
            target = text;
          }};
}

Option text_option(const std::string& key, const std::string& value, const std::string& help, std::string& target) {
  return {key, value, with_default(help, target), [&target](const std::string& text) {
            if (base::trimmed(text).empty()) throw base::InputError("the value is empty");
            target = text;
          }};
}

Option device_option(Settings& settings) {
  return text_option(device_key, "NAME", "where kernels run: host, opencl, cuda, hip (opencl:1: the second one)",
                     settings.device);
}

std::vector<std::string> parse(const std::string& suite, std::span<const std::string> arguments,
                               std::span<const Option> options) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto equals = arguments[i].find('=');
    const std::string key = arguments[i].substr(0, equals);
    const Option& option = find(suite, options, key);
    if (equals == std::string::npos && i + 1 == arguments.size())
      throw base::InputError(fmt::format("bench {}: option {} needs a value ({})", suite, key, option.value));
    const std::string& value = equals == std::string::npos ? arguments[++i] : arguments[i];
    try {
      option.set(equals == std::string::npos ? value : value.substr(equals + 1));
    } catch (const base::InputError& error) {
      throw base::InputError(fmt::format("bench {}: {}: {}", suite, key, error.what()));
    }
    keys.push_back(key);
  }
  return keys;
}

void keep_rows_of_device(const std::string& suite, const std::string& key, std::span<const std::string> given,
                         std::span<const PlannedRow> rows, const device::Device& device,
                         std::vector<std::string>& chosen) {
  const auto target = op::target_of(device);
  std::vector<std::string> running;
  for (const auto& row : rows)
    if (std::ranges::all_of(row.plans, [&](const std::string& plan) {
          return schedule::runs_on(schedule::parse_plan(plan, schedule::usual_plan(target)), target);
        }))
      running.push_back(row.name);
  std::vector<std::string> kept, others;
  for (const auto& name : chosen) (std::ranges::find(running, name) != running.end() ? kept : others).push_back(name);
  if (others.empty()) return;
  if (std::ranges::find(given, key) != given.end())
    throw base::InputError(fmt::format("bench {}: {}: plans of {} do not run on device '{}'; accepted there: {}", suite,
                                       key, base::join(others, ", "), device.name(), base::join(running, ", ")));
  fmt::print("left out, since their plans do not run on device '{}': {}\n\n", device.name(), base::join(others, ", "));
  chosen = std::move(kept);
}

std::string describe(std::span<const Option> options) {
  std::string text;
  for (const auto& option : options) text += fmt::format("  {:<22} {}\n", option.key + " " + option.value, option.help);
  return text;
}

std::vector<Option> common_options(Settings& settings, bool has_solves) {
  return {integers_option("--degrees", "polynomial degrees", settings.degrees, 1, element::max_lagrange_degree),
          numbers_option("--mdofs",
                         has_solves ? "sizes in million unknowns, above 0"
                                    : "sizes in million unknowns; 0: twice the last cache",
                         settings.million_dofs, 0, 1000),
          text_option("--mesh", "FILE", "mesh (.msh, .mesh) instead of squares and cubes", settings.mesh_path),
          integer_option("--refine", "uniform refinements of that mesh", settings.refinements, 0, max_refinements),
          integer_option("--threads", "threads", settings.threads, 1, max_threads),
          integer_option("--rounds", "samples of each figure", settings.sampling.rounds, 1, 1000),
          number_option("--sample-seconds", "length of a sample", settings.sampling.sample_seconds, 0, 60),
          name_option("--machine", "ceilings of the machine, measured now or kept by `rafter machine`",
                      settings.machine, {"fresh", "kept"}),
          text_option("--json", "FILE", "writes rows, machine and command", settings.json),
          text_option("--compare", "FILE", "compares with the rows of an earlier --json", settings.compare),
          text_option("--plot", "FILE.svg", "writes plots", settings.plot)};
}

} // namespace rafter::bench
