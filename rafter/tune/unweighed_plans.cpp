// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/unweighed_plans.hpp>

#include <algorithm>

#include <rafter/schedule/matrix_product.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/tune/candidates.hpp>
#include <rafter/tune/cost_model.hpp>
#include <rafter/tune/decision.hpp>
#include <rafter/tune/features.hpp>

namespace rafter::tune {
namespace {

/// Counts what a slice of rows of mean length executes and moves.
Features slice_features(double length, int block, const schedule::Plan& plan) {
  const double entries = block * block, vector_width = plan.vector_width;
  Features f;
  f.operations = length * entries * vector_width;
  f.flops = 2 * f.operations;
  f.arithmetic = length * entries;
  f.loads = length * (entries + 1); // entries and column numbers
  if (plan.gathers_by_lane)
    f.lane_loads = length * block * vector_width;
  else
    f.gathers = length * block;
  f.iterations = length;
  f.stores = block;
  f.vector_width = vector_width;
  f.data_bytes = vector_width * (length * (8 * entries + 4) + 4) + 4;
  f.vector_bytes = 16 * vector_width * block;
  return f;
}

/// Doubles in a register of the host, or that an item computes at a time, whatever a record of its device says.
int width_of(const schedule::Plan& plan, int register_width, const schedule::Target& target) {
  return schedule::has_items(plan) ? target.lanes_of_item : register_width;
}

} // namespace

schedule::Plan plan_usual(kernel::FactorStorage factors, int cells_per_batch, int register_width,
                          const schedule::Target& target, const schedule::Plan* given) {
  auto result = schedule::usual_plan(target);
  result.factors = factors;
  if (given) {
    result.storage = given->storage;
    result.compute = given->compute;
    result.accumulate = given->accumulate;
    result.scatter = given->scatter;
  }
  if (schedule::may_have_lanes(result))
    result.vector_width = usual_width(cells_per_batch, width_of(result, register_width, target), result.compute);
  return schedule::without_unused_keys(result);
}

schedule::Plan plan_transfer(int cells_per_batch, const Planner& planner, const schedule::Target& target,
                             const Compilers& compilers, schedule::Precision precision) {
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::ranges::find(names, name) != names.end();
  };
  auto of_numbers = schedule::usual_plan(target);
  if (precision == schedule::Precision::single_precision) of_numbers = schedule::in_single(of_numbers);
  const int register_width = planner.register_width();
  auto result = plan_usual(schedule::Plan().factors, cells_per_batch, register_width, target, &of_numbers);
  if (schedule::may_have_lanes(result)) {
    // Floats take as many lanes as doubles: batches are made for those.
    const int usual = usual_width(cells_per_batch, width_of(result, register_width, target));
    result.vector_width = usual;
    if (target.has_lanes) {
      schedule::set(result, "gathers", planner.ways_to_gather().front());
      result.prefetch = false; // what cells own follows each other, and processors fetch that by themselves
      // Eight lanes are the patches of a batch; those of wider ones were not measured.
      constexpr int most_lanes = 8;
      const int split = usual_width(cells_per_batch, std::min(2 * register_width, most_lanes));
      if (split > usual && has(compilers.names, splitting_compiler)) {
        result.compiler = splitting_compiler;
        result.vector_width = split;
      }
    }
  }
  // The texts of cells with children are long, and what -O3 does to their loops takes several times as long to compile.
  if (has(compilers.flag_sets, "O2")) result.flags = "O2";
  return schedule::without_unused_keys(result);
}

Decision plan_product(const schedule::Plan& cells, const schedule::Plan* given, const Planner& planner,
                      schedule::Precision precision) {
  Decision result;
  result.plan = cells;
  if (given) {
    result.plan.vector_width = given->vector_width;
    result.plan.storage = given->storage;
    result.plan.gathers_by_lane = given->gathers_by_lane;
  } else {
    schedule::set(result.plan, "gathers", planner.ways_to_gather().front());
    result.plan.storage = result.plan.accumulate = precision;
  }
  // The flags of the cells are for kernels that run a few times, while the product runs in every application.
  result.plan.flags = given ? given->flags : schedule::Plan().flags;
  result.plan.mapping = schedule::assembled_mapping;
  result.plan.vector_width = schedule::slice_height(result.plan);
  result.origin = given ? Origin::given : Origin::predicted;
  return result;
}

double predict_product(const ProductProblem& problem, const Planner& planner) {
  schedule::Plan plan;
  plan.vector_width = usual_width(problem.cells_per_batch, planner.register_width());
  schedule::set(plan, "gathers", planner.ways_to_gather().front());
  PlanningProblem slices;
  slices.cells_per_batch = plan.vector_width;
  slices.num_batches = problem.num_rows / (problem.block * plan.vector_width);
  slices.num_threads = problem.num_threads;
  slices.input_bytes = slices.output_bytes = 8.0 * problem.block * plan.vector_width;
  const auto features = slice_features(problem.num_entries / problem.num_rows / problem.block, problem.block, plan);
  return predict(features, slices, planner.options().machine, planner.options().weights).seconds;
}

} // namespace rafter::tune
