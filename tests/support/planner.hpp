// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <utility>

#include <rafter/operator/operator.hpp>
#include <rafter/tune/planner.hpp>

/// Every test plans for the same machine and remembers nothing, so that results do not depend on the ceilings of the
/// machine at hand or on what somebody tuned on it.
namespace rafter::test {

inline std::shared_ptr<const tune::Planner> planner() {
  static const auto of_tests =
      std::make_shared<const tune::Planner>(tune::PlannerOptions{.machine = tune::typical_machine(512)});
  return of_tests;
}

/// Returns the options with that planner, unless they have one.
inline op::OperatorOptions planned(op::OperatorOptions options = {}) {
  if (options.planner == nullptr) options.planner = planner();
  return options;
}

/// Plan of a kernel that computes what the tensor program says, with nothing that a plan could add.
inline constexpr const char* simplest = "mapping=plain contraction=dense factors=recompute";

} // namespace rafter::test
