// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <rafter/form/lexer.hpp>

namespace rafter::form {

/// Levels of brackets, operators and definitions inside each other.
inline constexpr std::size_t max_nesting = 150;

/// Throws InputError "line 1, column 17: message".
[[noreturn]] void fail_at(Position position, const std::string& message);

/// The tokens of a text, taken one after the other.
class TokenStream {
public:
  explicit TokenStream(std::string_view text) : tokens_(tokenize(text)) {}

  /// Throws InputError where brackets are not closed, or nested more than max_nesting levels deep. Called before
  /// anything is read, since what a missing bracket makes of the text is often wrong in other ways, too.
  void require_closed_brackets() const;

  std::size_t size() const { return tokens_.size(); }
  const Token& current() const { return tokens_[next_]; }
  bool is_symbol(std::string_view symbol) const {
    return current().kind == TokenKind::symbol && current().text == symbol;
  }
  /// name =
  bool is_assignment() const;
  /// ('+') or ('-'), after a name
  bool is_restriction() const;

  /// The current token; moves to the next one. The end stays.
  Token take();
  /// Moves on if the symbol is there.
  bool accept(std::string_view symbol);
  /// InputError "expected ')' AFTER, found ..." if it is not.
  void expect(std::string_view symbol, std::string_view after);

private:
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

} // namespace rafter::form
