// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/large_blocks.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <utility>

#include <rafter/base/sanitizers.hpp>

namespace rafter::base {
namespace {

constexpr bool is_watched = sanitizers.address || sanitizers.thread || sanitizers.memory;

constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20;
/// Addresses are reserved, not memory: more than any machine has, and a small part of what 47 bits of addresses hold.
constexpr std::size_t num_addresses = std::size_t{1} << 43;

constexpr std::uintptr_t rounded_up(std::uintptr_t size, std::size_t to) { return (size + to - 1) / to * to; }

/// The blocks of this process, by their first addresses. Free ranges have no free neighbour. Everything from `top` on
/// is untouched.
class Blocks {
public:
  explicit Blocks(std::uintptr_t begin) : begin_(begin), accessible_(begin), top_(begin) {}

  bool holds(const void* block) const {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    return address >= begin_ && address - begin_ < num_addresses;
  }
  void* take(std::size_t bytes) {
    const auto size = rounded_up(bytes, page);
    const std::scoped_lock lock(mutex_);
    auto best = free_.end(); // the smallest range that fits, of those the first
    for (auto range = free_.begin(); range != free_.end(); ++range)
      if (range->second >= size && (best == free_.end() || range->second < best->second)) best = range;
    if (best == free_.end()) return take_at_top(size);
    if (best->second > size) free_.emplace(best->first + size, best->second - size);
    auto taken = free_.extract(best);
    taken.mapped() = size;
    return reinterpret_cast<void*>(used_.insert(std::move(taken)).position->first);
  }
  void give(void* block) {
    const std::scoped_lock lock(mutex_);
    const auto used = used_.find(reinterpret_cast<std::uintptr_t>(block));
    if (used == used_.end()) return;
    auto freed = used_.extract(used); // its node is the one of the free range, so that freeing allocates nothing
    auto &address = freed.key(), &length = freed.mapped();
    if (const auto next = free_.find(address + length); next != free_.end()) {
      length += next->second;
      free_.erase(next);
    }
    if (auto before = free_.lower_bound(address); before != free_.begin())
      if (--before; before->first + before->second == address) {
        address = before->first;
        length += before->second;
        free_.erase(before);
      }
    free_.insert(std::move(freed));
  }
  void trim() {
    const std::scoped_lock lock(mutex_);
    for (const auto& [address, length] : free_) madvise(reinterpret_cast<void*>(address), length, MADV_DONTNEED);
  }

private:
  /// Takes a block from the untouched addresses, and from a free range that ends there.
  void* take_at_top(std::size_t size) {
    auto address = top_;
    auto last = free_.end();
    if (!free_.empty())
      if (--last; last->first + last->second == top_) address = last->first;
    const auto end = address + size;
    if (end - begin_ > num_addresses || !make_accessible(end)) return nullptr;
    used_.emplace(address, size);
    if (address != top_) free_.erase(last);
    top_ = end;
    return reinterpret_cast<void*>(address);
  }
  bool make_accessible(std::uintptr_t end) {
    if (end <= accessible_) return true;
    const auto size = rounded_up(end - accessible_, huge_page);
    auto* const first = reinterpret_cast<void*>(accessible_);
    if (mprotect(first, size, PROT_READ | PROT_WRITE) != 0) return false;
    madvise(first, size, MADV_HUGEPAGE);
    accessible_ += size;
    return true;
  }

  std::mutex mutex_;
  std::uintptr_t begin_, accessible_, top_;
  std::map<std::uintptr_t, std::uintptr_t> free_, used_; ///< sizes of ranges by their addresses
};

std::atomic<Blocks*> blocks = nullptr; ///< never destroyed: objects with static lifetime may free blocks later

} // namespace

bool begin_large_blocks() {
  if (is_watched) return false;
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (blocks.load() != nullptr) return true;
  void* const first =
      mmap(nullptr, num_addresses + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (first == MAP_FAILED) return false;
  blocks = new Blocks(rounded_up(reinterpret_cast<std::uintptr_t>(first), huge_page));
  return true;
}

void* take_large_block(std::size_t bytes) noexcept {
  auto* const all = blocks.load(std::memory_order_acquire);
  if (all == nullptr || bytes > num_addresses) return nullptr;
  try {
    return all->take(bytes);
  } catch (const std::bad_alloc&) { // the tables of blocks take memory, too
    return nullptr;
  }
}

bool give_large_block(void* block) noexcept {
  auto* const all = blocks.load(std::memory_order_acquire);
  if (all == nullptr || !all->holds(block)) return false;
  all->give(block);
  return true;
}

void trim_large_blocks() {
  if (auto* const all = blocks.load(); all != nullptr) all->trim();
}

} // namespace rafter::base
