// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace rafter::machine {

/// Sizes in bytes of the data caches of one core, nearest first; at least one entry.
std::vector<std::int64_t> cache_sizes();

/// "48K", "2M", "512" as the system files write sizes; 0 for anything else.
std::int64_t parse_size(const std::string& text);

/// Memory of the machine, and what of it can be had without swapping, in bytes.
struct MemorySize {
  std::int64_t total = 0, available = 0;
};
MemorySize memory_size();

} // namespace rafter::machine
