// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>

namespace rafter::space {

class FunctionSpace;

/// A function of x, shape (gdim), that fills in its values, shape (component): Dirichlet data and interpolation take
/// it.
using SpatialFunction = std::function<void(std::span<const double> x, std::span<double> values)>;

/// Interpolates in the nodes, into a local vector of num_local entries. Each node is evaluated once. Of identified
/// nodes the one in the first of their cells (groups and cells in order) is taken, which makes functions periodic that
/// are not. On a part of a mesh the call is collective, and ghosts get the values of their owners. Throws InputError
/// where the function is not finite (with the point), when there is no function, and when the vector has another size.
void interpolate(const FunctionSpace& space, const SpatialFunction& function, std::span<double> vector);

} // namespace rafter::space
