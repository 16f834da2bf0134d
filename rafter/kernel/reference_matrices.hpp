// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

#include <rafter/kernel/tensor_program.hpp>

namespace rafter::kernel {

/// Matrix D(r, k) = l_k'(x_r) of the Lagrange polynomials through the points, by barycentric weights (Berrut and
/// Trefethen, 2004, doi:10.1137/S0036144502417715). The diagonal follows from rows that sum to zero.
ReferenceMatrix differentiation_matrix(std::span<const double> points);

/// Values (derivative = 0) or derivatives (1) of the 1D functions of a tensor element along an axis, shape (point,
/// node).
ReferenceMatrix table_1d(const element::Element& element, int axis, std::span<const double> points, int derivative);

/// One entry of a table: the value of basis function `dof` at a point (slot -1), or its derivative along direction
/// `slot` of `frame`, shape (direction, axis).
double slot_value(const element::Table& table, std::span<const double> frame, int slot, int point, int dof);

/// M^T diag(w), shape (cols, rows) of the matrix M, with one weight for each row of M.
ReferenceMatrix weighted_transpose(const ReferenceMatrix& matrix, std::span<const double> weights);

/// Finds even or odd symmetry (to 1e-12 of the largest entry) and makes it exact.
ReferenceMatrix with_symmetry(ReferenceMatrix matrix);

bool is_identity(const ReferenceMatrix& matrix);

/// Area of a facet in the reference cell divided by the area of the facet's own reference cell.
double facet_area_ratio(element::Shape shape, int facet);

} // namespace rafter::kernel
