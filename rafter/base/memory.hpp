// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

/// Memory that this process uses, as the system counts it: resident pages, including those of shared libraries.
namespace rafter::base {

struct ProcessMemory {
  std::int64_t resident_bytes = 0; ///< memory at present
  std::int64_t peak_bytes = 0;     ///< most memory since the process started, or since restart_peak_memory() succeeded
};

/// Memory of the process; nothing where the system does not report it (Linux does: VmRSS and VmHWM of
/// /proc/self/status).
std::optional<ProcessMemory> process_memory();

/// Restarts the peak from what is resident now, so that a part of a run has a peak of its own. Memory that was freed,
/// but kept by the C library, is given back to the system first. Returns false where the system does not permit it
/// (Linux before 4.0, some containers); the peak is then that of the whole run.
bool restart_peak_memory();

/// Keeps memory that is freed for what is allocated next: that of large arrays in one place (large_blocks.hpp), and
/// other blocks of up to 2 GB in the C library, where that is glibc. Otherwise large blocks go back to the system,
/// which clears every page of their successors; that is a third of the time that a mesh and its operators take to set
/// up. This is a choice for a whole program, which Rafter's command makes. It also lets `new` take large blocks
/// (apps/rafter/large_arrays.cpp).
void keep_freed_memory();

/// Memory that a part of a run needs beyond what was in use before. Parts must follow one another: an object that is
/// made while another exists restarts the peak of both.
class MemoryGrowth {
public:
  MemoryGrowth() : is_restarted_(restart_peak_memory()), start_(process_memory()) {}
  /// Highest memory since construction, less what was resident then. Nothing where the system does not restart peaks.
  std::optional<std::int64_t> peak_bytes() const;
  /// Memory resident now, less what was resident at construction; smaller where memory was given back to the system.
  std::optional<std::int64_t> resident_bytes() const;

private:
  bool is_restarted_;
  std::optional<ProcessMemory> start_;
};

} // namespace rafter::base
