// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/terminal_text.hpp>

#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace rafter::base {
namespace {

/// A character of UTF-8 at the begin of some bytes. Its size is 0 where the bytes end before the character does, and
/// its code is `no_character` where they are no UTF-8; its size is then that of the bytes that cannot begin one.
struct Character {
  std::uint32_t code = 0;
  std::size_t size = 0;
};
constexpr std::uint32_t no_character = 0xffffffff;

/// Bounds of the second byte, which rule out codes that are written too long, surrogates and codes above 0x10ffff.
bool may_follow(unsigned char first, unsigned char second) {
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  return second >= least && second <= most;
}

Character first_character(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xc2 && first <= 0xdf   ? 2
                           : (first & 0xf0) == 0xe0         ? 3
                           : first >= 0xf0 && first <= 0xf4 ? 4
                                                            : 0;
  if (size == 0) return {no_character, 1};
  std::uint32_t code = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (i == bytes.size()) return {};
    const bool is_right = i == 1 ? may_follow(first, byte(1)) : (byte(i) & 0xc0) == 0x80;
    if (!is_right) return {no_character, i};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  return {code, size};
}

/// Says whether a terminal would obey the character, or show what follows in another direction or place.
bool is_obeyed(std::uint32_t code) {
  const auto is_in = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || is_in(0x7f, 0x9f) || code == 0x061c || is_in(0x200e, 0x200f) || is_in(0x2028, 0x202e) ||
         is_in(0x2066, 0x2069);
}

/// Writes what a terminal would obey in another way. `escape` makes a text of a code, `escape_bytes` one of bytes that
/// are no character. Returns how many bytes were written; the rest begins a character that it does not end.
template <class Escape, class EscapeBytes>
std::size_t rewrite(std::string_view bytes, std::string& result, Escape escape, EscapeBytes escape_bytes) {
  std::size_t place = 0;
  while (place < bytes.size()) {
    const auto [code, size] = first_character(bytes.substr(place));
    if (size == 0) break;
    if (code == no_character)
      result += escape_bytes(bytes.substr(place, size));
    else if (is_obeyed(code))
      result += escape(code);
    else
      result += bytes.substr(place, size);
    place += size;
  }
  return place;
}

std::string escaped_bytes(std::string_view bytes) {
  std::string result;
  for (const char byte : bytes) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return result;
}

std::string escaped(std::uint32_t code) {
  return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

} // namespace

std::string TerminalText::shown(std::string_view part) {
  const std::string joined = pending_.empty() ? std::string() : pending_ + std::string(part);
  const std::string_view bytes = pending_.empty() ? part : std::string_view(joined);
  std::string result;
  result.reserve(bytes.size());
  const auto done = rewrite(bytes, result, escaped, escaped_bytes);
  pending_ = bytes.substr(done);
  return result;
}

std::string TerminalText::rest() { return escaped_bytes(std::exchange(pending_, {})); }

std::string terminal_text(std::string_view text) {
  TerminalText whole;
  auto result = whole.shown(text);
  return result + whole.rest();
}

std::string terminal_json(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  const auto as_escape = [](std::uint32_t code) {
    return code == '\r' ? std::string("\r") : fmt::format("\\u{:04x}", code); // a blank between values
  };
  const auto done = rewrite(json, result, as_escape, [](std::string_view) { return std::string("\\ufffd"); });
  return done == json.size() ? result : result + "\\ufffd";
}

} // namespace rafter::base
