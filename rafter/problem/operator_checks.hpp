// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/operator/operator.hpp>
#include <rafter/problem/request.hpp>

/// These checks find errors of a problem's operator before it is solved. All throw InputError that says what to change.
namespace rafter::problem {

/// Returns random entries in [-1, 1], which are zero where conditions fix the unknowns.
op::Vector random_vector(const op::Operator& A, unsigned seed);

/// Several checks use the same random vector with its image, so that the operator is applied only once for them.
struct Probe {
  op::Vector vector, image;
};
Probe make_probe(const op::Operator& A, unsigned seed);

/// Throws InputError if the image is not finite; the message names the coefficient and the point where
/// it is not, if they are found.
void require_finite(const op::Operator& A, const Probe& probe, const Request& request);

/// Returns |<A u, v> - <u, A v>| for the probe u and another random vector v, relative to their size, and 0 if it is in
/// the range of rounding errors. Throws InputError for an operator whose values are too small to judge by.
double asymmetry(const op::Operator& A, const Probe& probe, const Request& request);

/// Throws InputError unless the operator is symmetric, as the methods cg and minres need it.
void require_symmetric(const op::Operator& A, const Probe& probe, const Request& request, const std::string& method);

/// Returns whether the expression holds no field and no coefficient by tag, so that it can be evaluated at any point.
bool is_function_of_x(const form::Expr& e);

/// Returns a sentence about the first point of the mesh at which a function of x is not finite, such as "is nan at x =
/// (0, 1)", or "" if there is none; it is evaluated at so many points of a cell along each axis.
std::string non_finite_point(const form::Expr& value, const mesh::Mesh& mesh, int num_points);

} // namespace rafter::problem
