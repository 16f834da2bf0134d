// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <optional>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

namespace rafter::kernel {

/// One term coefficient * sum_ij v_i u_j prod_axes M_axis(i_axis, j_axis). A coefficient of a test and a trial slot
/// that is constant on the cell contributes such a term where the rule is a grid of points.
struct SeparableTerm {
  int output = 0, test_component = 0; ///< position of the test function among the outputs, and its component
  int input = 0, trial_component = 0;
  std::array<int, 3> factors{}; ///< kind of M along each axis: 2 * (test differentiated) + (trial differentiated)
  NodeId coefficient = -1;
};

/// A bilinear form on one tensor cell as a sum of such terms.
struct SeparableForm {
  QFunction function; ///< its graph holds the coefficients; it has no outputs
  std::vector<SeparableTerm> terms;
};

/// The form as a sum of separable terms; nothing unless every coefficient is constant on the cell and all fields have
/// the same nodes.
std::optional<SeparableForm> separable_form(const ProgramInput& input);

/// Program that applies products of 1D matrices M = T_test^T W T_trial, one per axis, along all axes, or along all but
/// the last, before the coefficients, whichever takes fewer operations. If the 1D matrix of values is diagonal (nodes
/// are points), its inverse is multiplied into the matrices, and the result is weighed by the diagonal instead.
TensorProgram build_separable(const ProgramInput& input, const SeparableForm& form);

} // namespace rafter::kernel
