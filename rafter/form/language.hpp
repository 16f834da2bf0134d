// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/expr.hpp>

/// The form language in C++, with UFL's names and meaning. All functions throw base::InputError on operands that do not
/// fit.
namespace rafter::form {

// Terminals
// --------------------------------------------------------------------------------------------------------------

/// Constant with one or more components (row-major), which must be finite and match the shape. The values are data of a
/// run and not part of the form.
Expr constant(std::string name, double value);
Expr constant(std::string name, std::vector<int> shape, std::vector<double> values);
/// One or several numbers that get their values where the form is used (op::FormData, PointEvaluator::set), such as
/// time or a load factor. Evaluating a form without a value for each of its parameters is an error.
Expr parameter(std::string name);
Expr parameter(std::string name, std::vector<int> shape);
/// Scalar that is constant on the cells of each tag; tags are numbers or names.
Expr by_tag(std::string name, std::vector<std::pair<std::string, double>> values);
Expr coefficient(std::shared_ptr<const CoefficientData> data);

/// Known function in a space, such as the current iterate or a given field.
Expr field(std::shared_ptr<const FieldSpace> space, std::string name);
/// Test function. Its default name is "v" for a space named "u", else "v_<name of the space>".
Expr test_function(std::shared_ptr<const FieldSpace> space, std::string name = "");
/// Trial function. Its default name is that of its space.
Expr trial_function(std::shared_ptr<const FieldSpace> space, std::string name = "");
/// The pair (trial function, test function).
std::pair<Expr, Expr> arguments(const std::shared_ptr<const FieldSpace>& space);
Expr spatial_coordinate(int gdim);
Expr facet_normal(int gdim); ///< outward unit normal, allowed in facet integrals only
Expr identity(int n);
Expr as_tensor(std::vector<Expr> entries); ///< stacks equal shapes along a new first axis
Expr as_vector(std::vector<Expr> entries); ///< vector with these scalars as components
Expr as_matrix(const std::vector<std::vector<Expr>>& rows);

// Arithmetic
// ---------------------------------------------------------------------------------------------------------------

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
/// Product of a scalar and a tensor (in either order), or of a matrix with a vector or matrix; other products of
/// tensors are functions such as dot, inner and outer.
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr pow(const Expr& base, const Expr& exponent);

// Tensor algebra
// -----------------------------------------------------------------------------------------------------------

Expr inner(const Expr& a, const Expr& b); ///< sum over all components of a_I b_I
Expr dot(const Expr& a, const Expr& b); ///< contracts the last axis of a with the first of b; for scalars their product
Expr outer(const Expr& a, const Expr& b); ///< (a b)_IJ = a_I b_J
Expr cross(const Expr& a, const Expr& b);
Expr perp(const Expr& v); ///< (-v_1, v_0) for a vector in 2D
Expr transpose(const Expr& a);
Expr tr(const Expr& a);
Expr det(const Expr& a);   ///< determinant of a matrix of up to 3 x 3 entries
Expr inv(const Expr& a);   ///< inverse of a matrix of up to 3 x 3 entries, 1/a of a scalar
Expr cofac(const Expr& a); ///< det(a) transpose(inv(a)) without a division, up to 3 x 3 entries
Expr dev(const Expr& a);   ///< a - tr(a)/n I
Expr sym(const Expr& a);
Expr skew(const Expr& a);
Expr elem_mult(const Expr& a, const Expr& b); ///< product component by component

// Spatial derivatives. The dimension gdim is needed only for operands that do not know their space.
// ------------------------------------------

Expr grad(const Expr& a, int gdim = 0); ///< grad(a)_Ij = d a_I / d x_j
Expr div(const Expr& a, int gdim = 0);  ///< div(a)_I = sum_j d a_Ij / d x_j
/// The curl of a 3D vector (a vector), of a 2D vector (a scalar) or of a 2D scalar (a vector).
Expr curl(const Expr& a, int gdim = 0);
Expr nabla_grad(const Expr& a, int gdim = 0);        ///< nabla_grad(a)_jI = d a_I / d x_j, for scalars and vectors
Expr nabla_div(const Expr& a, int gdim = 0);         ///< contracts the first axis, for vectors and matrices
Expr partial(const Expr& a, int axis, int gdim = 0); ///< d a / d x_axis (UFL: a.dx(axis))

/// Gateaux derivative of an expression with respect to a coefficient field; it is linear in the direction.
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
