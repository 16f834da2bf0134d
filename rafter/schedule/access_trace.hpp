// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// One event of what a batch does, in order: an access to a place in memory, or the begin or end of a loop or of one of
/// its iterations.
struct TraceEvent {
  enum class Kind : std::uint8_t { read, write, begin, end };
  Kind kind = Kind::read;
  /// The place is known only when the kernel runs, and each batch has its own (vectors, data, index lists).
  bool is_of_batch = false;
  bool is_constant = false; ///< a number of the text is written
  bool is_masked = false;   ///< the access is made for active lanes alone
  std::int32_t place = -1;  ///< number of the place, consecutive from 0; equal numbers mean equal places
  std::int32_t bytes = 0;
};

/// The memory accesses of one batch on the regular path of the program. Arrays in registers, streaming stores and
/// prefetches are left out. If all lanes access whole vectors, or places that are known only when the kernel runs,
/// there is a single event, at the place of the first lane. The trace stops after about `most` accesses, between two
/// statements.
std::vector<TraceEvent> access_trace(const LoopProgram& program, std::int64_t most = 1'000'000);

} // namespace rafter::schedule
