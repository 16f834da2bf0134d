// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include <rafter/element/quadrature.hpp>

namespace rafter::element {

/// The smallest tabulated rule on a triangle or tetrahedron that is exact to the degree and invariant under all vertex
/// permutations, with positive weights and points in the interior. Nothing for degrees beyond the table and for other
/// shapes.
std::optional<Quadrature> symmetric_rule(Shape shape, int degree);

} // namespace rafter::element
