// SPDX-License-Identifier: BSD-3-Clause
// Every test plans for the same machine and remembers nothing: results do not depend on what the machine at hand was
// measured at, nor on what somebody tuned on it.
#include <rafter/tune/planner.hpp>

namespace {

using namespace rafter;

[[maybe_unused]] const bool is_shared = [] {
  tune::share_planner(
      std::make_shared<const tune::Planner>(tune::PlannerOptions{.machine = tune::typical_machine(512)}));
  return true;
}();

} // namespace
