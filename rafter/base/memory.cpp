// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/memory.hpp>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <rafter/base/large_blocks.hpp>
#include <string>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace rafter::base {

std::optional<ProcessMemory> process_memory() {
  std::ifstream status("/proc/self/status");
  ProcessMemory memory;
  std::string line;
  while (std::getline(status, line)) { // lines such as "VmHWM:     12345 kB"
    const auto bytes = [&line] { return 1024 * std::stoll(line.substr(line.find(':') + 1)); };
    if (line.starts_with("VmHWM:")) memory.peak_bytes = bytes();
    if (line.starts_with("VmRSS:")) memory.resident_bytes = bytes();
  }
  if (memory.peak_bytes == 0 || memory.resident_bytes == 0) return std::nullopt;
  return memory;
}

bool restart_peak_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
  trim_large_blocks();
  std::ofstream control("/proc/self/clear_refs");
  control << "5" << std::flush; // "to reset the peak resident set size", says proc(5)
  return control.good();
}

void keep_freed_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, INT_MAX);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
  begin_large_blocks();
}

std::optional<std::int64_t> MemoryGrowth::peak_bytes() const {
  const auto now = process_memory();
  if (!is_restarted_ || !start_ || !now) return std::nullopt;
  return now->peak_bytes - start_->resident_bytes;
}

std::optional<std::int64_t> MemoryGrowth::resident_bytes() const {
  const auto now = process_memory();
  if (!start_ || !now) return std::nullopt;
  return now->resident_bytes - start_->resident_bytes;
}

} // namespace rafter::base
