// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/machine/machine.hpp>
#include <string>

namespace rafter::machine {

/// What a computation costs, counted from its program.
struct Counts {
  double flops = 0;                ///< executed
  double operations = 0;           ///< executed, a fused multiply-add counts 1; 0: as if all were such
  double effective_flops = 0;      ///< of the algorithm alone, without recomputation and padding
  double global_bytes_read = 0;    ///< compulsory: each input once
  double global_bytes_written = 0; ///< compulsory: each output once
  /// To and from the nearest cache while computing, each access of the program (schedule::Traffic): of work arrays,
  /// vectors, data, tables and lists of indices, but not of arrays that its form keeps in registers.
  double local_bytes_read = 0, local_bytes_written = 0;
  /// Of these the fewest that an execution needs, whatever a compiler keeps in registers (schedule::LeastTraffic).
  double least_local_bytes_read = 0, least_local_bytes_written = 0;
  double single_flops = 0;      ///< of the flops: on floats
  double single_operations = 0; ///< of the operations: on floats

  Counts& operator+=(const Counts& other);
  bool operator==(const Counts&) const = default;
};

/// The least time a machine needs.
struct Bound {
  double seconds = 0;
  std::string limited_by; ///< "flops", "memory" or "local memory"; "" when there is nothing to do
};

/// Time-based roofline: max(flops / peak, operations / rate of multiply-adds, global bytes / memory bandwidth, fewest
/// local bytes / bandwidth of the nearest level) on so many cores; operations on doubles and on floats take their times
/// one after the other. Bandwidths follow the mix of reads and writes
/// between what was measured for reading (no writes), triad (one third) and copy (half). The nearest cache loads and
/// stores at the same time: its bound is the longer of reading and writing, each at the highest rate that any
/// measurement reached. Throws InternalError when the record lacks a rate that the counts need.
Bound bound(const Counts& counts, const Machine& machine, int cores);

/// The machine as a problem that moves `bytes` per run sees it: data that fit into a cache stay there, and the memory
/// does not bound. Nearer caches belong to one core each; the last is one for all.
Machine resident(const Machine& machine, double bytes, int cores);

} // namespace rafter::machine
