// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/fused_arrays.hpp>

/// The three stages of a collocated program whose steps are fused.
namespace rafter::schedule {

/// Computes field `e` in all points from its dofs, and its derivative along the last axis.
void interpolate(FusedArrays& arrays, int e, Statements& to);

/// Computes, layer by layer, the other derivatives, the QFunction and the transposed derivatives. Afterwards the values
/// of an output hold all contributions but those of the derivative along the last axis.
void evaluate_points(FusedArrays& arrays, Statements& to);

/// Takes output `o` from the points to its dofs: by the transposed derivative along the last axis, then the transposed
/// interpolation, or the weights where nodes are points.
void integrate(FusedArrays& arrays, int o, Statements& to);

} // namespace rafter::schedule
