// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/toml_depth.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/io/value.hpp>

namespace rafter::io {
namespace {

/// Goes through a text and counts levels. A key has one more than it has dots outside of strings; so has what a number
/// or date looks like, which has few.
class DepthScanner {
public:
  DepthScanner(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  void scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#')
        skip_to(text_.find('\n', at_));
      else if (c == '"' || c == '\'')
        skip_string(c);
      else if (c == '\n')
        end_line();
      else if (c == '[' && is_line_start_ && open_.empty())
        begin_header();
      else
        symbol(c);
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') is_line_start_ = false;
    }
  }

private:
  void symbol(char c) {
    ++at_;
    if (c == '.') {
      ++dots_;
      require_limit(depth() + 1);
    } else if (c == '=') {
      levels_of_key_ = dots_ + 1;
      dots_ = 0;
    } else if (c == '[' || c == '{') {
      open_.push_back(depth() + 1);
      levels_of_key_ = dots_ = 0;
      require_limit(depth());
    } else if (c == ']' || c == '}') {
      if (is_header_)
        levels_of_header_ = dots_ + 1;
      else if (!open_.empty())
        open_.pop_back();
      is_header_ = false;
      levels_of_key_ = dots_ = 0;
    } else if (c == ',')
      levels_of_key_ = dots_ = 0;
  }

  int outside() const { return is_header_ ? 0 : open_.empty() ? levels_of_header_ : open_.back(); }
  int depth() const { return outside() + levels_of_key_ + dots_; }

  void begin_header() { // [a.b] or [[a.b]]
    is_header_ = true;
    at_ += text_.substr(at_).starts_with("[[") ? 2 : 1;
    levels_of_key_ = dots_ = 0;
  }

  void end_line() {
    ++at_;
    is_line_start_ = true;
    is_header_ = false;
    if (open_.empty()) levels_of_key_ = dots_ = 0;
  }

  void skip_to(std::size_t place) { at_ = std::min(place, text_.size()); }

  /// Strings in single quotes have no escapes; those in one pair of quotes end with the line.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_).starts_with(three);
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      if (is_long ? text_.substr(at_).starts_with(three) : text_[at_] == quote) {
        at_ += is_long ? 3 : 1;
        return;
      }
      if (!is_long && text_[at_] == '\n') return;
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    at_ = text_.size();
  }

  void require_limit(int levels) const {
    if (levels <= max_toml_depth) return;
    const auto line = text_.substr(0, at_ - 1).rfind('\n');
    const auto begin = line == std::string_view::npos ? 0 : line + 1;
    const auto before = text_.substr(begin, at_ - 1 - begin);
    const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    const Location place{source_, 1 + static_cast<int>(std::ranges::count(text_.substr(0, begin), '\n')),
                         1 + static_cast<int>(std::ranges::count_if(before, is_character))};
    throw base::InputError(
        fmt::format("{}: keys, lists and tables are nested more than {} levels deep", place.text(), max_toml_depth));
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  bool is_line_start_ = true, is_header_ = false;
  std::vector<int> open_; ///< levels outside of what each open list or table holds
  int levels_of_header_ = 0, levels_of_key_ = 0, dots_ = 0;
};

} // namespace

void require_toml_depth(std::string_view text, const std::string& source) { DepthScanner(text, source).scan(); }

} // namespace rafter::io
