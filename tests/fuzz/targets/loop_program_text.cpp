// SPDX-License-Identifier: BSD-3-Clause
// A text becomes a loop program, and the program the same text again; the verifier refuses with InternalErrors.
#include <rafter/schedule/counts.hpp>

#include "target.hpp"

using namespace rafter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  schedule::LoopProgram program;
  if (!fuzz::refusal([&] { program = schedule::read(std::string(fuzz::as_text(data, size))); }).empty()) return 0;
  const auto printed = schedule::print(program);
  fuzz::require(schedule::print(schedule::read(printed)) == printed, printed + " is read back as the same program");
  try {
    schedule::verify(program);
  } catch (const base::InternalError&) {
    return 0;
  }
  (void)schedule::count(program);
  return 0;
}
