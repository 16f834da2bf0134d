// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <new>

#include <rafter/base/large_blocks.hpp>

// Large arrays of the whole command are large blocks: what a mesh needs while it is made then serves the vectors of the
// solve, and pages of 2 MiB spare hundreds of thousands of page faults. Other forms of new and delete call these two.

void* operator new(std::size_t size) {
  if (size >= rafter::base::least_large_block)
    if (void* const block = rafter::base::take_large_block(size)) return block;
  for (;;) {
    if (void* const block = std::malloc(size == 0 ? 1 : size)) return block;
    const auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* block) noexcept {
  if (!rafter::base::give_large_block(block)) std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
