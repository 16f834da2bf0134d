// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/fused_arrays.hpp>

/// The three stages of a collocated program whose steps are fused.
namespace rafter::schedule {

/// Field `e` from its dofs to its values in all points and to its derivative along the last axis.
void interpolate(FusedArrays& arrays, int e, Statements& to);

/// Layer by layer the other derivatives, the QFunction, and their transposes. Afterwards the values of an output
/// hold everything but what was tested by the derivative along the last axis.
void evaluate_points(FusedArrays& arrays, Statements& to);

/// Output `o` from the points to its dofs: the transposed derivative along the last axis, then the transposed
/// interpolation or the weights.
void integrate(FusedArrays& arrays, int o, Statements& to);

} // namespace rafter::schedule
