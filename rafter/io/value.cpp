// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/value.hpp>

#include <algorithm>
#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>

namespace rafter::io {

std::string Location::text() const { return line == 0 ? source : fmt::format("{}:{}:{}", source, line, column); }

const Value* Value::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i].name == key) return &items[i];
  return nullptr;
}

std::string Value::description() const {
  constexpr std::size_t longest = 60;
  switch (kind) {
  case Kind::string:
    return text.size() > longest ? fmt::format("the string \"{}...\"", text.substr(0, longest))
                                 : fmt::format("the string \"{}\"", text);
  case Kind::integer:
    return fmt::format("the integer {}", integer);
  case Kind::real:
    return fmt::format("the number {}", real);
  case Kind::boolean:
    return fmt::format("the boolean {}", boolean);
  case Kind::date:
    return "a date or time";
  case Kind::array:
    return items.size() == 1 ? "a list of 1 value" : fmt::format("a list of {} values", items.size());
  case Kind::table:
    return "a table";
  }
  throw base::InternalError("kind of value out of range");
}

namespace {

/// An assignment in messages, which long ones must not fill.
std::string shown(std::string_view assignment) {
  constexpr std::size_t longest = 200;
  return fmt::format("--set {}{}", assignment.substr(0, longest), assignment.size() > longest ? "..." : "");
}

[[noreturn]] void refuse(std::string_view assignment, const std::string& why) {
  throw base::InputError(fmt::format("{}: {}", shown(assignment), why));
}

/// Lists, tables and quoted strings begin with these characters. Text that begins so and is not valid TOML is an error
/// of the user; any other text is a string without quotes.
bool begins_as_toml(std::string_view text) { return std::string_view("[{\"'").find(text[0]) != std::string_view::npos; }

struct Assignment {
  Value change;  ///< tables with one key each, the innermost of which holds the value
  int depth = 0; ///< number of these tables
};

int depth_of(const Value& value) {
  return value.kind == Value::Kind::table && !value.items.empty() ? 1 + depth_of(value.items[0]) : 0;
}

Assignment parse_assignment(std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) refuse(assignment, "no '='; accepted is key.key=value");
  const std::string key(base::trimmed(assignment.substr(0, equals)));
  const std::string value(base::trimmed(assignment.substr(equals + 1)));
  if (key.empty()) refuse(assignment, "no key before '='; accepted is key.key=value");
  if (value.empty()) refuse(assignment, "no value after '='; accepted is key.key=value");
  if ((key + value).find_first_of("\r\n") != std::string::npos) refuse(assignment, "more than one line");
  const std::string source = shown(assignment);
  const int depth = depth_of(parse_toml(key + " = 0", source));
  try {
    return {parse_toml(key + " = " + value, source), depth};
  } catch (const base::InputError& error) {
    if (begins_as_toml(value)) refuse(assignment, fmt::format("'{}' is not a TOML value ({})", value, error.what()));
    Value change = parse_toml(key + " = ''", source);
    Value* leaf = &change;
    for (int i = 0; i < depth; ++i) leaf = &leaf->items[0];
    leaf->text = value;
    return {std::move(change), depth};
  }
}

/// Values from the command line have no place in a file.
void forget_lines(Value& value) {
  value.location.line = value.location.column = 0;
  for (auto& key : value.keys) key.location.line = key.location.column = 0;
  for (auto& item : value.items) forget_lines(item);
}

Value& item_of(Value& list, const std::string& index, std::string_view assignment) {
  const bool is_number = !index.empty() && index.size() < 9 &&
                         std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || static_cast<std::size_t>(base::parse_integer(index)) >= list.items.size())
    refuse(assignment, fmt::format("'{}' is not an index of a list of {} (counted from 0)", index, list.items.size()));
  return list.items[static_cast<std::size_t>(base::parse_integer(index))];
}

/// Moves the value inside `depth` nested tables of one key each to its place in `target`.
void merge(Value& target, Value&& change, int depth, std::string_view assignment) {
  const bool is_container = target.kind == Value::Kind::table || target.kind == Value::Kind::array;
  if (depth == 0 || !is_container) {
    target = std::move(change);
    return;
  }
  Value::Key key = std::move(change.keys[0]);
  Value value = std::move(change.items[0]);
  if (target.kind == Value::Kind::array)
    return merge(item_of(target, key.name, assignment), std::move(value), depth - 1, assignment);
  const auto found =
      std::find_if(target.keys.begin(), target.keys.end(), [&](const auto& k) { return k.name == key.name; });
  if (found != target.keys.end())
    return merge(target.items[static_cast<std::size_t>(found - target.keys.begin())], std::move(value), depth - 1,
                 assignment);
  target.keys.push_back(std::move(key));
  target.items.push_back(std::move(value));
}

} // namespace

void apply_override(Value& table, std::string_view assignment) {
  auto [change, depth] = parse_assignment(assignment);
  forget_lines(change);
  merge(table, std::move(change), depth, assignment);
}

} // namespace rafter::io
