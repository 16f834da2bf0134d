// SPDX-License-Identifier: BSD-3-Clause
// Tests compile their kernels with the set of flags that ctest names (tests/labels.cmake). By hand, without the
// variable, they compile as the library does.
#include <cstdlib>

#include <rafter/device/host/compiler.hpp>

namespace rafter::test {
namespace {

[[maybe_unused]] const bool has_flags_of_tests = [] {
  const char* name = std::getenv("RAFTER_TEST_KERNEL_FLAGS");
  if (name != nullptr && *name != '\0') device::set_usual_flag_set(name);
  return name != nullptr;
}();

} // namespace
} // namespace rafter::test
