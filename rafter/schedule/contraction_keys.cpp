// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/contraction_keys.hpp>

#include <algorithm>
#include <array>

#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/schedule/point_loops.hpp>

namespace rafter::schedule {
namespace {

using Tried = std::vector<std::string>;

/// Thresholds that differ in what they do to matrices with nodes or points as columns: at the usual 4, everywhere (2),
/// nowhere (0).
Tried even_odd_tried(const PlanningProblem& problem, const Plan& plan) {
  using kernel::Contraction;
  const auto contraction = plan[key::contraction];
  if (!problem.is_tensor || contraction == Contraction::dense || contraction == Contraction::cell_matrices)
    return {"4"};
  const auto [least, most] = std::minmax(problem.nodes_per_axis, problem.points_per_axis);
  Tried result{"4"};
  if (least < 4) result.emplace_back("2");
  if (most >= 4) result.emplace_back("0");
  return result;
}

/// Dense products: few sums leave registers for the entries, many save loads of the vector. Groups share them.
Tried rows_tried(const PlanningProblem& problem, const Plan& plan) {
  constexpr int wide_registers = 8; // processors with as many have 32 registers
  if (problem.is_tensor || plan[key::contraction] == kernel::Contraction::cell_matrices) return {"16"};
  if (has_few_registers(problem)) return {"8"};
  return plan[key::subbatches] > 1 && problem.register_width >= wide_registers ? Tried{"24", "16"} : Tried{"16", "8"};
}

/// Dense tables in the text or in memory.
Tried unroll_tried(const PlanningProblem& problem, const Plan& plan) {
  const bool has_tables = !problem.is_tensor && plan[key::contraction] != kernel::Contraction::cell_matrices;
  return has_tables ? Tried{"256", "0"} : Tried{"256"};
}

} // namespace

namespace key {

constexpr KeyOf<int> even_odd{
    {.name = "even_odd", .place = 50, .values = Range{0, 64}, .initial = 4, .shared = 0.8, .tried = even_odd_tried}};
constexpr KeyOf<int> rows{{.name = "rows",
                           .place = 60,
                           .turn = 75, // behind subbatches
                           .values = Range{1, 28},
                           .initial = 16,
                           .shared = 0.8,
                           .tried = rows_tried}};
constexpr KeyOf<int> unroll{
    {.name = "unroll", .place = 80, .values = Range{0, 4096}, .initial = 256, .shared = 0.8, .tried = unroll_tried}};

} // namespace key

std::span<const ContractionKeys> contraction_keys() {
  using kernel::Contraction;
  static constexpr std::array<const Key*, 1> of_lines{&key::even_odd};
  static constexpr std::array<const Key*, 2> of_dense_products{&key::rows, &key::unroll};
  static constexpr std::array<const Key*, 2> of_points{&key::order, &key::derivatives};
  static constexpr std::array table{
      ContractionKeys{Contraction::dense, of_dense_products}, ContractionKeys{Contraction::modal, of_dense_products},
      ContractionKeys{Contraction::per_derivative, of_lines}, ContractionKeys{Contraction::collocated, of_lines},
      ContractionKeys{Contraction::separable, of_lines},      ContractionKeys{Contraction::pointwise, of_points},
      ContractionKeys{Contraction::cell_matrices, of_points}, ContractionKeys{Contraction::slice_wise, of_lines}};
  static_assert(table.size() == static_cast<std::size_t>(kernel::last_contraction) + 1);
  return table;
}

} // namespace rafter::schedule
