// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <rafter/solve/multigrid.hpp>
#include <rafter/solve/null_space_condition.hpp>

namespace rafter::op {
struct Auxiliary;
struct Level;
struct System;
} // namespace rafter::op

namespace rafter::solvers {

/// Makes a hierarchy of the levels below an operator, which op::make_levels has made. `conditions` fix the null space
/// of the operator; those of the levels are found in the same way. `own_level` takes the place of the operator on
/// its own level (op::generate_own_level), and the levels are below it. Throws InputError where a mode is not in the
/// null space of a level.
std::shared_ptr<const MultigridHierarchy> make_hierarchy(std::vector<op::Level> levels, const op::System& finest,
                                                         std::span<const NullSpaceCondition> conditions,
                                                         const op::Auxiliary& own_level);
/// Does the same where the operator itself is on its own level.
std::shared_ptr<const MultigridHierarchy> make_hierarchy(std::vector<op::Level> levels, const op::System& finest,
                                                         std::span<const NullSpaceCondition> conditions = {});

} // namespace rafter::solvers
