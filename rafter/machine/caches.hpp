// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace rafter::machine {

/// Sizes in bytes of the data caches of one core, nearest first; at least one entry.
std::vector<std::int64_t> cache_sizes();

/// Reads sizes as the files of the system give them, such as "48K", "2M" or "512"; 0 for other text.
std::int64_t parse_size(const std::string& text);

/// Bytes of memory of the machine, and those that are available without swapping.
struct MemorySize {
  std::int64_t total = 0, available = 0;
};
MemorySize memory_size();

} // namespace rafter::machine
