// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace rafter::base {

/// The sanitizers that watch a program. GCC up to 13 announces them by macros of its own, Clang by features, later ones
/// by both.
struct Sanitizers {
  bool address = false, thread = false, memory = false;
};

inline constexpr Sanitizers sanitizers {
#if defined(__SANITIZE_ADDRESS__)
  .address = true,
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  .address = true,
#endif
#endif
#if defined(__SANITIZE_THREAD__)
  .thread = true,
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  .thread = true,
#endif
#endif
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
  .memory = true,
#endif
#endif
};

} // namespace rafter::base
