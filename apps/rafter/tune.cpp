// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/error.hpp>

#include "commands.hpp"

namespace rafter::app {

int run_tune(const ProblemOptions&) {
  throw base::InputError("tune: not available in this version; `rafter kernel` shows what the planner chose, and "
                         "--plan sets another plan");
}

} // namespace rafter::app
