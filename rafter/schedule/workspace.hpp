// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/kernel/tensor_program.hpp>
#include <rafter/schedule/item_keys.hpp>

namespace rafter::schedule {

/// The arrays of a program that hold these numbers, of cell matrices by loops over points (Contraction::pointwise);
/// none of other programs. A map that has coefficients instead of nodes, Workspace::geometry, has no array.
std::vector<int> workspace_arrays(const kernel::TensorProgram& program, Workspace workspace);

} // namespace rafter::schedule
