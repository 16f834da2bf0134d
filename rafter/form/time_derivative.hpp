// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/form/form.hpp>

/// Derivatives in time. A form holds them as fields of their own, and a time stepping scheme says what they stand for.
namespace rafter::form {

/// Name of the time in forms and boundary values.
inline constexpr const char* time_name = "t";

/// Derivative in time of an expression of fields, by the chain rule; of a field u the field "dt(u)" on the same space.
/// Throws InputError for expressions without a field, with test or trial functions, of the time t itself (whose
/// derivative is written by the product rule), and for second derivatives.
Expr dt(const Expr& e);

/// Name of the field that stands for the derivative of a field in time: "dt(u)".
std::string time_derivative_name(const std::string& field);
/// Says whether the form holds the derivative of any field in time.
bool has_time_derivative(const Form& form);
bool has_time_derivative(const Expr& e);

} // namespace rafter::form
