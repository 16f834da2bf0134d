// SPDX-License-Identifier: BSD-3-Clause
// A JSON text becomes the record of a machine, which is written as JSON and read back as the same record.
#include <rafter/machine/roofline.hpp>

#include "target.hpp"

using namespace rafter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  machine::Machine found;
  if (!fuzz::refusal([&] { found = machine::from_json(std::string(fuzz::as_text(data, size))); }).empty()) return 0;
  fuzz::require(machine::from_json(machine::to_json(found)) == found, "a record is read back as itself");
  (void)machine::bound({.flops = 1e9, .global_bytes_read = 1e9}, found, 2);
  return 0;
}
