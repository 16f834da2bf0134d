// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

/// Texts as terminals may show them. Text from files, paths, arguments, compilers and drivers may hold characters that
/// a terminal obeys, or that turn the direction of what follows.
namespace rafter::base {

/// Makes a text harmless part by part: control characters (C0 except newline and tab, DEL, C1), marks and overrides
/// of the direction of writing, and separators of lines and paragraphs become \xNN or \uNNNN, bytes that are no UTF-8
/// become \xNN.
class TerminalText {
public:
  /// Returns what of this part may be shown. A character that it begins and does not end is kept for the next
  /// one.
  std::string shown(std::string_view part);
  /// Returns the rest of a character that never ended.
  std::string rest();

private:
  std::string pending_;
};

/// The whole of a text made harmless.
std::string terminal_text(std::string_view text);

/// JSON with such characters within its strings as \uNNNN, so that it has the same meaning. C0 is escaped in every
/// JSON.
std::string terminal_json(std::string_view json);

} // namespace rafter::base
