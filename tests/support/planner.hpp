// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/operator/operator_options.hpp>

/// Every test plans for the same machine and remembers nothing, so that results do not depend on the ceilings of the
/// machine at hand or on what somebody tuned on it.
namespace rafter::test {

std::shared_ptr<const tune::Planner> planner();

/// Returns the options with that planner, unless they have one.
op::OperatorOptions planned(op::OperatorOptions options = {});

/// Plan of a kernel that computes what the tensor program says, with nothing that a plan could add.
inline constexpr const char* simplest = "mapping=plain contraction=dense factors=recompute";

} // namespace rafter::test
