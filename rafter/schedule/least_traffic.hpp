// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

#include <rafter/schedule/access_trace.hpp>
#include <rafter/schedule/target.hpp>

namespace rafter::schedule {

/// The least number of bytes that a batch exchanges with the nearest cache, however well a compiler uses registers: a
/// lower bound for every execution of the program's operations in the program's order, and at most LoopCounts::local.
///
/// Places that each batch has for itself (vectors, data, index lists) are read or written at least once. For work
/// arrays and tables the bound follows Hong and Kung (doi:10.1145/800076.802486): of the values that are made before a
/// stretch of the program and read in it, registers hold at most `registers_bytes` at its begin, and the others are
/// loaded within it; of the values that are written in it and read after it, registers hold as much at its end, and the
/// others are stored within it. Stretches are the batch, loops and iterations of loops; what their parts need adds up.
/// Numbers in the text need no storage.
struct LeastTraffic {
  Traffic all;
  Traffic masked; ///< the part that is moved for active lanes alone
  bool operator==(const LeastTraffic&) const = default;
};
LeastTraffic least_traffic(std::span<const TraceEvent> trace,
                           double registers_bytes = static_cast<double>(Target().register_bytes));

} // namespace rafter::schedule
