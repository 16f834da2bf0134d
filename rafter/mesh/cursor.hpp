// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// Reading a file that lives in memory: text tokens and binary numbers, with errors that say where.
namespace rafter::mesh {

class Cursor {
public:
  /// `path` appears in messages; `bytes` must outlive the cursor. With `comment` other than 0, text from this character
  /// to the end of the line is skipped like blanks.
  Cursor(std::string path, std::string_view bytes, char comment = 0)
      : path_(std::move(path)), bytes_(bytes), comment_(comment) {}

  /// Numbers that follow are binary (4-byte integers, 8-byte sizes and doubles) or text again.
  void set_binary(bool binary) { binary_ = binary; }
  void set_swapped(bool swapped) { swapped_ = swapped; }
  bool is_binary() const { return binary_; }

  /// True when only blanks and comments are left.
  bool at_end();
  /// Next word of text; `what` is what the message says is missing at the end of the file.
  std::string_view word(std::string_view what);
  /// The word that would come next, without taking it; "" at the end.
  std::string_view peek();
  /// The rest of the current line, without the line end, which is skipped too.
  std::string_view line();
  /// Takes a word and fails when it is not `expected`.
  void expect(std::string_view expected);
  /// Skips text up to and including `mark`; false (and no move) when it does not come any more.
  bool skip_past(std::string_view mark);

  std::int64_t integer(std::string_view what); ///< text, or 4 bytes
  std::int64_t size(std::string_view what);    ///< text, or 8 bytes; not negative
  double number(std::string_view what);        ///< text, or 8 bytes

  std::int64_t text_integer(std::string_view what);
  /// A count that text gives or that size() reads, refused when the rest of the file cannot hold that many items of
  /// `bytes_each` bytes, so that a lying count never makes anyone allocate memory.
  std::size_t count(std::string_view what, std::size_t bytes_each) {
    return checked_count(size(what), what, bytes_each);
  }
  std::size_t text_count(std::string_view what, std::size_t bytes_each) {
    return checked_count(text_integer(what), what, bytes_each);
  }
  std::size_t checked_count(std::int64_t value, std::string_view what, std::size_t bytes_each) const;

  std::size_t remaining() const { return bytes_.size() - position_; }
  const std::string& path() const { return path_; }

  /// Throws InputError "path:line: message" (text) or "path, byte n: message" (binary), for what was read last.
  [[noreturn]] void fail(const std::string& message) const;

private:
  void skip_blanks();
  template <class T> T raw(std::string_view what);

  std::string path_;
  std::string_view bytes_;
  char comment_ = 0;
  std::size_t position_ = 0, last_ = 0; ///< next byte; start of what was read last
  bool binary_ = false, swapped_ = false;
};

/// Text from a file for a message: unprintable bytes as '?', at most 40 characters.
std::string printable(std::string_view text);

} // namespace rafter::mesh
