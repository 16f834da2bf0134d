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

/// The peak starts anew from what is resident now, so that a part of a run has a peak of its own. False where the
/// system does not permit it (Linux before 4.0, some containers); the peak is then that of the whole run.
bool restart_peak_memory();

} // namespace rafter::base
