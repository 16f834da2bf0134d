// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/schedule/lowering.hpp>

/// One component of a field whose cells share no unknown, between its vector and registers. Both are written out number
/// by number: an index that the text does not show keeps compilers from holding work arrays in registers.
namespace rafter::schedule {

/// Says whether a field's dofs all lie in the interior of cells.
bool has_interior_alone(const kernel::TensorProgram& program, const kernel::FieldUse& use);

/// Loads component `component` of an input field; the value of each entry of its array, in registers. `placement`: of
/// the dofs in a component of the array.
std::vector<NodePtr> gather_component(Context& context, const kernel::Access& access, const Placement& placement,
                                      const NodePtr& component, Statements& to);
/// Stores or adds component `component` of an output field. `values`: of each entry of its array.
void scatter_component(Context& context, const kernel::Access& access, const Placement& placement,
                       const NodePtr& component, const std::vector<NodePtr>& values, Statements& to);

} // namespace rafter::schedule
