// SPDX-License-Identifier: BSD-3-Clause
// This file reads the section constraint.
#include <algorithm>
#include <fmt/format.h>

#include <rafter/base/text.hpp>
#include <rafter/io/problem_sections.hpp>

namespace rafter::io {
namespace {

const std::vector<std::string> kinds{"mean", "point", "rigid_modes"};

/// Reads a number if one component is fixed, or a list with one number per fixed component.
std::vector<double> read_component_values(const Value& value, const std::string& path, const Field& field,
                                          std::size_t count) {
  if (field.components == 0 || (count == 1 && value.kind != Value::Kind::array)) return {read_number(value, path)};
  if (value.kind != Value::Kind::array || value.items.size() != count)
    refuse_value(value, path, fmt::format("a list of {} number{}, one per component", count, count == 1 ? "" : "s"));
  std::vector<double> result;
  for (std::size_t i = 0; i < value.items.size(); ++i)
    result.push_back(read_number(value.items[i], fmt::format("{}[{}]", path, i)));
  return result;
}

std::vector<double> read_point(const Value& value, const std::string& path) {
  if (value.kind != Value::Kind::array || value.items.empty() || value.items.size() > 3)
    refuse_value(value, path, "a list of 1 to 3 coordinates");
  std::vector<double> result;
  for (std::size_t i = 0; i < value.items.size(); ++i)
    result.push_back(read_number(value.items[i], fmt::format("{}[{}]", path, i)));
  return result;
}

/// Finds the one key that says what is fixed, and returns its value.
const Value& read_kind(const TableReader& table, const std::string& path, Constraint& constraint) {
  const Value* found = nullptr;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Value* value = table.find(kinds[k]);
    if (value == nullptr) continue;
    if (found != nullptr)
      refuse(value->location, table.path(kinds[k]),
             fmt::format("found beside {}; accepted is one of {}", kinds[static_cast<std::size_t>(constraint.kind)],
                         base::join(kinds, ", ")));
    constraint.kind = static_cast<Constraint::Kind>(k);
    found = value;
  }
  if (found == nullptr)
    refuse(table.value().location, path,
           "missing is one of mean = 0.0, point = [0.0, 0.0, 0.0] with value = 0.0, or rigid_modes = true");
  return *found;
}

Constraint read_constraint(const Value& value, const std::string& path, const Problem& problem) {
  const TableReader table(value, path);
  table.accept_only(std::vector<std::string>{"field", "components", "mean", "point", "value", "rigid_modes"});
  Constraint result;
  result.field = read_field_name(table, problem);
  const Value& kind = read_kind(table, path, result);
  result.location = kind.location;
  const Field& field = problem.fields[result.field];
  result.components = read_components(table, field);
  if (!result.components.empty() && result.kind == Constraint::Kind::rigid_modes)
    refuse(table.find("components")->location, table.path("components"),
           "found beside rigid_modes, which move all components");
  const auto count =
      result.components.empty() ? static_cast<std::size_t>(field.num_components()) : result.components.size();
  if (const Value* at = table.find("value"); at != nullptr && result.kind != Constraint::Kind::point)
    refuse(at->location, table.path("value"), "found without a point; accepted is a value at a point");
  switch (result.kind) {
  case Constraint::Kind::mean:
    result.values = read_component_values(kind, table.path("mean"), field, count);
    break;
  case Constraint::Kind::point:
    result.point = read_point(kind, table.path("point"));
    result.values = read_component_values(
        table.require("value", "the value at the point, a number or a list of numbers, one per component"),
        table.path("value"), field, count);
    break;
  case Constraint::Kind::rigid_modes:
    if (kind.kind != Value::Kind::boolean || !kind.boolean) refuse_value(kind, table.path("rigid_modes"), "true");
    break;
  }
  return result;
}

} // namespace

void read_constraints(const Value& list, Problem& problem) {
  if (list.kind != Value::Kind::array) refuse_value(list, "constraint", "a list of tables [[constraint]]");
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const auto path = fmt::format("constraint[{}]", i);
    auto constraint = read_constraint(list.items[i], path, problem);
    if (std::ranges::any_of(problem.constraints, [&](const auto& other) { return other.field == constraint.field; }))
      refuse(list.items[i].location, path + ".field",
             fmt::format("field \"{}\" has a constraint already; accepted is one per field",
                         problem.fields[constraint.field].name));
    problem.constraints.push_back(std::move(constraint));
  }
}

} // namespace rafter::io
