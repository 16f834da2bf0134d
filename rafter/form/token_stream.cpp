// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/token_stream.hpp>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::form {

void fail_at(Position position, const std::string& message) {
  throw base::InputError(fmt::format("{}: {}", to_string(position), message));
}

void TokenStream::require_closed_brackets() const {
  const auto closing = [](const Token& token) { return token.text == "(" ? ")" : "]"; };
  std::vector<Token> open;
  for (const auto& token : tokens_) {
    if (token.kind != TokenKind::symbol) continue;
    if (token.text == "(" || token.text == "[") open.push_back(token);
    if (open.size() > max_nesting) fail_at(token.position, fmt::format("nested more than {} levels deep", max_nesting));
    if (token.text != ")" && token.text != "]") continue;
    if (open.empty()) fail_at(token.position, fmt::format("unexpected '{}': no bracket is open", token.text));
    if (token.text != closing(open.back()))
      fail_at(token.position, fmt::format("unexpected '{}': the '{}' of {} needs its '{}' first", token.text,
                                          open.back().text, to_string(open.back().position), closing(open.back())));
    open.pop_back();
  }
  if (open.empty()) return;
  fail_at(open.back().position, fmt::format("the '{}' of {} is not closed: a '{}' is missing", open.back().text,
                                            to_string(open.back().position), closing(open.back())));
}

bool TokenStream::is_assignment() const {
  return current().kind == TokenKind::name && tokens_[next_ + 1].kind == TokenKind::symbol &&
         tokens_[next_ + 1].text == "=";
}

bool TokenStream::is_restriction() const {
  const auto& side = tokens_[next_ + 1];
  return is_symbol("(") && side.kind == TokenKind::string && (side.text == "+" || side.text == "-");
}

Token TokenStream::take() {
  Token token = current();
  if (token.kind != TokenKind::end) ++next_;
  return token;
}

bool TokenStream::accept(std::string_view symbol) {
  if (!is_symbol(symbol)) return false;
  ++next_;
  return true;
}

void TokenStream::expect(std::string_view symbol, std::string_view after) {
  if (!accept(symbol))
    fail_at(current().position, fmt::format("expected '{}' {}, found {}", symbol, after, described(current())));
}

} // namespace rafter::form
