// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rafter::form {

/// Place in a text; both count from 1, columns in characters.
struct Position {
  int line = 1, column = 1;
};
/// "line 1, column 17"
std::string to_string(Position position);

enum class TokenKind : std::uint8_t { number, name, string, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text; ///< of a string: without quotes
  double value = 0; ///< of a number
  Position position;
};
/// "'grad'", "the end of the text"
std::string described(const Token& token);

/// Numbers (locale-independent), names, 'strings', symbols; `#` starts a comment. The last token is `end`.
/// Throws InputError with the position on anything else and on texts over the size limit.
std::vector<Token> tokenize(std::string_view text);

} // namespace rafter::form
