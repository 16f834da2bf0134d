// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/aligned.hpp>

#include <cstdlib>
#include <string>
#include <sys/mman.h>

#include <rafter/base/error.hpp>
#include <rafter/base/large_blocks.hpp>
#include <rafter/base/memory.hpp>

namespace rafter::base {

namespace {

std::string in_use() {
  const auto memory = process_memory();
  return memory ? " beside the " + std::to_string(memory->resident_bytes >> 20) + " MiB in use" : "";
}

} // namespace

void* allocate_aligned(std::size_t bytes) {
  if (bytes >= least_large_block)
    if (void* const block = take_large_block(bytes)) return block;
  constexpr std::size_t huge = std::size_t(2) << 20;
  const bool is_large = bytes >= 2 * huge;
  const std::size_t alignment = is_large ? huge : 64;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* pointer = std::aligned_alloc(alignment, size == 0 ? alignment : size);
  if (pointer == nullptr)
    throw EnvironmentError("out of memory: " + std::to_string(bytes >> 20) + " MiB could not be allocated" + in_use());
  if (is_large) madvise(pointer, size, MADV_HUGEPAGE);
  return pointer;
}

void free_aligned(void* pointer) noexcept {
  if (!give_large_block(pointer)) std::free(pointer);
}

} // namespace rafter::base
