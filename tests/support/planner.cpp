// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/planner.hpp>

#include <rafter/machine/typical.hpp>
#include <rafter/tune/planner.hpp>

namespace rafter::test {

std::shared_ptr<const tune::Planner> planner() {
  static const auto of_tests =
      std::make_shared<const tune::Planner>(tune::PlannerOptions{.machine = machine::typical_machine(512)});
  return of_tests;
}

op::OperatorOptions planned(op::OperatorOptions options) {
  if (options.planner == nullptr) options.planner = planner();
  return options;
}

} // namespace rafter::test
