// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

#include <rafter/schedule/lowering.hpp>

/// Steps that follow each other and treat every component of their arrays alike, taken component by component: what one
/// step leaves for the next stays in registers. Loops over dofs are written out, so that texts grow with tables that
/// stand in them.
namespace rafter::schedule {

/// Number of the program's steps from `first` on that are taken together; 0: the step is lowered by itself.
std::size_t num_written_steps(const Context& context, std::size_t first);
/// Arrays of the program that no other step uses than some that are taken together.
std::set<int> arrays_in_registers(const Context& context);
/// Emits `count` of the program's steps from `first` on.
void lower_written(Context& context, std::size_t first, std::size_t count, Statements& to);

} // namespace rafter::schedule
