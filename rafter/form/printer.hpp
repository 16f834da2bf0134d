// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string>

#include <rafter/form/expr.hpp>

namespace rafter::form {

class Form;

inline constexpr std::size_t max_printed_length = std::size_t{1} << 22;

/// Text in UFL notation; parsing it in a scope with the same names gives the same expression. Text longer than
/// `max_length` is cut and ends with "...". Shared sub-expressions are written out each time, so the text can be far
/// longer than the graph.
std::string to_text(const Expr& e, std::size_t max_length = max_printed_length);
std::string to_text(const Form& form, std::size_t max_length = max_printed_length);
std::string to_text(const Measure& measure);

/// Short text of an expression for messages.
std::string summary(const Expr& e);
std::string summary(const ExprNode& node);

} // namespace rafter::form
