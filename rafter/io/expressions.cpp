// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <fmt/format.h>

#include <rafter/base/text.hpp>
#include <rafter/io/problem_sections.hpp>

namespace rafter::io {

Location Expression::at(std::size_t offset) const {
  Location result = location;
  if (result.line == 0) return result;
  for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) {
    if (text[i] == '\n') {
      ++result.line;
      result.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++result.column;
    }
  }
  return result;
}

bool TensorExpression::is_constant() const {
  return std::all_of(components.begin(), components.end(), [](const auto& c) { return c.number.has_value(); });
}

std::vector<double> TensorExpression::values() const {
  std::vector<double> result;
  for (const auto& component : components) result.push_back(component.number.value());
  return result;
}

Expression read_expression(const Value& value, std::string_view path) {
  constexpr auto accepted = "a finite number or an expression (string)";
  if (value.kind != Value::Kind::string) {
    const double number = read_number(value, path, accepted);
    return {fmt::format("{}", number), number, value.location};
  }
  if (base::trimmed(value.text).empty()) refuse_value(value, path, accepted);
  return {value.text, std::nullopt, value.location};
}

namespace {

void append_row(const Value& row, const std::string& path, std::size_t columns, TensorExpression& result) {
  if (row.kind != Value::Kind::array || row.items.size() != columns)
    refuse_value(row, path, fmt::format("a list of {} values, as the first row has", columns));
  for (std::size_t j = 0; j < columns; ++j)
    result.components.push_back(read_expression(row.items[j], fmt::format("{}[{}]", path, j)));
}

} // namespace

TensorExpression read_tensor(const Value& value, std::string_view path) {
  TensorExpression result;
  result.location = value.location;
  if (value.kind != Value::Kind::array) {
    if (value.kind != Value::Kind::string && value.kind != Value::Kind::integer && value.kind != Value::Kind::real)
      refuse_value(value, path, "a number, an expression (string), or a list of these (vector) or of lists (matrix)");
    result.components.push_back(read_expression(value, path));
    return result;
  }
  if (value.items.empty()) refuse_value(value, path, "a list with at least one value");
  result.shape = {static_cast<int>(value.items.size())};
  const bool is_matrix = value.items[0].kind == Value::Kind::array;
  if (is_matrix) {
    if (value.items[0].items.empty()) refuse_value(value.items[0], path, "a row with at least one value");
    result.shape.push_back(static_cast<int>(value.items[0].items.size()));
  }
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const auto item_path = fmt::format("{}[{}]", path, i);
    if (is_matrix)
      append_row(value.items[i], item_path, static_cast<std::size_t>(result.shape[1]), result);
    else
      result.components.push_back(read_expression(value.items[i], item_path));
  }
  return result;
}

std::string read_tag(const Value& value, std::string_view path) {
  if (value.kind == Value::Kind::integer)
    return std::to_string(read_integer(value, path, 0, std::numeric_limits<int>::max()));
  if (value.kind != Value::Kind::string || base::trimmed(value.text).empty())
    refuse_value(value, path, "a tag: a number or the name of a physical group");
  return value.text;
}

TagList read_tag_list(const Value& value, const std::string& path, std::string_view or_else) {
  if (value.kind != Value::Kind::array) return {{read_tag(value, path)}, {value.location}};
  if (value.items.empty()) refuse_value(value, path, fmt::format("a list with at least one tag{}", or_else));
  TagList result;
  for (const auto& item : value.items) {
    result.tags.push_back(read_tag(item, path));
    result.places.push_back(item.location);
    if (std::count(result.tags.begin(), result.tags.end(), result.tags.back()) > 1)
      refuse(item.location, path, fmt::format("tag {} is given twice", result.tags.back()));
  }
  return result;
}

} // namespace rafter::io
