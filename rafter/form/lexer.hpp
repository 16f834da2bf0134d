// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rafter::form {

/// Position in a text. Lines and columns count from 1, columns in characters.
struct Position {
  int line = 1, column = 1;
};
/// Text for messages, such as "line 1, column 17".
std::string to_string(Position position);

enum class TokenKind : std::uint8_t { number, name, string, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text; ///< text of the token, for a string without its quotes
  double value = 0; ///< value of a number
  Position position;
};
/// Text for messages, such as "'grad'" or "the end of the text".
std::string described(const Token& token);

/// Splits a text into numbers (independent of the locale), names, 'strings' and symbols; `#` starts a comment. The last
/// token has kind `end`. Throws InputError with the position for anything else, and for texts over the size limit.
std::vector<Token> tokenize(std::string_view text);

} // namespace rafter::form
