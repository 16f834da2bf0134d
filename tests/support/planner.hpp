// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <utility>

#include <rafter/operator/operator.hpp>
#include <rafter/tune/planner.hpp>

/// Every test plans for the same machine and remembers nothing: results do not depend on what the machine at hand was
/// measured at, nor on what somebody tuned on it.
namespace rafter::test {

inline std::shared_ptr<const tune::Planner> planner() {
  static const auto of_tests =
      std::make_shared<const tune::Planner>(tune::PlannerOptions{.machine = tune::typical_machine(512)});
  return of_tests;
}

/// The options with that planner where they have none.
inline op::OperatorOptions planned(op::OperatorOptions options = {}) {
  if (options.planner == nullptr) options.planner = planner();
  return options;
}

} // namespace rafter::test
