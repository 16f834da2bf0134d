// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/kernel/qfunction.hpp>

namespace rafter::kernel {

/// The same function for the loops of a grid of points, with fewer operations where there are any to save: what
/// depends on the cell and the grid alone is written as a polynomial in the coordinate of the inner loop, by Horner's
/// rule, with coefficients that the outer loops compute; and so are the coefficients. A determinant of a trilinear map
/// has degree 2 in each coordinate: 4 operations per point instead of 26.
QFunction hoisted(const QFunction& function, const PointLoops& loops);

} // namespace rafter::kernel
