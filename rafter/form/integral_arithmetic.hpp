// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/form/functions.hpp>
#include <rafter/form/parser.hpp>

namespace rafter::form {

bool is_form(const Value& value);

/// Arithmetic of values where integrals may stand for numbers, as they do in functionals.
class IntegralArithmetic {
public:
  /// Takes the integrals that stand for numbers; null: forms are not numbers.
  explicit IntegralArithmetic(std::vector<IntegralNumber>* integrals) : integrals_(integrals) {}

  /// A form as the number that stands for it, the same one for the same form; everything else as it is. Throws
  /// InputError for a form with a test or trial function.
  Value as_number(const Value& value) const;
  /// An operator on both sides. Sums and constant multiples of forms are forms (`keeps`); where forms are numbers, they
  /// are so everywhere else.
  template <class Operation>
  Value combined(const Value& left, const Value& right, bool keeps, const Operation& operation) const {
    if (integrals_ == nullptr || (!is_form(left) && !is_form(right))) return operation(left, right);
    if (keeps && !holds_number(left) && !holds_number(right)) return operation(left, right);
    const Value first = as_number(left); // integrals are numbered from left to right
    return operation(first, as_number(right));
  }

private:
  bool holds_number(const Value& value) const;

  std::vector<IntegralNumber>* integrals_;
};

} // namespace rafter::form
