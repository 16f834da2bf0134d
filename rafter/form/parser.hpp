// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/form/scope.hpp>

namespace rafter::form {

/// Reads a form from text in UFL notation, such as "inner(grad(u), grad(v))*dx + f*v*ds(1)".
///
/// The grammar is Python's: `**` binds tighter than unary minus and is right-associative, then come `*` and `/`, then
/// `+` and `-`, then at most one comparison. [a, b] is a vector and [[a, b], [c, d]] a matrix; components and
/// derivatives are A[0, 1], A[0], A[:, 1], A.T and u.dx(0); measures are dx(1), ds("wall"), ds((1, 2)) and
/// dx(degree=4). Definitions of the scope are expanded. Depth and size are limited. Any text either parses or throws
/// base::InputError with line and column.
Form parse_form(std::string_view text, const Scope& scope);

/// An integral in a functional, and the coefficient that stands for its value in expressions.
struct IntegralNumber {
  Form form; ///< form of rank 0, which may contain the numbers of integrals before it
  std::shared_ptr<CoefficientData> number;
};

/// A functional as read from text: its value is an expression of constants, among them the values of integrals.
struct FunctionalText {
  std::vector<IntegralNumber> integrals; ///< the integrals, in an order in which they can be evaluated
  Expr value;                            ///< value of the functional, a scalar
};

/// Reads a functional from text: arithmetic in which integrals are numbers, such as "(u*dx)/(1*dx)" or "sqrt(inner(u,
/// u)*dx)". Throws InputError if the result depends on anything but integrals and constants.
FunctionalText parse_functional(std::string_view text, const Scope& scope);

/// Reads an expression from text; a list is a vector.
Expr parse_expression(std::string_view text, const Scope& scope);

} // namespace rafter::form
