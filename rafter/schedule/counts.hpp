// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/loop_program.hpp>

/// What a loop program executes and moves, counted from its tree. Bounds, predictions and reports take their numbers
/// from here.
namespace rafter::schedule {

/// What the processor issues, one for all lanes unless said otherwise. The cost model's weights belong to these
/// numbers: work arrays are registers where every place in them is a literal, and a product is one instruction with the
/// sum that it stands in.
struct Instructions {
  double arithmetic = 0;  ///< sums, products, fused multiply-adds
  double divisions = 0;   ///< quotients and square roots
  double functions = 0;   ///< calls of other elementary functions, one per lane
  double loads = 0;       ///< of consecutive lanes, and prefetches
  double stores = 0;      ///< of consecutive lanes
  double broadcasts = 0;  ///< numbers that every lane takes: entries of tables in memory
  double gathers = 0;     ///< loads of lanes that lie apart
  double scatters = 0;    ///< numbers written one by one
  double index_loads = 0; ///< loads of integers
  double iterations = 0;  ///< of loops that are not unrolled
  double text = 0;        ///< operations that stand in the program, unrolled loops written out
};

/// Per batch, exact where trip counts are literals: loops over run-time counts count once, branches their first
/// alternative (the regular path; those that depend on the iteration of such a loop as often as they come), writes of
/// active lanes all lanes.
struct LoopCounts {
  double flops = 0; ///< all lanes; a fused multiply-add counts 2
  /// The fewest that compute the same: a product and a sum that takes it, directly or from a register, count 1.
  double operations = 0;
  double single_flops = 0, single_operations = 0; ///< of these, on floats
  Traffic local;                                  ///< to and from the nearest cache
  Traffic masked;                                 ///< of it: what writes of active lanes move
  Traffic global;                                 ///< of the reals in global buffers, with streams
  Instructions instructions;
};
LoopCounts count(const LoopProgram& program);
/// Of a statement alone, on the buffers of a program.
LoopCounts count(const LoopProgram& program, const Node& part);

/// Of all work arrays: what a batch, or a group of its cells, keeps near.
double work_bytes(const LoopProgram& program);

} // namespace rafter::schedule
