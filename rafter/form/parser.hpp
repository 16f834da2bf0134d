// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

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

/// Text -> expression; a list is a vector.
Expr parse_expression(std::string_view text, const Scope& scope);

} // namespace rafter::form
