// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/integral_arithmetic.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/walk.hpp>

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
  return root != nullptr && any_node(*root, [this](const Expr& e) {
           return std::ranges::any_of(*integrals_,
                                      [&e](const auto& known) { return known.number == e.node().coefficient; });
         });
}

} // namespace rafter::form
