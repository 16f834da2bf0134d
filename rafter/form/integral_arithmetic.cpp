// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/integral_arithmetic.hpp>

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::form {

bool is_form(const Value& value) { return std::holds_alternative<Form>(value.content); }

Value IntegralArithmetic::as_number(const Value& value) const {
  if (integrals_ == nullptr || !is_form(value)) return value;
  const auto& form = std::get<Form>(value.content);
  if (form.rank() != 0) throw base::InputError("a form with a test or trial function is not a number");
  const auto found = std::ranges::find_if(*integrals_, [&](const auto& known) { return known.form == form; });
  if (found != integrals_->end()) return {coefficient(found->number)};
  auto number = std::make_shared<CoefficientData>();
  number->name = fmt::format("integral_{}", integrals_->size() + 1);
  number->values = {1.0}; // any value serves until the integral is evaluated
  integrals_->push_back({form, number});
  return {coefficient(std::move(number))};
}

/// Says whether an expression is computed from the value of an integral.
bool IntegralArithmetic::holds_number(const Value& value) const {
  const auto* root = std::get_if<Expr>(&value.content);
  if (root == nullptr) return false;
  std::vector<const ExprNode*> nodes{&root->node()};
  std::unordered_set<const ExprNode*> is_seen;
  while (!nodes.empty()) {
    const ExprNode& node = *nodes.back();
    nodes.pop_back();
    if (!is_seen.insert(&node).second) continue;
    if (std::ranges::any_of(*integrals_, [&](const auto& known) { return known.number == node.coefficient; }))
      return true;
    for (const auto& operand : node.operands) nodes.push_back(&operand.node());
  }
  return false;
}

} // namespace rafter::form
