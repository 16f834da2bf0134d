// SPDX-License-Identifier: BSD-3-Clause
// A text becomes a plan, which is printed as text and read back as the same plan.
#include <rafter/schedule/plan.hpp>

#include "target.hpp"

using namespace rafter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  schedule::Plan plan;
  if (!fuzz::refusal([&] { plan = schedule::parse_plan(std::string(fuzz::as_text(data, size))); }).empty()) return 0;
  const auto text = schedule::to_string(plan);
  fuzz::require(text.find('\n') == std::string::npos, "a plan is one line");
  fuzz::require(schedule::parse_plan(text) == plan, "'" + text + "' is read back as the same plan");
  return 0;
}
