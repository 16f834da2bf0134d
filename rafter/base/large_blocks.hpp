// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

/// Large blocks of memory side by side in one range of addresses, which the system backs with huge pages. A freed block
/// is taken for the next one that fits, so that its pages are cleared once: those of the C library's are searched with
/// room for their alignment on top, so that a freed vector does not fit its equal.
namespace rafter::base {

/// Least size of a block, in bytes.
inline constexpr std::size_t least_large_block = std::size_t{4} << 20;

/// Begins to use large blocks in this process. Returns false where the system does not give the addresses (a limit on
/// them), and under sanitizers, which watch the blocks of the C library.
bool begin_large_blocks();

/// Returns a block of at least so many bytes at a page's begin; null before begin_large_blocks() and where memory is
/// exhausted.
void* take_large_block(std::size_t bytes) noexcept;

/// Frees a block. Returns false for an address that is none.
bool give_large_block(void* block) noexcept;

/// Gives the memory of freed blocks back to the system.
void trim_large_blocks();

} // namespace rafter::base
