// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <rafter/operator/operator.hpp>
#include <rafter/solve/result.hpp>

/// A problem that rounding errors trouble is looked at for what makes it ill conditioned.
namespace rafter::problem {

/// Returns clauses about what was found, such as "the body is slender: it is 1 long and 0.001 thick"; "" if nothing
/// was. A body is looked at for its extents, the diagonal of its operator for the ratio of stiffnesses, and fields with
/// a component for each axis for how much more they resist changes of volume than shear.
std::string causes_of_conditioning(const op::Operator& A);

/// Returns the message of a failed solve with what was found, or else with what may be the cause of a singular
/// operator, in place of the advice of the solver. Constants and rigid motions are to have been tried before.
std::string with_causes(std::string message, const op::Operator& A);

/// Adds to the message and to the warning of a solve what was found.
void explain(solvers::Result& result, const op::Operator& A);

/// Returns the first entry of each field in vectors of a system, and the number of all (IterationControl).
std::vector<std::int64_t> field_offsets(const op::System& system);

} // namespace rafter::problem
