// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

/// What a batch does, in order: accesses to places in memory, and the bounds of loops and of their iterations.
struct TraceEvent {
  enum class Kind : std::uint8_t { read, write, begin, end };
  Kind kind = Kind::read;
  bool is_of_batch = false; ///< the place depends on what is known when the kernel runs: each batch has its own
  bool is_constant = false; ///< a written number of the text
  bool is_masked = false;   ///< of active lanes alone
  std::int32_t place = -1;  ///< the same for equal places; consecutive numbers from 0
  std::int32_t bytes = 0;
};

/// The accesses of a batch on the regular path, as schedule::count takes it: arrays in registers, streaming stores and
/// prefetches are not among them. An access of all lanes to whole vectors, or to places that are known when the kernel
/// runs only, is one to the place of the first lane. `most`: the trace stops after so many accesses, between
/// statements.
std::vector<TraceEvent> access_trace(const LoopProgram& program, std::int64_t most = 1'000'000);

} // namespace rafter::schedule
