// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/lexer.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::form {

namespace {

constexpr std::size_t max_text_bytes = std::size_t{1} << 20;

// Bytes are classified without <cctype>, so that the result is independent of the locale and defined for every byte.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

constexpr std::array<std::string_view, 5> long_symbols{"**", "<=", ">=", "==", "!="};
constexpr std::string_view short_symbols = "+-*/()[],.:<>=";

std::string printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02x}", byte);
}

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {
    if (text.size() > max_text_bytes)
      throw base::InputError(
          fmt::format("the text has {} bytes; at most {} are accepted", text.size(), max_text_bytes));
  }

  std::vector<Token> tokens() {
    std::vector<Token> result;
    do result.push_back(next());
    while (result.back().kind != TokenKind::end);
    return result;
  }

private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void advance(std::size_t count) {
    for (; count > 0; --count) {
      const char c = text_[at_++];
      if (c == '\n')
        position_ = {position_.line + 1, 1};
      else if (!is_continuation_byte(c))
        ++position_.column;
    }
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '#')
        advance(std::min(text_.find('\n', at_), text_.size()) - at_);
      else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        advance(1);
      else
        return;
    }
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw base::InputError(fmt::format("{}: {}", to_string(position_), message));
  }

  Token token(TokenKind kind, std::size_t length) {
    Token result{kind, std::string(text_.substr(at_, length)), 0, position_};
    advance(length);
    return result;
  }

  Token next() {
    skip_space();
    if (at_ == text_.size()) return {TokenKind::end, "", 0, position_};
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_name_start(c)) {
      std::size_t length = 1;
      while (is_name_part(peek(length))) ++length;
      return token(TokenKind::name, length);
    }
    if (c == '"' || c == '\'') return string(c);
    for (const auto symbol : long_symbols)
      if (text_.substr(at_).starts_with(symbol)) return token(TokenKind::symbol, symbol.size());
    if (c == '^') fail("unexpected '^': write powers as a**b");
    if (c == '\0' || short_symbols.find(c) == std::string_view::npos) fail(fmt::format("unexpected {}", printable(c)));
    return token(TokenKind::symbol, 1);
  }

  Token number() {
    std::size_t length = 0;
    const auto skip_digits = [&] {
      while (is_digit(peek(length))) ++length;
    };
    skip_digits();
    if (peek(length) == '.') ++length;
    skip_digits();
    if (peek(length) == 'e' || peek(length) == 'E') {
      const std::size_t sign = peek(length + 1) == '+' || peek(length + 1) == '-' ? 1 : 0;
      if (is_digit(peek(length + 1 + sign))) {
        length += 1 + sign;
        skip_digits();
      }
    }
    const std::string_view body = text_.substr(at_, length);
    if (is_name_part(peek(length)))
      fail(fmt::format("'{}' runs into '{}': an operator is missing", body, peek(length)));
    double value = 0;
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
    if (error != std::errc() || end != body.data() + body.size())
      fail(fmt::format("the number '{}' is out of range", body));
    Token result = token(TokenKind::number, length);
    result.value = value;
    return result;
  }

  Token string(char quote) {
    const std::size_t close = text_.find(quote, at_ + 1);
    const std::string_view body = text_.substr(at_ + 1, close == std::string_view::npos ? close : close - at_ - 1);
    if (close == std::string_view::npos || body.find('\n') != std::string_view::npos) fail("a string does not end");
    Token result{TokenKind::string, std::string(body), 0, position_};
    advance(body.size() + 2);
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Position position_;
};

} // namespace

std::string to_string(Position position) { return fmt::format("line {}, column {}", position.line, position.column); }

std::string described(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the text";
  return fmt::format("'{}'", token.text);
}

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).tokens(); }

} // namespace rafter::form
