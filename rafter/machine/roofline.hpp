// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/machine/machine.hpp>
#include <string>

namespace rafter::machine {

/// Operations and bytes of a computation, counted from its program.
struct Counts {
  double flops = 0;      ///< floating-point operations that are executed
  double operations = 0; ///< executed operations, where a fused multiply-add counts 1; 0: all flops are taken as parts
                         ///< of fused multiply-adds
  double effective_flops = 0;      ///< operations of the algorithm alone, without recomputation and padding
  double global_bytes_read = 0;    ///< bytes that must be read: each input once
  double global_bytes_written = 0; ///< bytes that must be written: each output once
  /// Bytes to and from the nearest cache while computing, for each access of the program (schedule::Traffic): to work
  /// arrays, vectors, data, tables and index lists, but not to arrays that the program keeps in registers.
  double local_bytes_read = 0, local_bytes_written = 0;
  /// The fewest of these bytes that any execution needs, whatever a compiler keeps in registers
  /// (schedule::LeastTraffic).
  double least_local_bytes_read = 0, least_local_bytes_written = 0;
  double single_flops = 0;      ///< the part of `flops` that is on floats
  double single_operations = 0; ///< the part of `operations` that is on floats

  Counts& operator+=(const Counts& other);
  bool operator==(const Counts&) const = default;
};

/// The least time that a machine needs for a computation.
struct Bound {
  double seconds = 0;
  std::string limited_by; ///< "flops", "memory" or "local memory"; "" when there is nothing to do
};

/// Time-based roofline on `cores` cores: max(flops / peak, operations / rate of multiply-adds, global bytes / memory
/// bandwidth, fewest local bytes / bandwidth of the nearest level). Operations on doubles and on floats take their
/// times one after the other. The memory bandwidth depends on the share of writes, by interpolation between the rates
/// for reading (no writes), triad (one third) and copy (half). The nearest cache loads and stores at the same time: its
/// bound is the longer of reading and writing, each at the highest rate in any measurement. Throws InternalError when
/// the record lacks a rate that the counts need.
Bound bound(const Counts& counts, const Machine& machine, int cores);

/// The machine for a problem that moves `bytes` per run: data that fit into a cache stay there, and that cache takes
/// the place of the memory. The last cache is shared by all cores; each nearer one belongs to one core.
Machine resident(const Machine& machine, double bytes, int cores);

} // namespace rafter::machine
