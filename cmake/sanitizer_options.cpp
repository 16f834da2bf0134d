// SPDX-License-Identifier: BSD-3-Clause
// How sanitizers run in every program of a build with them, however it is started: the object is linked into all of
// them. ASAN_OPTIONS, LSAN_OPTIONS, TSAN_OPTIONS and UBSAN_OPTIONS change single options as ever.
#include <string_view>

#include <rafter/base/sanitizers.hpp>

namespace {

constexpr bool is_asked_for(std::string_view sanitizer) {
  return std::string_view(RAFTER_SANITIZE).find(sanitizer) != std::string_view::npos;
}
static_assert(rafter::base::sanitizers.address == is_asked_for("address"), "sources do not know what watches them");
static_assert(rafter::base::sanitizers.thread == is_asked_for("thread"), "sources do not know what watches them");
static_assert(rafter::base::sanitizers.memory == is_asked_for("memory"), "sources do not know what watches them");

} // namespace

extern "C" {

/// Allocations that are too large fail as they do without the sanitizer.
///
/// The loader allocates what threads have in libraries that are opened while a program runs, such as drivers of OpenCL.
/// Where the sanitizer looks at its calls (intercept_tls_get_addr), it takes a block that begins 16 bytes behind a
/// multiple of 4096 for one of glibc 2.19 and what stands before it for its length and place (up to Clang 16 and
/// GCC 13), and the search for leaks ends with "Tracer caught signal 11". That happens to one of 128 small blocks. The
/// search does not need it: all that the loader has allocated counts as reachable.
const char* __asan_default_options() {
  return "allocator_may_return_null=1:detect_stack_use_after_return=1:intercept_tls_get_addr=0";
}

/// A program that has further suppressions says them by __lsan_default_suppressions.
const char* __lsan_default_options() {
  return "suppressions='" RAFTER_SOURCE_DIR "/tests/support/leaks.txt':print_suppressions=0";
}

/// A program with threads ends at once: the thread sanitizer else sleeps a second before, for races that are still to
/// come, in each of the hundreds of programs that tests are.
const char* __tsan_default_options() { return "halt_on_error=1:intercept_tls_get_addr=0:atexit_sleep_ms=20"; }

const char* __ubsan_default_options() { return "print_stacktrace=1"; }
}
