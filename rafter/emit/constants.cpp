// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/constants.hpp>

#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::emit {

using schedule::Type;

std::string number(double value, Type type, const Spelling& spelling) {
  std::string text = type == Type::real32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find("inf") != std::string::npos || text.find("nan") != std::string::npos)
    throw base::InternalError("emitter: a constant is not finite");
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += spelling.names(type).suffix;
  return value < 0 ? "(" + text + ")" : text;
}

namespace {

std::string definition(const schedule::LoopBuffer& buffer, int vector_width, const Spelling& spelling,
                       const std::string& head) {
  const bool is_integer = buffer.type == Type::integer;
  const auto& names = spelling.names(buffer.type);
  const char* element = buffer.is_lane ? names.vector : is_integer ? "int" : names.scalar;
  std::string text =
      fmt::format("{}{} {}[{}] = {{{}", head, element, buffer.name,
                  buffer.is_lane ? buffer.size / vector_width : buffer.size, buffer.is_lane ? "\n  {" : "");
  const std::size_t row = buffer.is_lane ? static_cast<std::size_t>(vector_width) : 12;
  const char* row_end = buffer.is_lane ? "},\n  {" : ",\n  ";
  for (std::size_t i = 0; i < buffer.values.size(); ++i) {
    if (i > 0) text += i % row == 0 ? row_end : ", ";
    text += is_integer ? fmt::format("{}", static_cast<long>(buffer.values[i]))
                       : number(buffer.values[i], buffer.type, spelling);
  }
  return text + (buffer.is_lane ? "}};\n" : "};\n");
}

} // namespace

std::string constant_tables(std::span<const schedule::LoopBuffer> tables, int vector_width, const Spelling& spelling) {
  std::int64_t bytes = 0;
  for (const auto& table : tables) bytes += table.size * schedule::size_bytes(table.type);
  const bool is_large = spelling.most_constant_bytes > 0 && bytes > spelling.most_constant_bytes;
  std::string text;
  for (const auto& table : tables)
    text += definition(table, vector_width, spelling, is_large ? spelling.large_constant : spelling.constant);
  return text;
}

std::string Literals::text(double value, Type type) {
  constexpr std::size_t longest_in_text = 6;
  const std::string text = number(value, type, spelling_);
  if (text.size() <= longest_in_text) return text;
  auto& table = tables_[type];
  const bool is_negative = value < 0;
  const auto [entry, is_new] = table.entries.try_emplace(std::fabs(value), table.values.size());
  if (is_new) table.values.push_back(std::fabs(value));
  return fmt::format("{}{}[{}]{}", is_negative ? "(-" : "", spelling_.names(type).literals, entry->second,
                     is_negative ? ")" : "");
}

std::vector<schedule::LoopBuffer> Literals::tables() const {
  std::vector<schedule::LoopBuffer> result;
  for (const auto& [type, table] : tables_) {
    schedule::LoopBuffer buffer;
    buffer.name = spelling_.names(type).literals;
    buffer.type = type;
    buffer.size = static_cast<std::int64_t>(table.values.size());
    buffer.values = table.values;
    result.push_back(std::move(buffer));
  }
  return result;
}

} // namespace rafter::emit
