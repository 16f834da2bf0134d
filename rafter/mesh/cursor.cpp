// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/cursor.hpp>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::mesh {

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > 40 ? result + "..." : result;
}

void Cursor::skip_blanks() {
  while (position_ < bytes_.size()) {
    if (is_blank(bytes_[position_])) {
      ++position_;
    } else if (comment_ != 0 && bytes_[position_] == comment_) {
      position_ = std::min(bytes_.find('\n', position_), bytes_.size());
    } else {
      return;
    }
  }
}

bool Cursor::at_end() {
  skip_blanks();
  return position_ == bytes_.size();
}

std::string_view Cursor::peek() {
  skip_blanks();
  std::size_t end = position_;
  while (end < bytes_.size() && !is_blank(bytes_[end]) && !(comment_ != 0 && bytes_[end] == comment_)) ++end;
  return bytes_.substr(position_, end - position_);
}

std::string_view Cursor::word(std::string_view what) {
  const auto result = peek();
  last_ = position_;
  if (result.empty()) fail_truncated(what);
  position_ += result.size();
  return result;
}

std::string_view Cursor::line() {
  last_ = position_;
  const std::size_t end = std::min(bytes_.find('\n', position_), bytes_.size());
  auto result = bytes_.substr(position_, end - position_);
  position_ = std::min(end + 1, bytes_.size());
  if (result.ends_with('\r')) result.remove_suffix(1);
  return result;
}

void Cursor::expect(std::string_view expected) {
  const auto found = word(fmt::format("'{}'", expected));
  if (found != expected) fail(fmt::format("expected '{}', found '{}'", expected, printable(found)));
}

bool Cursor::skip_past(std::string_view mark) {
  const auto found = bytes_.find(mark, position_);
  if (found == std::string_view::npos) return false;
  position_ = found + mark.size();
  return true;
}

void Cursor::fail_truncated(std::string_view what) const {
  fail(fmt::format("the file ends where {} should be: it is truncated", what));
}

std::int64_t Cursor::any_text_integer(std::string_view what) {
  const auto text = word(what);
  const auto digits = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    fail(fmt::format("expected {} (an integer), found '{}'", what, printable(text)));
  return value;
}

std::int64_t Cursor::size(std::string_view what) {
  const std::int64_t value = binary_ ? static_cast<std::int64_t>(raw<std::uint64_t>(what)) : text_integer(what);
  if (value < 0) fail(fmt::format("{} is {}; it cannot be negative or this large", what, value));
  return value;
}

double Cursor::number(std::string_view what) {
  if (binary_) return raw<double>(what);
  skip_blanks();
  const char *const begin = bytes_.data() + position_, *const last = bytes_.data() + bytes_.size();
  double plain = 0; // a number between blanks, as nearly all are
  if (const auto [after, failure] = std::from_chars(begin, last, plain);
      failure == std::errc() && (after == last || is_blank(*after))) {
    last_ = position_;
    position_ += static_cast<std::size_t>(after - begin);
    return plain;
  }
  const auto text = word(what);
  const auto digits = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // from_chars reports numbers too small for a double as out of range, too; these are 0.
  const bool is_tiny = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
  if (error == std::errc::result_out_of_range && is_tiny) return 0;
  if (error != std::errc() || end != digits.data() + digits.size())
    fail(fmt::format("expected {} (a number), found '{}'", what, printable(text)));
  return value;
}

std::size_t Cursor::checked_count(std::int64_t value, std::string_view what, std::size_t bytes_each) const {
  if (value < 0) fail(fmt::format("{} is {}; it cannot be negative", what, value));
  if (static_cast<std::uint64_t>(value) > remaining() / bytes_each + 1)
    fail(fmt::format("{} is {}, more than the rest of the file can hold ({} bytes): it is truncated or wrong", what,
                     value, remaining()));
  if (value > INT32_MAX) fail(fmt::format("{} is {}; at most {} are supported", what, value, INT32_MAX));
  return static_cast<std::size_t>(value);
}

void Cursor::fail(const std::string& message) const {
  if (binary_) throw base::InputError(fmt::format("{}, byte {}: {}", path_, last_, message));
  const auto line = 1 + std::count(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(last_), '\n');
  throw base::InputError(fmt::format("{}:{}: {}", path_, line, message));
}

} // namespace rafter::mesh
