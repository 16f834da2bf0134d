// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <rafter/form/lexer.hpp>

namespace rafter::form {

/// Largest depth to which brackets, operators and definitions may be nested.
inline constexpr std::size_t max_nesting = 150;

/// Throws InputError with text such as "line 1, column 17: message".
[[noreturn]] void fail_at(Position position, const std::string& message);

/// The tokens of a text, taken one after the other.
class TokenStream {
public:
  explicit TokenStream(std::string_view text) : tokens_(tokenize(text)) {}

  /// Throws InputError where brackets are not closed, or are nested more than max_nesting levels deep. It is called
  /// before the text is read, since a missing bracket often leads to errors elsewhere first.
  void require_closed_brackets() const;

  std::size_t size() const { return tokens_.size(); }
  const Token& current() const { return tokens_[next_]; }
  bool is_symbol(std::string_view symbol) const {
    return current().kind == TokenKind::symbol && current().text == symbol;
  }
  /// Says whether the next tokens are a name and '='.
  bool is_assignment() const;
  /// Says whether the next tokens are ('+') or ('-'), as after a restricted argument.
  bool is_restriction() const;

  /// Returns the current token and moves on; at the end it stays.
  Token take();
  /// Moves on if the current token is this symbol; returns whether it is.
  bool accept(std::string_view symbol);
  /// Moves on past this symbol; if another token comes, throws InputError "expected ')' AFTER, found ...", with `after`
  /// for AFTER.
  void expect(std::string_view symbol, std::string_view after);

private:
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

} // namespace rafter::form
