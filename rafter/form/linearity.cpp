// SPDX-License-Identifier: BSD-3-Clause
#include <unordered_map>

#include <fmt/format.h>
#include <rafter/form/form.hpp>
#include <rafter/form/printer.hpp>

namespace rafter::form {

namespace {

using Arguments = std::optional<int>;

std::string arguments_text(Arguments arguments) {
  constexpr std::array texts{"neither test nor trial function", "the test function", "the trial function",
                             "the test and the trial function"};
  return texts[static_cast<std::size_t>(arguments.value_or(0))];
}

/// Visits each sub-expression once, operands first; the first one that cannot be linear is the error.
class LinearityCheck {
public:
  Arguments operator()(const Expr& e) {
    const auto known = memo_.find(&e.node());
    if (known != memo_.end()) return known->second;
    std::vector<Arguments> operands;
    for (const auto& operand : e.operands()) operands.push_back((*this)(operand));
    return memo_[&e.node()] = combine(e, operands);
  }

private:
  static Arguments combine(const Expr& e, const std::vector<Arguments>& operands) {
    switch (info(e.kind()).linearity) {
    case Linearity::terminal:
      if (is_literal(e, 0)) return std::nullopt;
      return e.kind() == NodeKind::argument ? 1 << e.node().indices[0] : 0;
    case Linearity::linear:
      return operands[0];
    case Linearity::sum:
      return same(e, operands, 0);
    case Linearity::branch:
      require_free(e, e.operand(0), operands[0]);
      return same(e, operands, 1);
    case Linearity::quotient:
      require_free(e, e.operand(1), operands[1]);
      return operands[0].value_or(0);
    case Linearity::product:
      return product(e, operands);
    case Linearity::nonlinear:
      break;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) require_free(e, e.operand(i), operands[i]);
    return 0;
  }

  static Arguments same(const Expr& e, const std::vector<Arguments>& operands, std::size_t first) {
    Arguments result;
    const Expr* with_result = nullptr;
    for (std::size_t i = first; i < operands.size(); ++i) {
      if (!operands[i]) continue;
      if (result && *result != *operands[i])
        throw LinearityError(
            fmt::format("'{}' is not linear in the test and trial functions: '{}' contains {}, but '{}' contains {}",
                        summary(e), summary(*with_result), arguments_text(result), summary(e.operand(i)),
                        arguments_text(operands[i])),
            e);
      result = operands[i];
      with_result = &e.operand(i);
    }
    return result;
  }

  static Arguments product(const Expr& e, const std::vector<Arguments>& operands) {
    int result = 0;
    for (const auto& operand : operands) {
      const int factor = operand.value_or(0);
      if ((result & factor) != 0)
        throw LinearityError(
            fmt::format("'{}' is not linear: both factors contain {}", summary(e), arguments_text(result & factor)), e);
      result |= factor;
    }
    return result;
  }

  static void require_free(const Expr& e, const Expr& operand, Arguments arguments) {
    if (arguments.value_or(0) == 0) return;
    throw LinearityError(
        fmt::format("'{}' is not linear in {} (in '{}')", summary(e), arguments_text(arguments), summary(operand)), e);
  }

  std::unordered_map<const ExprNode*, Arguments> memo_;
};

} // namespace

std::optional<int> linear_arguments(const Expr& e) { return LinearityCheck()(e); }

} // namespace rafter::form
