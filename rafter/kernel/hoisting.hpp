// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/kernel/qfunction.hpp>

namespace rafter::kernel {

/// The same function with fewer operations in the nested loops over a grid of points. Values that depend on the cell
/// and the grid alone are written as polynomials in the coordinate of the inner loop, by Horner's rule, and the outer
/// loops compute the coefficients, which are treated likewise. The function stays as it is if that saves nothing. The
/// determinant of a trilinear map has degree 2 in each coordinate: 4 operations per point instead of 26.
QFunction hoisted(const QFunction& function, const PointLoops& loops);

} // namespace rafter::kernel
