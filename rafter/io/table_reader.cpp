// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/table_reader.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>

namespace rafter::io {

void refuse(const Location& location, std::string_view path, std::string_view message) {
  throw base::InputError(path.empty() ? fmt::format("{}: {}", location.text(), message)
                                      : fmt::format("{}: key {}: {}", location.text(), path, message));
}

void refuse_value(const Value& value, std::string_view path, std::string_view accepted) {
  refuse(value.location, path, fmt::format("found {}, accepted is {}", value.description(), accepted));
}

void refuse_name(const Value& value, std::string_view path, std::span<const std::string> known,
                 std::span<const std::string> later) {
  const std::string list = base::join(known, ", ");
  if (std::find(later.begin(), later.end(), value.text) != later.end())
    refuse(value.location, path,
           fmt::format("\"{}\" is not available in this version; available: {}", value.text, list));
  refuse(value.location, path,
         fmt::format("unknown name \"{}\"{}; accepted: {}", value.text, base::suggestion(value.text, known), list));
}

std::string read_string(const Value& value, std::string_view path) {
  if (value.kind != Value::Kind::string) refuse_value(value, path, "a string");
  return value.text;
}

double read_number(const Value& value, std::string_view path, std::string_view accepted) {
  const bool is_number = value.kind == Value::Kind::integer || value.kind == Value::Kind::real;
  if (!is_number || !std::isfinite(value.real)) refuse_value(value, path, accepted);
  return value.real;
}

int read_integer(const Value& value, std::string_view path, int lowest, int highest) {
  if (value.kind != Value::Kind::integer || value.integer < lowest || value.integer > highest)
    refuse_value(value, path, fmt::format("an integer from {} to {}", lowest, highest));
  return static_cast<int>(value.integer);
}

TableReader::TableReader(const Value& value, std::string path) : value_(value), path_(std::move(path)) {
  if (value.kind != Value::Kind::table) refuse_value(value, path_, "a table");
}

void TableReader::accept_only(std::span<const std::string> keys) const {
  for (const auto& key : value_.keys) {
    if (std::find(keys.begin(), keys.end(), key.name) != keys.end()) continue;
    refuse(key.location, "",
           fmt::format("unknown key '{}'{}{}; accepted: {}", key.name, path_.empty() ? "" : " in [" + path_ + "]",
                       base::suggestion(key.name, keys), base::join(keys, ", ")));
  }
}

std::string TableReader::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Value& TableReader::require(std::string_view key, std::string_view accepted) const {
  if (const Value* found = find(key)) return *found;
  refuse(value_.location, path(key), fmt::format("missing; it takes {}", accepted));
}

std::optional<std::string> TableReader::string(std::string_view key) const {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  return read_string(*found, path(key));
}

std::optional<double> TableReader::number(std::string_view key, double lowest, double highest, bool is_open) const {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  std::string accepted = "a finite number";
  if (std::isfinite(highest))
    accepted = fmt::format("a number in {}{}, {}{}", is_open ? '(' : '[', lowest, highest, is_open ? ')' : ']');
  else if (std::isfinite(lowest))
    accepted = fmt::format("a finite number {} {}", is_open ? ">" : ">=", lowest);
  const double number = read_number(*found, path(key), accepted);
  const bool is_inside = is_open ? number > lowest && number < highest : number >= lowest && number <= highest;
  if (!is_inside) refuse_value(*found, path(key), accepted);
  return number;
}

std::optional<int> TableReader::integer(std::string_view key, int lowest, int highest) const {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  return read_integer(*found, path(key), lowest, highest);
}

std::optional<bool> TableReader::boolean(std::string_view key) const {
  const Value* found = find(key);
  if (!found) return std::nullopt;
  if (found->kind != Value::Kind::boolean) refuse_value(*found, path(key), "true or false");
  return found->boolean;
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !is_letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

} // namespace rafter::io
