// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// Reads text tokens and binary numbers from a file in memory; errors say where in the file they are.
namespace rafter::mesh {

/// A position in the bytes of a file, which moves on as items are read.
class Cursor {
public:
  /// `path` appears in messages; `bytes` must outlive the cursor. Unless `comment` is 0, text from this character to
  /// the end of the line is skipped like blanks.
  Cursor(std::string path, std::string_view bytes, char comment = 0)
      : path_(std::move(path)), bytes_(bytes), comment_(comment) {}

  /// Says whether the numbers that follow are binary (4-byte integers, 8-byte sizes and doubles) or text.
  void set_binary(bool binary) { binary_ = binary; }
  void set_swapped(bool swapped) { swapped_ = swapped; }
  bool is_binary() const { return binary_; }

  /// True when only blanks and comments are left.
  bool at_end();
  /// Next word of text. Throws InputError at the end of the file, saying that `what` is missing.
  std::string_view word(std::string_view what);
  /// The word that comes next, without reading it; "" at the end.
  std::string_view peek();
  /// The rest of the current line, without its line end, which is skipped.
  std::string_view line();
  /// Reads a word, and throws InputError when it is not `expected`.
  void expect(std::string_view expected);
  /// Skips text up to and including `mark`. Returns false, and does not move, when `mark` does not occur any more.
  bool skip_past(std::string_view mark);

  /// An integer as text or in 4 bytes.
  std::int64_t integer(std::string_view what) { return binary_ ? raw<std::int32_t>(what) : text_integer(what); }
  std::int64_t size(std::string_view what); ///< size as text or in 8 bytes; not negative
  double number(std::string_view what);     ///< number as text or in 8 bytes

  std::int64_t text_integer(std::string_view what) {
    std::int64_t value = 0;
    return read_plain_integer(value) ? value : any_text_integer(what);
  }
  /// Reads a count (as text, or as size() does). Throws InputError when the rest of the file cannot hold that many
  /// items of `bytes_each` bytes, so that a wrong count never makes a reader allocate memory.
  std::size_t count(std::string_view what, std::size_t bytes_each) {
    return checked_count(size(what), what, bytes_each);
  }
  std::size_t text_count(std::string_view what, std::size_t bytes_each) {
    return checked_count(text_integer(what), what, bytes_each);
  }
  std::size_t checked_count(std::int64_t value, std::string_view what, std::size_t bytes_each) const;

  std::size_t remaining() const { return bytes_.size() - position_; }
  const std::string& path() const { return path_; }

  /// Throws InputError "path:line: message" (text) or "path, byte n: message" (binary), with the position of the item
  /// read last.
  [[noreturn]] void fail(const std::string& message) const;

private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  void skip_blanks();
  /// Reads an integer of at most 18 digits that stands between blanks, as nearly all do. Returns false, and does not
  /// move, where there is anything else.
  bool read_plain_integer(std::int64_t& value) {
    constexpr std::ptrdiff_t most_digits = 18; // so many digits fit 64 bits
    const char *next = bytes_.data() + position_, *end = bytes_.data() + bytes_.size();
    while (next != end && is_blank(*next)) ++next;
    const char* const word = next;
    const bool is_negative = next != end && *next == '-';
    if (is_negative) ++next;
    const char* const digits = next;
    std::uint64_t sum = 0;
    for (; next != end && *next >= '0' && *next <= '9'; ++next)
      sum = 10 * sum + static_cast<std::uint64_t>(*next - '0');
    if (next == digits || next - digits > most_digits || (next != end && !is_blank(*next))) return false;
    value = is_negative ? -static_cast<std::int64_t>(sum) : static_cast<std::int64_t>(sum);
    last_ = static_cast<std::size_t>(word - bytes_.data());
    position_ = static_cast<std::size_t>(next - bytes_.data());
    return true;
  }
  std::int64_t any_text_integer(std::string_view what);
  [[noreturn]] void fail_truncated(std::string_view what) const;
  template <class T> T raw(std::string_view what) {
    last_ = position_;
    if (remaining() < sizeof(T)) fail_truncated(what);
    char buffer[sizeof(T)];
    std::memcpy(buffer, bytes_.data() + position_, sizeof(T));
    if (swapped_) std::reverse(buffer, buffer + sizeof(T));
    T value;
    std::memcpy(&value, buffer, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  std::string path_;
  std::string_view bytes_;
  char comment_ = 0;
  std::size_t position_ = 0, last_ = 0; ///< position of the next byte; begin of the item read last
  bool binary_ = false, swapped_ = false;
};

/// Text from a file as it is shown in messages: unprintable bytes as '?', at most 40 characters.
std::string printable(std::string_view text);

} // namespace rafter::mesh
