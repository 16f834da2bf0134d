// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/cost_model.hpp>

#include <algorithm>
#include <cmath>

#include <rafter/machine/roofline.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/tune/cost_weights.hpp>
#include <rafter/tune/features.hpp>
#include <rafter/tune/plan_lowering.hpp>

namespace rafter::tune {

namespace {

/// Additional cost of a load or store of work arrays, from the share of the arrays that each cache does not hold and
/// that comes from the next level. The weight applies to the second level; levels beyond cost more in proportion as
/// they are slower.
double spilling(double work_bytes, const machine::Machine& machine, const CostWeights& weights) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < machine.levels.size(); ++i) {
    const bool is_nearest = i == 0 && weights.nearest_bytes > 0;
    const double bytes =
        is_nearest ? weights.nearest_bytes : static_cast<double>(machine.levels[i].bytes) / weights.num_work_arrays;
    if (work_bytes <= bytes) break;
    const double slower = machine.levels[1].triad.one_core / machine.levels[i + 1].triad.one_core;
    sum += (1 - bytes / work_bytes) * std::max(slower, 1.0);
  }
  return weights.spilling * sum;
}

/// Returns how much longer the slower way to gather takes than the faster one, to which the weight refers. Kernels
/// compute while they wait for what they gather, so that less is seen of the difference than alone: its square root
/// fits the sweeps.
double slowdown(const machine::Rate& way, const machine::Rate& other) {
  return way.one_core > 0 ? std::sqrt(std::max(1.0, other.one_core / way.one_core)) : 1;
}

/// Cost of loading numbers that lie apart. Features count instructions of all lanes, or lanes.
double gathering(const Features& f, const machine::Machine& machine, const CostWeights& weights) {
  const auto &vector = machine.vector_gather, &scalar = machine.scalar_gather;
  const bool is_by_lane = machine.gathers_faster_by_lane();
  return weights.gathers * (f.gathers * (is_by_lane ? slowdown(vector, scalar) : 1) +
                            f.lane_loads / f.vector_width * (is_by_lane ? 1 : slowdown(scalar, vector)));
}

/// Loads and stores of work arrays, and of data and vectors where the weights count these as such.
double work_accesses(const Features& f, const CostWeights& weights) {
  const double all = f.loads + f.stores;
  const double numbers = (f.data_bytes + f.vector_bytes) / (f.word_bytes * f.vector_width);
  return all - (1 - weights.data_share) * std::min(all, numbers);
}

/// Cost of what is executed once for every register that the lanes fill.
double vector_instructions(const Features& f, const machine::Machine& machine, const CostWeights& weights) {
  return gathering(f, machine, weights) + spilling(f.work_bytes, machine, weights) * work_accesses(f, weights) +
         weights.arithmetic * f.arithmetic + weights.divisions * f.divisions + weights.loads * f.loads +
         weights.stores * f.stores;
}
/// Cost of what more lanes do not make longer, or whose lanes are counted one by one.
double scalar_instructions(const Features& f, const CostWeights& weights) {
  return weights.functions * f.functions + weights.broadcasts * f.broadcasts + weights.scatters * f.scatters +
         weights.index_loads * f.index_loads + weights.iterations * f.iterations;
}

/// Time of computing and of memory traffic together, when they overlap in part.
double overlapped(double compute, double memory, double overlap) {
  return std::max(compute, memory) + overlap * std::min(compute, memory);
}

/// The machine as the whole problem sees it: its memory is the nearest level that holds the data `times` times.
machine::Machine seen_by(const schedule::PlanningProblem& problem, double bytes_per_batch,
                         const machine::Machine& machine, double times = 1) {
  return machine::resident(machine, times * problem.num_batches * bytes_per_batch, problem.num_threads);
}

machine::Counts traffic(const schedule::PlanningProblem& problem, double data_bytes) {
  machine::Counts counts;
  counts.global_bytes_read = problem.num_batches * (data_bytes + problem.input_bytes);
  counts.global_bytes_written = problem.num_batches * problem.output_bytes;
  return counts;
}

} // namespace

Prediction predict(const Features& features, const schedule::PlanningProblem& problem, const machine::Machine& machine,
                   const CostWeights& weights) {
  const double bytes = features.data_bytes + features.vector_bytes;
  auto counts = traffic(problem, features.data_bytes);
  const double memory =
      machine::bound(counts, seen_by(problem, bytes, machine, weights.crowding), problem.num_threads).seconds;
  counts.flops = problem.num_batches * features.flops;
  counts.operations = problem.num_batches * features.operations;
  const bool is_single = features.word_bytes < 8;
  if (is_single) {
    counts.single_flops = counts.flops;
    counts.single_operations = counts.operations;
  }
  // registers that are not full take as long as full ones
  const double bits = machine.peaks.back().bits, filled = 8 * features.word_bytes * features.vector_width / bits;
  const double registers = filled > 1 ? weights.splitting * filled : 1;
  const double instructions = problem.num_batches * (registers * vector_instructions(features, machine, weights) +
                                                     scalar_instructions(features, weights));
  const double seconds_per_instruction = is_single ? 2 * (bits / 32) / machine.single_peak_flops(problem.num_threads)
                                                   : 2 * (bits / 64) / machine.peak_flops(problem.num_threads);
  const double compute = instructions * seconds_per_instruction;
  const auto seen = seen_by(problem, bytes, machine);
  const double bound = machine::bound(counts, seen, problem.num_threads).seconds;
  // The time of the program's accesses is likely, but no bound: a compiler keeps some of them in registers.
  counts.least_local_bytes_read = problem.num_batches * features.local_read_bytes;
  counts.least_local_bytes_written = problem.num_batches * features.local_written_bytes;
  const double accesses = machine::bound(counts, seen, problem.num_threads).seconds;
  return {std::max(accesses, overlapped(compute, memory, weights.overlap)), bound};
}

double predict_roughly(const Estimate& estimate, const schedule::PlanningProblem& problem,
                       const machine::Machine& machine, const CostWeights& weights) {
  const auto seen =
      seen_by(problem, estimate.data_bytes + problem.input_bytes + problem.output_bytes, machine, weights.crowding);
  const double memory = machine::bound(traffic(problem, estimate.data_bytes), seen, problem.num_threads).seconds;
  const double compute =
      problem.num_batches * estimate.flops / (weights.usual_share * machine.peak_flops(problem.num_threads));
  return overlapped(compute, memory, weights.overlap);
}

} // namespace rafter::tune
