// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/loop_program.hpp>

/// Counts what a loop program executes and moves, by walking through its tree. Bounds, predictions and reports use
/// these numbers.
namespace rafter::schedule {

/// Instructions that a processor issues, counted once for all lanes unless said otherwise. The weights of the cost
/// model are fitted to these numbers. Work arrays count as registers where every index into them is a number, and a
/// product counts as one instruction with the sum that takes it.
struct Instructions {
  double arithmetic = 0;  ///< sums, products, fused multiply-adds
  double divisions = 0;   ///< quotients and square roots
  double functions = 0;   ///< calls of other elementary functions, one per lane
  double loads = 0;       ///< loads of consecutive lanes, and prefetches
  double stores = 0;      ///< stores of consecutive lanes
  double broadcasts = 0;  ///< loads of one number for all lanes, from tables in memory
  double gathers = 0;     ///< loads of lanes that lie apart in memory, by one instruction
  double lane_loads = 0;  ///< numbers loaded one by one into lanes
  double scatters = 0;    ///< numbers stored one by one
  double index_loads = 0; ///< loads of integers
  double iterations = 0;  ///< iterations of loops that are not unrolled
  double text = 0;        ///< operations in the text of the program, with unrolled loops written out
  bool operator==(const Instructions&) const = default;
};

/// Counts per batch, exact where the numbers of iterations are written in the program. Loops with a number of
/// iterations that is known only at run time count once. Of a branch the first alternative counts (the regular path),
/// unless its condition depends on loops with known numbers of iterations: then each alternative counts as often as it
/// comes. Stores of active lanes count as stores of all lanes.
struct LoopCounts {
  double flops = 0; ///< operations on all lanes; a fused multiply-add counts 2
  /// The fewest operations that compute the same: a product and the sum that takes it (directly or from a register)
  /// count 1 together.
  double operations = 0;
  double single_flops = 0, single_operations = 0; ///< the part of flops and operations that is on floats
  Traffic local;                                  ///< bytes to and from the nearest cache
  Traffic masked;                                 ///< the part of `local` that stores of active lanes move
  Traffic global; ///< bytes of real numbers in global buffers, streaming stores included
  Instructions instructions;
  bool operator==(const LoopCounts&) const = default;
};
LoopCounts count(const LoopProgram& program);
/// Counts of one statement on the buffers of a program.
LoopCounts count(const LoopProgram& program, const Node& part);

/// Bytes of all work arrays: what a batch, or a group of its cells, should find in the nearest cache.
double work_bytes(const LoopProgram& program);

} // namespace rafter::schedule
