// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/form/scope.hpp>

namespace rafter::form {

/// Text in UFL notation -> form, such as "inner(grad(u), grad(v))*dx + f*v*ds(1)".
///
/// As Python reads it: `**` binds tighter than unary minus and is right-associative, then `*` and `/`, then `+` and
/// `-`, then one comparison. [a, b] is a vector, [[a, b], [c, d]] a matrix; A[0, 1], A[0], A[:, 1], A.T, u.dx(0);
/// definitions of the scope are expanded; dx(1), ds("wall"), ds((1, 2)), dx(degree=4). Any text either parses or throws
/// base::InputError with line and column; depth and size are limited.
Form parse_form(std::string_view text, const Scope& scope);

/// An integral in a functional, and the number that stands for its value in what is computed from it.
struct IntegralNumber {
  Form form; ///< rank 0; may hold the numbers of integrals before it
  std::shared_ptr<CoefficientData> number;
};

/// What a functional is computed from: its value is an expression of constants, among them the values of integrals.
struct FunctionalText {
  std::vector<IntegralNumber> integrals; ///< in an order in which they can be evaluated
  Expr value;                            ///< scalar
};

/// Text -> functional: integrals, and arithmetic in which an integral is a number, such as "(u*dx)/(1*dx)" or
/// "sqrt(inner(u, u)*dx)". Throws InputError where something is left that is neither an integral nor constant.
FunctionalText parse_functional(std::string_view text, const Scope& scope);

/// Text -> expression; a list is a vector.
Expr parse_expression(std::string_view text, const Scope& scope);

} // namespace rafter::form
