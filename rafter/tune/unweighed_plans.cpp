// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/unweighed_plans.hpp>

#include <algorithm>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/tune/candidates.hpp>
#include <rafter/tune/cost_model.hpp>
#include <rafter/tune/decision.hpp>
#include <rafter/tune/features.hpp>

namespace rafter::tune {
namespace {

namespace key = schedule::key;

/// Counts what a slice of rows of mean length executes and moves.
Features slice_features(double length, int block, const schedule::Plan& plan) {
  const double entries = block * block, vector_width = plan[key::vector_width];
  Features f;
  f.operations = length * entries * vector_width;
  f.flops = 2 * f.operations;
  f.arithmetic = length * entries;
  f.loads = length * (entries + 1); // entries and column numbers
  if (plan[key::gathers] == schedule::Gathers::scalar)
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
  result.set(key::factors, factors);
  if (given) {
    for (const auto* precision : {&key::storage, &key::compute, &key::accumulate})
      result.set(*precision, (*given)[*precision]);
    result.set(key::scatter, (*given)[key::scatter]);
  }
  if (schedule::may_have_lanes(result))
    result.set(key::vector_width,
               schedule::usual_width(cells_per_batch, width_of(result, register_width, target), result[key::compute]));
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
  auto result = plan_usual(schedule::Plan()[key::factors], cells_per_batch, register_width, target, &of_numbers);
  if (schedule::may_have_lanes(result)) {
    // Floats take as many lanes as doubles: batches are made for those.
    const int usual = schedule::usual_width(cells_per_batch, width_of(result, register_width, target));
    result.set(key::vector_width, usual);
    if (target.has_lanes) {
      schedule::set(result, "gathers", planner.ways_to_gather().front());
      result.set(key::prefetch, false); // what cells own follows each other, and processors fetch that by themselves
      // Eight lanes are the patches of a batch; those of wider ones were not measured.
      constexpr int most_lanes = 8;
      const int split = schedule::usual_width(cells_per_batch, std::min(2 * register_width, most_lanes));
      if (split > usual && has(compilers.names, schedule::splitting_compiler)) {
        result.set(key::compiler, schedule::splitting_compiler);
        result.set(key::vector_width, split);
      }
    }
  }
  // The texts of cells with children are long, and what -O3 does to their loops takes several times as long to compile.
  if (has(compilers.flag_sets, "O2")) result.set(key::flags, "O2");
  return schedule::without_unused_keys(result);
}

Decision plan_product(const schedule::Plan& cells, const schedule::Plan* given, const Planner& planner,
                      schedule::Precision precision) {
  Decision result;
  result.plan = cells;
  if (given) {
    result.plan.set(key::vector_width, (*given)[key::vector_width]);
    result.plan.set(key::storage, (*given)[key::storage]);
    result.plan.set(key::gathers, (*given)[key::gathers]);
  } else {
    schedule::set(result.plan, "gathers", planner.ways_to_gather().front());
    result.plan.set(key::storage, precision).set(key::accumulate, precision);
  }
  // The flags of the cells are for kernels that run a few times, while the product runs in every application.
  result.plan.set(key::flags, given ? (*given)[key::flags] : schedule::Plan()[key::flags]);
  result.plan.set(key::mapping, schedule::mapping_named(schedule::assembled_mapping));
  result.plan.set(key::vector_width, schedule::slice_height(result.plan));
  result.origin = given ? Origin::given : Origin::predicted;
  return result;
}

double predict_product(const ProductProblem& problem, const Planner& planner) {
  schedule::Plan plan;
  plan.set(key::vector_width, schedule::usual_width(problem.cells_per_batch, planner.register_width()));
  schedule::set(plan, "gathers", planner.ways_to_gather().front());
  schedule::PlanningProblem slices;
  slices.cells_per_batch = plan[key::vector_width];
  slices.num_batches = problem.num_rows / (problem.block * plan[key::vector_width]);
  slices.num_threads = problem.num_threads;
  slices.input_bytes = slices.output_bytes = 8.0 * problem.block * plan[key::vector_width];
  const auto features = slice_features(problem.num_entries / problem.num_rows / problem.block, problem.block, plan);
  return predict(features, slices, planner.options().machine, planner.options().weights).seconds;
}

} // namespace rafter::tune
