// SPDX-License-Identifier: BSD-3-Clause
// Tests compile their kernels with the flag that ctest names (tests/labels.cmake), and with Clang where it is
// installed, which without optimisation is up to five times as fast as GCC. By hand, without the variable, they compile
// as the library does.
#include <algorithm>
#include <cstdlib>

#include <rafter/device/host/compiler.hpp>

namespace rafter::test {
namespace {

[[maybe_unused]] const bool has_flags_of_tests = [] {
  const char* flag = std::getenv("RAFTER_TEST_KERNEL_FLAG");
  if (flag != nullptr && *flag != '\0') {
    const bool has_clang = std::ranges::count(device::available_compilers(), "clang") > 0;
    device::set_usual_compilation({.compiler = has_clang ? "clang" : "", .flags = {flag}});
  }
  return flag != nullptr;
}();

} // namespace
} // namespace rafter::test
