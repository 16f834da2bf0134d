// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/vector_loop.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>

namespace rafter::schedule {

namespace {

using form::ScalarOp;

/// Says whether programs name their own variables like this.
bool is_kept(const std::string& name) {
  const auto last = name.find_last_not_of("0123456789");
  return last == std::string::npos || name[last] == '_';
}

class Parser {
public:
  Parser(std::string_view text, Type type) : text_(text), type_(type) {}

  VectorLoop loop() {
    loop_.name = name();
    expect('(');
    if (!next('|')) do
        loop_.scalars.push_back(new_name());
      while (takes(','));
    expect('|');
    if (!next(')')) do
        operand();
      while (takes(','));
    expect(')');
    expect(':');
    do statement();
    while (takes(';'));
    if (!is_at_end()) fail("an operator or ';' is expected");
    return std::move(loop_);
  }

private:
  [[noreturn]] void fail(const std::string& what) const {
    throw base::InternalError(fmt::format("loop over vectors \"{}\", character {}: {}", text_, position_, what));
  }
  bool is_at_end() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    return position_ >= text_.size();
  }
  bool next(char c) { return !is_at_end() && text_[position_] == c; }
  bool takes(char c) {
    if (!next(c)) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!takes(c)) fail(fmt::format("'{}' is expected", c));
  }
  static bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  std::string name() {
    if (is_at_end() || std::isalpha(static_cast<unsigned char>(text_[position_])) == 0) fail("a name is expected");
    const std::size_t begin = position_;
    while (position_ < text_.size() && is_of_name(text_[position_])) ++position_;
    return std::string(text_.substr(begin, position_ - begin));
  }
  std::string new_name() {
    std::string result = name();
    if (is_kept(result)) fail("'" + result + "' is a name of programs");
    if (!names_.insert(result).second) fail("'" + result + "' is given twice");
    return result;
  }

  void operand() {
    VectorOperand operand{.name = new_name(), .type = type_};
    if (takes('[')) {
      operand.list = name();
      expect(']');
      if (is_kept(operand.list)) fail("'" + operand.list + "' is a name of programs");
    }
    if (takes(':')) {
      if (name() != "float") fail("'float' is expected");
      operand.type = Type::real32;
    }
    loop_.operands.push_back(std::move(operand));
  }

  void statement() {
    const std::string word = name();
    if (word == "let" || word == "sum") {
      if (is_behind_) fail("'" + word + "' stands before scalars are assigned");
      const std::string target = name(); // a name of its own expression is none yet
      expect('=');
      Assignment assignment{Assignment::Kind::value, target, sum()};
      if (is_kept(target) || !names_.insert(target).second) fail("'" + target + "' is given already");
      (word == "let" ? loop_.statements : loop_.sums).push_back(std::move(assignment));
    } else if (word == "then") {
      const std::string target = name();
      if (std::ranges::find(loop_.scalars, target) == loop_.scalars.end()) fail("'" + target + "' is no scalar");
      expect('=');
      is_behind_ = true;
      loop_.then.push_back({Assignment::Kind::value, target, sum()});
    } else {
      auto* const target = find_operand(word);
      if (target == nullptr || is_behind_ || !loop_.sums.empty())
        fail("'" + word + "' cannot be assigned to here: vectors come before sums, and these before scalars");
      expect('=');
      loop_.statements.push_back({Assignment::Kind::entry, word, sum()});
      target->is_written = true;
    }
  }

  VectorOperand* find_operand(const std::string& operand) {
    const auto found = std::ranges::find(loop_.operands, operand, &VectorOperand::name);
    return found == loop_.operands.end() ? nullptr : &*found;
  }
  /// A name in an expression. Behind the loop there are no entries, in it no sums.
  NodePtr use(const std::string& word) {
    if (!names_.contains(word)) fail("'" + word + "' is unknown");
    auto* const operand = find_operand(word);
    const auto is = [&](const std::vector<Assignment>& list) {
      return std::ranges::find(list, word, &Assignment::name) != list.end();
    };
    const bool is_of_entry = operand != nullptr || is(loop_.statements);
    if (is_behind_ ? is_of_entry : is(loop_.sums)) fail("'" + word + "' has no value here");
    if (operand != nullptr && !operand->is_written) operand->is_read = true;
    return reg(word);
  }

  NodePtr sum() {
    NodePtr result = product();
    for (;;)
      if (takes('+'))
        result = operation(ScalarOp::add, {result, product()});
      else if (takes('-'))
        result = operation(ScalarOp::sub, {result, product()});
      else
        return result;
  }
  NodePtr product() {
    NodePtr result = factor();
    for (;;)
      if (takes('*'))
        result = operation(ScalarOp::mul, {result, factor()});
      else if (takes('/'))
        result = operation(ScalarOp::div, {result, factor()});
      else
        return result;
  }
  NodePtr factor() {
    if (takes('-')) return operation(ScalarOp::neg, {factor()});
    if (takes('(')) {
      NodePtr result = sum();
      expect(')');
      return result;
    }
    if (!is_at_end() && std::isdigit(static_cast<unsigned char>(text_[position_])) != 0) return literal();
    const std::string word = name();
    return takes('(') ? call(word) : use(word);
  }
  NodePtr literal() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && (is_of_name(text_[position_]) || text_[position_] == '.' ||
                                        (text_[position_] == '-' && text_[position_ - 1] == 'e')))
      ++position_;
    return number(base::parse_double(std::string(text_.substr(begin, position_ - begin))));
  }
  NodePtr call(const std::string& function) {
    std::vector<NodePtr> operands;
    do operands.push_back(sum());
    while (takes(','));
    expect(')');
    for (int op = static_cast<int>(ScalarOp::add); op <= static_cast<int>(ScalarOp::select); ++op) {
      const auto& known = form::info(static_cast<ScalarOp>(op));
      if (function == known.name && known.arity == static_cast<int>(operands.size()))
        return operation(static_cast<ScalarOp>(op), std::move(operands));
    }
    fail(fmt::format("there is no function '{}' of {} numbers", function, operands.size()));
  }

  std::string_view text_;
  Type type_; ///< type of operands without one
  std::size_t position_ = 0;
  VectorLoop loop_;
  std::set<std::string> names_;
  bool is_behind_ = false; ///< scalar assignments are read
};

} // namespace

std::vector<std::string> VectorLoop::lists() const {
  std::vector<std::string> result;
  for (const auto& operand : operands)
    if (!operand.list.empty() && std::ranges::find(result, operand.list) == result.end())
      result.push_back(operand.list);
  return result;
}

VectorLoop parse_vector_loop(std::string_view text, Type type) { return Parser(text, type).loop(); }

} // namespace rafter::schedule
