// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/expr.hpp>

/// The form language in C++, with UFL's names and meaning. Everything throws base::InputError on misfit operands.
namespace rafter::form {

// Terminals
// --------------------------------------------------------------------------------------------------------------

/// Constant with one or more components (row-major); must be finite and match the shape. Values are data of a run, not
/// of the form.
Expr constant(std::string name, double value);
Expr constant(std::string name, std::vector<int> shape, std::vector<double> values);
/// Number or numbers that are bound by name where the form is used (op::FormData, PointEvaluator::set): time, a load
/// factor. Whoever uses it without a value is refused.
Expr parameter(std::string name);
Expr parameter(std::string name, std::vector<int> shape);
/// Scalar constant per cell tag (number or name).
Expr by_tag(std::string name, std::vector<std::pair<std::string, double>> values);
Expr coefficient(std::shared_ptr<const CoefficientData> data);

/// Known function of a space (the current iterate, a given field).
Expr field(std::shared_ptr<const FieldSpace> space, std::string name);
/// Test function; called "v" by default for a space named "u", else "v_<name>".
Expr test_function(std::shared_ptr<const FieldSpace> space, std::string name = "");
/// Trial function; called as its space by default.
Expr trial_function(std::shared_ptr<const FieldSpace> space, std::string name = "");
/// (trial, test)
std::pair<Expr, Expr> arguments(const std::shared_ptr<const FieldSpace>& space);
Expr spatial_coordinate(int gdim);
Expr facet_normal(int gdim); ///< outward unit normal, in facet integrals only
Expr identity(int n);
Expr as_tensor(std::vector<Expr> entries); ///< stacks equal shapes along a new first axis
Expr as_vector(std::vector<Expr> entries); ///< of scalars
Expr as_matrix(const std::vector<std::vector<Expr>>& rows);

// Arithmetic
// ---------------------------------------------------------------------------------------------------------------

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
/// Scalar times tensor (either order), matrix times vector or matrix; other tensor products have names.
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr pow(const Expr& base, const Expr& exponent);

// Tensor algebra
// -----------------------------------------------------------------------------------------------------------

Expr inner(const Expr& a, const Expr& b); ///< sum over all components of a_I b_I
Expr dot(const Expr& a, const Expr& b);   ///< contracts the last axis of a with the first of b; product of scalars
Expr outer(const Expr& a, const Expr& b); ///< (a b)_IJ = a_I b_J
Expr cross(const Expr& a, const Expr& b);
Expr perp(const Expr& v); ///< (-v_1, v_0) of a vector in 2D
Expr transpose(const Expr& a);
Expr tr(const Expr& a);
Expr det(const Expr& a);   ///< up to 3 x 3
Expr inv(const Expr& a);   ///< up to 3 x 3; 1/a of a scalar
Expr cofac(const Expr& a); ///< det(a) transpose(inv(a)) without a division, up to 3 x 3
Expr dev(const Expr& a);   ///< a - tr(a)/n I
Expr sym(const Expr& a);
Expr skew(const Expr& a);
Expr elem_mult(const Expr& a, const Expr& b); ///< component by component

// Spatial derivatives; gdim is needed only where the operand does not know its space
// ------------------------------------------

Expr grad(const Expr& a, int gdim = 0);              ///< grad(a)_Ij = d a_I / d x_j
Expr div(const Expr& a, int gdim = 0);               ///< div(a)_I = sum_j d a_Ij / d x_j
Expr curl(const Expr& a, int gdim = 0);              ///< 3D vector; 2D vector (a scalar) or 2D scalar (a vector)
Expr nabla_grad(const Expr& a, int gdim = 0);        ///< nabla_grad(a)_jI = d a_I / d x_j, of scalars and vectors
Expr nabla_div(const Expr& a, int gdim = 0);         ///< contracts the first axis, of vectors and matrices
Expr partial(const Expr& a, int axis, int gdim = 0); ///< d a / d x_axis (UFL: a.dx(axis))

/// Gateaux derivative of an expression by a coefficient field, linear in the direction.
Expr derivative(const Expr& a, const Expr& field, const Expr& direction);

// Functions of scalars
// -------------------------------------------------------------------------------------------------------

Expr abs(const Expr& a);
Expr sign(const Expr& a);
Expr sqrt(const Expr& a);
Expr exp(const Expr& a);
Expr ln(const Expr& a);
Expr sin(const Expr& a);
Expr cos(const Expr& a);
Expr tan(const Expr& a);
Expr asin(const Expr& a);
Expr acos(const Expr& a);
Expr atan(const Expr& a);
Expr atan2(const Expr& y, const Expr& x);
Expr sinh(const Expr& a);
Expr cosh(const Expr& a);
Expr tanh(const Expr& a);
Expr min_value(const Expr& a, const Expr& b);
Expr max_value(const Expr& a, const Expr& b);

Expr lt(const Expr& a, const Expr& b);
Expr le(const Expr& a, const Expr& b);
Expr gt(const Expr& a, const Expr& b);
Expr ge(const Expr& a, const Expr& b);
Expr eq(const Expr& a, const Expr& b);
Expr ne(const Expr& a, const Expr& b);
Expr logical_and(const Expr& a, const Expr& b);
Expr logical_or(const Expr& a, const Expr& b);
Expr logical_not(const Expr& a);
Expr conditional(const Expr& condition, const Expr& if_true, const Expr& if_false);

} // namespace rafter::form
