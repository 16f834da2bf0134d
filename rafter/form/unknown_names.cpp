// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/unknown_names.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <rafter/base/text.hpp>
#include <rafter/form/functions.hpp>
#include <rafter/form/time_derivative.hpp>

namespace rafter::form {

namespace {

/// Selects the names that are v_<field>.
std::vector<std::string> test_function_names(std::span<const std::string> names) {
  std::vector<std::string> found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [](const std::string& name) { return name.starts_with("v_"); });
  return found;
}

/// Returns a hint for coordinates as mathematicians write them; "" for other names.
std::string coordinate_hint(const std::string& name, int gdim) {
  if (name != "y" && name != "z") return "";
  const int axis = name == "y" ? 1 : 2;
  return axis < gdim
             ? fmt::format(" (the coordinate is x[{}])", axis)
             : fmt::format(" (coordinates are x[0]{} on a mesh of dimension {})", gdim > 1 ? ", x[1]" : "", gdim);
}

} // namespace

void fail_interior_facets(Position position) {
  fail_at(position,
          "integrals over interior facets (dS, with jump, avg and restrictions such as u('+')) are not in this "
          "version: take fields that are continuous (Lagrange), whose jumps vanish, and impose conditions on the "
          "boundary with ds");
}

void fail_unknown(const Token& name, bool is_call, const Scope& scope, std::span<const std::string> parameters) {
  if (name.text == "jump" || name.text == "avg") fail_interior_facets(name.position);
  if (const auto* why = scope.why_refused(name.text)) fail_at(name.position, fmt::format("'{}' {}", name.text, *why));
  auto candidates = scope.names();
  const auto tests = test_function_names(candidates);
  candidates.insert(candidates.end(), parameters.begin(), parameters.end());
  for (auto& known : language_names()) candidates.push_back(std::move(known));
  const std::string coordinate = coordinate_hint(name.text, scope.gdim());
  const auto hint = name.text == "v" && tests.size() > 1
                        ? fmt::format(" (the test functions of several fields are {})", base::join(tests, ", "))
                    : name.text == time_name ? " (the time, in problems with [time])"
                    : !coordinate.empty()    ? coordinate
                                             : base::suggestion(name.text, candidates);
  fail_at(name.position, fmt::format("unknown {} '{}'{}", is_call ? "function" : "name", name.text, hint));
}

} // namespace rafter::form
