// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/features.hpp>

#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/tune/plan_lowering.hpp>

namespace rafter::tune {

namespace {

/// Features of what a whole program executes.
Features executed(const schedule::LoopCounts& counts) {
  const auto& instructions = counts.instructions;
  Features result;
  result.flops = counts.flops;
  result.operations = counts.operations;
  result.arithmetic = instructions.arithmetic;
  result.divisions = instructions.divisions;
  result.functions = instructions.functions;
  result.loads = instructions.loads;
  result.stores = instructions.stores;
  result.broadcasts = instructions.broadcasts;
  result.gathers = instructions.gathers;
  result.lane_loads = instructions.lane_loads;
  result.scatters = instructions.scatters;
  result.index_loads = instructions.index_loads;
  result.iterations = instructions.iterations;
  result.local_read_bytes = counts.local.read_bytes;
  result.local_written_bytes = counts.local.written_bytes;
  return result;
}

} // namespace

Features count_features(const PlannedProgram& lowered, const schedule::PlanningProblem& problem) {
  const auto counts = schedule::count(lowered.loops);
  Features result = executed(counts);
  // programs without lanes loop over the cells of a batch, whose number is known only at run time
  const double cells = lowered.loops.vector_width == 1 ? problem.cells_per_batch : 1;
  for (const auto& feature : feature_names) result.*feature.value *= cells;
  result.work_bytes = schedule::work_bytes(lowered.loops);
  result.text = counts.instructions.text;
  const bool is_single = counts.single_flops > counts.flops / 2;
  result.word_bytes = size_bytes(is_single ? schedule::Type::real32 : schedule::Type::real);
  result.vector_width = lowered.loops.vector_width;
  result.data_bytes = lowered.data_bytes;
  result.vector_bytes = problem.input_bytes + problem.output_bytes;
  return result;
}

} // namespace rafter::tune
