// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <tuple>

namespace rafter::machine {
struct DeviceRecord;
}

namespace rafter::tune {

/// Weights of the cost model, which belong to the record of a device. Those of features are costs in instructions at
/// peak rate: of a register of a processor, of one item elsewhere.
struct CostWeights {
  double arithmetic = 0.78, divisions = 20, functions = 40;
  double loads = 0.73, stores = 1.1, broadcasts = 0.46, gathers = 12, scatters = 3.1, index_loads = 0.45;
  double iterations = 1.1;
  double spilling = 0.94; ///< a load or store of work arrays that the nearest level does not hold, from the next one
  double data_share = 1;  ///< share of the loads and stores of data and vectors that count as those of work arrays
  double overlap = 0.63;  ///< share of the shorter one of computing and of memory traffic that the longer does not hide
  /// Cost factor of an instruction on more lanes than a register holds, per register, in texts that clang compiles.
  double splitting = 1.3;
  double crowding = 2;        ///< a kernel's data stay in a cache only if they fit so many times
  double usual_share = 0.4;   ///< share of the peak that kernels reach, for plans before they are lowered
  double nearest_bytes = 0;   ///< size of the nearest level for the work arrays of one item; 0: as the record says
  double num_work_arrays = 1; ///< items whose work arrays share the levels beyond
  bool operator==(const CostWeights&) const = default;
};
inline auto members(const CostWeights& value) {
  const auto& [arithmetic, divisions, functions, loads, stores, broadcasts, gathers, scatters, index_loads, iterations,
               spilling, data_share, overlap, splitting, crowding, usual_share, nearest_bytes, num_work_arrays] = value;
  return std::tie(arithmetic, divisions, functions, loads, stores, broadcasts, gathers, scatters, index_loads,
                  iterations, spilling, data_share, overlap, splitting, crowding, usual_share, nearest_bytes,
                  num_work_arrays);
}

/// The weights of processors. They were found by
///   scripts/record_sweeps.py build/rafter bench/data/sweeps/MACHINE
///   scripts/fit_cost_model.py bench/data/sweeps/*/*.json
/// on the machines whose records the sweeps hold, an Intel Xeon with AVX-512 and two AMD EPYC, with AVX2 and with
/// AVX-512. They are common to all: what differs is in the records. The weight of functions, which occur in no sweep,
/// is a guess.
CostWeights processor_weights();

/// The weights of a device, from what was measured of it. A processor has those of processors. Elsewhere, with
/// s = 2 / (flop/s of multiply-adds) seconds of an instruction,
///   arithmetic = max(1, rate of multiply-adds / lower rate of additions and multiplications) * max(1, n / m): an item
///     waits for the result of each instruction, so that the peak of a compute unit needs n = (its instructions per
///     second) * latency items, where m = (registers of the unit) / (registers of an item) fit. The latency is that of
///     multiply-adds of doubles on Volta, 8 cycles (Jia et al., arXiv:1804.06826), at 2 GHz;
///   loads = stores = gathers = 8 bytes / (rate of reading shared memory) / s, the time of a number from the nearest
///     memory that has addresses: shared memory and the nearest cache are one there;
///   spilling = 8 bytes / (triad of the level behind the registers) / s: work arrays that the registers of an item do
///     not hold are in the device's memory, behind the caches that all items on the device share. Data and vectors have
///     no part in that (data_share = 0), since their bytes are counted;
///   scatters = 16 bytes / (rate of copying in the memory) / s, since additions read and write it;
///   broadcasts = index_loads = iterations = 1: an instruction, whose number all items in step share;
///   overlap = 1, since work arrays and data take turns on the same memory.
/// Divisions and functions are those of processors: no probe measures them.
CostWeights cost_weights(const machine::DeviceRecord& record);

} // namespace rafter::tune
