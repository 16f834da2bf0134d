// SPDX-License-Identifier: BSD-3-Clause
#include "text_position.hpp"

#include <charconv>

namespace rafter::app {
namespace {

/// Removes a prefix of `text` and returns whether it was there.
bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool read_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

} // namespace

std::optional<form::Position> take_position(std::string& message) {
  std::string_view rest = message;
  form::Position position;
  if (!skip(rest, "line ") || !read_number(rest, position.line) || !skip(rest, ", column ") ||
      !read_number(rest, position.column) || !skip(rest, ": "))
    return std::nullopt;
  message = std::string(rest);
  return position;
}

std::size_t offset_of(std::string_view text, form::Position position) {
  std::size_t offset = 0;
  for (int line = 1; line < position.line; ++line) {
    const auto end = text.find('\n', offset);
    if (end == std::string_view::npos) return text.size();
    offset = end + 1;
  }
  for (int column = 1; column < position.column && offset < text.size(); ++column) {
    ++offset;
    while (offset < text.size() && is_continuation(text[offset])) ++offset;
  }
  return offset;
}

} // namespace rafter::app
