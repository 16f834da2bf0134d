// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

#include <rafter/schedule/access_trace.hpp>

namespace rafter::schedule {

/// The largest register file of the processors that kernels are made for: 32 registers of 512 bits.
inline constexpr double register_file_bytes = 32 * 64;

/// The least bytes that a batch exchanges with the nearest cache, however well a compiler uses registers: a lower bound
/// for every execution of the program's operations in the program's order. At most LoopCounts::local of the program.
///
/// Places that differ from batch to batch (vectors, data, lists of indices) cross at least once each. Work arrays and
/// tables follow the argument of Hong and Kung (doi:10.1145/800076.802486): of the values that enter a stretch of the
/// program and are read there, registers hold at most `registers_bytes` when it begins, and the others are loaded
/// within it; of the values that are written there and read after it, registers hold as much when it ends, and the
/// others are stored within it. Stretches are the batch, loops and iterations of loops; what their parts need adds up.
/// Numbers of the text are no values that have to be kept.
struct LeastTraffic {
  Traffic all;
  Traffic masked; ///< of it: what writes of active lanes move
};
LeastTraffic least_traffic(std::span<const TraceEvent> trace, double registers_bytes = register_file_bytes);

} // namespace rafter::schedule
