// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/candidates.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <rafter/base/text.hpp>
#include <rafter/kernel/contraction.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/precision.hpp>

namespace rafter::tune {

namespace {

using schedule::Plan;
using Values = std::vector<std::string>;

/// Factorised contractions need a grid of points. Dense ones do more operations from the lowest degrees on: they may
/// win while a table fits the nearest cache with room to spare.
Values contractions(const PlanningProblem& problem, const Plan&) {
  if (!problem.is_tensor) return problem.has_modes ? Values{"modal", "dense"} : Values{"dense"};
  constexpr int largest_table = 1024;
  Values result{"collocated", "per-derivative"};
  if (problem.is_separable) result.emplace_back("separable");
  if (problem.num_dofs * problem.num_points <= largest_table) result.emplace_back("dense");
  return result;
}

Values factor_storages(const PlanningProblem& problem, const Plan&) {
  Values result;
  for (const auto factors : problem.factor_storages) result.emplace_back(kernel::name(factors));
  return result;
}

/// Arrays of all points, a dozen and more, that leave the second cache.
bool has_large_arrays(const PlanningProblem& problem, int vector_width) {
  constexpr double large_bytes = 128 << 10;
  return 8.0 * problem.num_points * vector_width >= large_bytes;
}

/// Points in lanes do more operations on an eighth of the arrays: where those are large, on grids whose lines fill
/// registers to three quarters.
bool may_have_point_lanes(const PlanningProblem& problem, const Plan& plan) {
  const int vector_width = usual_width(problem.cells_per_batch, problem.register_width),
            points = problem.points_per_axis;
  const bool has_grid = problem.is_tensor && problem.num_points > points && problem.output_bytes > 0;
  const bool fills = 4 * points >= 3 * vector_width * ((points + vector_width - 1) / vector_width);
  return has_grid && plan.contraction == kernel::Contraction::collocated && has_large_arrays(problem, vector_width) &&
         fills;
}

/// Targets with lanes take items when they are asked for, since only interpreters have both. "plain" computes one cell
/// after the other: the way out of the other mappings, never ahead of them.
Values mappings(const PlanningProblem& problem, const Plan& plan) {
  if (!problem.target.has_lanes) return schedule::mapping_names(problem.target);
  if (problem.cells_per_batch == 1) return {"plain"};
  auto result = schedule::mapping_names({.has_lanes = true, .has_groups = false});
  std::erase(result, "plain");
  if (!may_have_point_lanes(problem, plan)) std::erase(result, "simd_points");
  return result;
}

/// Processors whose registers hold 4 doubles (AVX2) have 16 of them, most others have 32.
bool has_few_registers(const PlanningProblem& problem) { return problem.register_width == 4; }

/// More lanes than a register holds. clang keeps the parts of such vectors in registers, while gcc passes them through
/// memory and takes up to five times as long.
bool is_split(const PlanningProblem& problem, int vector_width) {
  return vector_width > usual_width(problem.cells_per_batch, problem.register_width);
}

/// There are as many lanes as a register holds; twice as many where the batch has them and a compiler that splits them
/// well is there, since instructions of two registers do not wait for each other; half as many, which halve the working
/// set, where the arrays of all points, a dozen and more, leave the second cache. Patches are gathered by plans of
/// their lanes alone.
Values vector_widths(const PlanningProblem& problem, const Plan& plan) {
  const int usual = usual_width(problem.cells_per_batch, problem.register_width);
  if (!problem.target.has_lanes) return {problem.target.lanes_of_item > 1 ? std::to_string(usual) : "1"};
  const bool has_wide = std::ranges::find(problem.compilers, splitting_compiler) != problem.compilers.end();
  const auto is_apt = [&](int vector_width) { return has_wide || !is_split(problem, vector_width); };
  Values result{std::to_string(usual)};
  if (plan.mapping == "plain" || plan.mapping == "simd_points") return result;
  if (problem.patches_per_batch > 0) {
    if (usual != problem.patches_per_batch && is_apt(problem.patches_per_batch))
      result.push_back(std::to_string(problem.patches_per_batch));
    return result;
  }
  if (usual < problem.cells_per_batch && is_apt(2 * usual)) result.push_back(std::to_string(2 * usual));
  if (usual >= 4 && has_large_arrays(problem, usual)) result.push_back(std::to_string(usual / 2));
  return result;
}

/// Thresholds that differ in what they do to matrices with nodes or points as columns: at the usual 4, everywhere (2),
/// nowhere (0).
Values even_odd(const PlanningProblem& problem, const Plan& plan) {
  if (!problem.is_tensor || plan.contraction == kernel::Contraction::dense) return {"4"};
  const auto [least, most] = std::minmax(problem.nodes_per_axis, problem.points_per_axis);
  Values result{"4"};
  if (least < 4) result.emplace_back("2");
  if (most >= 4) result.emplace_back("0");
  return result;
}

/// Entries of dense tables may serve several registers if these hold fewer cells than a batch: those of long tables do,
/// which are loaded from the second cache.
Values subbatches(const PlanningProblem& problem, const Plan& plan) {
  constexpr int most = 4, long_table_dofs = 50;
  if (!schedule::may_have_lanes(plan)) return {"1"};
  const int in_batch = kernel::has_dense_products(plan.contraction) ? problem.cells_per_batch / plan.vector_width : 1;
  Values result;
  for (int subbatches = in_batch > 1 && problem.num_dofs >= long_table_dofs ? 2 : 1;
       subbatches <= std::min(most, in_batch); subbatches *= 2)
    result.push_back(std::to_string(subbatches));
  return result;
}

/// Dense products: few sums leave registers for the entries, many save loads of the vector. Groups share them.
Values rows(const PlanningProblem& problem, const Plan& plan) {
  constexpr int wide_registers = 8; // processors with as many have 32 registers
  if (problem.is_tensor) return {"16"};
  if (has_few_registers(problem)) return {"8"};
  return plan.subbatches > 1 && problem.register_width >= wide_registers ? Values{"24", "16"} : Values{"16", "8"};
}

/// Dense tables in the text or in memory.
Values unroll(const PlanningProblem& problem, const Plan&) {
  return problem.is_tensor ? Values{"256"} : Values{"256", "0"};
}

/// Runs save indices and loads where entities have several dofs and most batches see these in one order, as
/// quadrilaterals, hexahedra and sorted simplices do. Otherwise a list of dofs has the shorter text and way.
Values indices(const PlanningProblem& problem, const Plan& plan) {
  constexpr double most = 0.75;
  if (problem.is_tensor || !schedule::may_have_lanes(plan)) return {"runs"};
  if (!problem.has_longer_runs || problem.whole_runs_share < most) return {"dofs"};
  return {"runs", "dofs"};
}
/// Most numbers of tensor cells move as runs, and both ways to load the others take the same time.
Values gathers(const PlanningProblem& problem, const Plan& plan) {
  if (!schedule::may_have_lanes(plan)) return {"vector"};
  return problem.is_tensor ? Values{problem.gathers.front()} : problem.gathers;
}

/// The cost model does not know whether additions of a device are worth a second pass.
Values scatters(const PlanningProblem& problem, const Plan& plan) {
  return {plan.mapping == "cell_per_item" ? problem.scatter : "atomic"};
}

/// A cached store to a vector from memory first reads what it overwrites: a fourth to a half of all traffic. Lines that
/// a kernel fills in parts leave the processor in parts, which takes twice as long as cached stores on one with 32-byte
/// registers.
Values stores(const PlanningProblem& problem, const Plan& plan) {
  constexpr int line_numbers = 8;
  if (!problem.target.has_lanes) return {"cached"};
  const bool fills_lines = plan.vector_width >= std::min(line_numbers, problem.cells_per_batch);
  return {problem.streams_outputs && fills_lines ? "streaming" : "cached"};
}

/// Few registers: of vectors that fill one, clang made nothing faster than gcc in any recorded sweep, and dense
/// products slower by up to a half.
Values compilers(const PlanningProblem& problem, const Plan& plan) {
  if (!problem.target.has_lanes) return problem.compilers;
  if (is_split(problem, plan.vector_width)) return {splitting_compiler};
  return has_few_registers(problem) ? Values{problem.compilers.front()} : problem.compilers;
}
/// Large kernels: -O2 is as fast and compiles in half the time; small ones lose a tenth.
Values flag_sets(const PlanningProblem& problem, const Plan&) {
  constexpr int many_points = 216;
  Values result{problem.flag_sets.front()};
  const bool has_o2 = std::ranges::find(problem.flag_sets, "O2") != problem.flag_sets.end();
  if (problem.is_tensor && problem.num_points >= many_points && has_o2) result.emplace_back("O2");
  return result;
}

constexpr std::array table{Axis{"contraction", 0.4, contractions},
                           Axis{"factors", 0.6, factor_storages},
                           Axis{"mapping", 0.4, mappings},
                           Axis{"vector_width", 0.6, vector_widths},
                           Axis{"even_odd", 0.8, even_odd},
                           Axis{"subbatches", 0.8, subbatches},
                           Axis{"rows", 0.8, rows},
                           Axis{"unroll", 0.8, unroll},
                           Axis{"indices", 0.8, indices},
                           Axis{"gathers", 0.6, gathers},
                           Axis{"scatter", 0.6, scatters},
                           Axis{"stores", 0.8, stores},
                           Axis{"compiler", 0.8, compilers},
                           Axis{"flags", 0.8, flag_sets}};

} // namespace

int usual_width(int cells_per_batch, int register_width, schedule::Precision compute) {
  const int per_double = compute == schedule::Precision::single_precision ? 2 : 1;
  return std::min(cells_per_batch, std::max(per_double * register_width, 2));
}

std::span<const Axis> axes() { return table; }

std::vector<Plan> candidates(const PlanningProblem& problem) {
  std::vector<Plan> plans{Plan()};
  for (const auto& axis : axes()) {
    std::vector<Plan> longer;
    for (const auto& plan : plans)
      for (const auto& value : axis.values(problem, plan)) {
        longer.push_back(plan);
        schedule::set(longer.back(), std::string(axis.key), value);
      }
    plans = std::move(longer);
  }
  return plans;
}

namespace {

/// The values of the keys that a plan has; others do not concern it.
std::map<std::string, std::string> values_of(const Plan& plan) {
  std::map<std::string, std::string> result;
  for (const auto& word : base::split(schedule::to_string(plan), ' ')) {
    const auto equals = word.find('=');
    result.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return result;
}

} // namespace

double similarity(const Plan& a, const Plan& b) {
  const auto left = values_of(a), right = values_of(b);
  double result = 1;
  for (const auto& [key, value] : left) {
    const auto other = right.find(key);
    if (other == right.end() || other->second == value) continue;
    const auto* axis = std::ranges::find(table, key, &Axis::key);
    result *= axis != table.end() ? axis->shared : 0;
  }
  return result;
}

} // namespace rafter::tune
