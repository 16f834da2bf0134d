// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/workspace.hpp>

#include <algorithm>

namespace rafter::schedule {
namespace {

using kernel::AccessKind;
using kernel::Step;
using kernel::StepKind;

bool has_dofs(const kernel::TensorProgram& program, int array) {
  return std::ranges::any_of(program.array(array).axes,
                             [&](int axis) { return program.axis(axis).kind == kernel::AxisKind::dof; });
}

/// Says whether a product makes physical derivatives: it multiplies by a table, and its result is a factor alone.
bool makes_derivatives(const kernel::TensorProgram& program, const Step& step) {
  return step.kind == StepKind::multiply && program.array(program.product_of(step).factor).table >= 0 &&
         std::ranges::any_of(program.steps, [&](const Step& other) {
           return other.kind == StepKind::multiply && program.product_of(other).factor == step.target;
         });
}

/// Says whether an array that a step reads or makes holds these numbers.
bool holds(const kernel::TensorProgram& program, const Step& step, Workspace workspace, int array) {
  switch (workspace) {
  case Workspace::none:
    return false;
  case Workspace::geometry:
    return step.kind == StepKind::read && step.target == array && program.moves(step, AccessKind::nodes);
  case Workspace::coefficients: // sources without dofs of the products that make rows of test functions
    return step.kind == StepKind::multiply && step.source == array && !has_dofs(program, array) &&
           has_dofs(program, step.target) && !makes_derivatives(program, step);
  case Workspace::shapes:
    return step.target == array && makes_derivatives(program, step);
  case Workspace::matrix:
    return step.kind == StepKind::write && step.source == array;
  }
  return false;
}

} // namespace

std::vector<int> workspace_arrays(const kernel::TensorProgram& program, Workspace workspace) {
  std::vector<int> result;
  if (program.contraction != kernel::Contraction::pointwise) return result;
  for (std::size_t array = 0; array < program.arrays.size(); ++array)
    if (std::ranges::any_of(program.steps,
                            [&](const Step& step) { return holds(program, step, workspace, static_cast<int>(array)); }))
      result.push_back(static_cast<int>(array));
  return result;
}

} // namespace rafter::schedule
