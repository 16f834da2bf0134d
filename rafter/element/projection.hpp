// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/element/quadrature.hpp>

namespace rafter::element {

/// Takes the values of a function at the points of a rule to the values, at other points, of its L2 projection onto the
/// polynomials of a degree on the reference cell; shape (point of the rule, other point). `points` has shape (point,
/// dim). The rule must be exact for degree 2 * degree; the measure of the cell is taken to be constant.
std::vector<double> projection_matrix(Shape shape, int degree, const Quadrature& rule, std::span<const double> points);

} // namespace rafter::element
