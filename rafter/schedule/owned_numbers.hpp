// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/schedule/lowering.hpp>

/// The numbers of a vector that cells own, where each belongs to one of the cells that share it
/// (kernel::EntityMask::is_of_owners). Cells in lanes move what they own by lists, one for each sub-batch, so that
/// nothing is moved that a factor 0 would only cancel. All fields of a side are on one vector and one work array, and
/// have one list.
namespace rafter::schedule {

/// Says whether a field is moved by the lists, instead of through a mask.
bool moves_owned(const Context& context, const kernel::Access& access);
/// Loads what the cells own of all inputs into work buffer `target`, and 0 elsewhere. Calls for later inputs than the
/// first one do nothing.
void gather_owned(Context& context, const kernel::Access& access, const std::string& target, const Placement& placement,
                  Statements& to);
/// Adds what the cells own of all outputs to the vector. Calls for later outputs than the first one do nothing.
void scatter_owned(Context& context, const kernel::Access& access, const std::string& source,
                   const Placement& placement, Statements& to);

} // namespace rafter::schedule
