// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

/// Memory that this process takes, as the system counts it: resident pages, those of shared libraries among them.
namespace rafter::base {

struct ProcessMemory {
  std::int64_t resident_bytes = 0; ///< now
  std::int64_t peak_bytes = 0;     ///< most since the process started, or since restart_peak_memory() succeeded
};

/// Nothing where the system does not tell (it does on Linux: VmRSS and VmHWM of /proc/self/status).
std::optional<ProcessMemory> process_memory();

/// The peak starts anew from what is resident now, so that a part of a run has a peak of its own; memory that was freed
/// is given back to the system first where the C library keeps it. False where the
/// system does not permit it (Linux before 4.0, some containers); the peak is then that of the whole run.
bool restart_peak_memory();

/// What a part of a run takes. Parts may follow one another; the peak of one within another ends the other's.
class MemoryGrowth {
public:
  MemoryGrowth() : is_restarted_(restart_peak_memory()), start_(process_memory()) {}
  /// Most memory since construction beyond what was resident then. Nothing where the system does not restart peaks.
  std::optional<std::int64_t> peak_bytes() const;
  /// What is resident now beyond that; memory that is given back to the system counts against it.
  std::optional<std::int64_t> resident_bytes() const;

private:
  bool is_restarted_;
  std::optional<ProcessMemory> start_;
};

} // namespace rafter::base
