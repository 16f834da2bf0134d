// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/form/functions.hpp>
#include <rafter/form/parser.hpp>

namespace rafter::form {

bool is_form(const Value& value);

/// Arithmetic of values in functionals, where an integral may stand for a number.
class IntegralArithmetic {
public:
  /// `integrals` receives the integrals that stand for numbers; with null, forms are not numbers.
  explicit IntegralArithmetic(std::vector<IntegralNumber>* integrals) : integrals_(integrals) {}

  /// A form as the coefficient that stands for its value, always the same one for the same form; other values are
  /// returned as they are. Throws InputError for a form with a test or trial function.
  Value as_number(const Value& value) const;
  /// Applies a binary operator. If `keeps` says that the operator takes forms to forms (sums, constant multiples), they
  /// stay forms; otherwise, in functionals, forms become numbers first.
  template <class Operation>
  Value combined(const Value& left, const Value& right, bool keeps, const Operation& operation) const {
    if (integrals_ == nullptr || (!is_form(left) && !is_form(right))) return operation(left, right);
    if (keeps && !holds_number(left) && !holds_number(right)) return operation(left, right);
    const Value first = as_number(left); // the left side comes first, so that integrals are numbered from left to right
    return operation(first, as_number(right));
  }

private:
  bool holds_number(const Value& value) const;

  std::vector<IntegralNumber>* integrals_;
};

} // namespace rafter::form
