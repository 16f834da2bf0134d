// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/mapping_keys.hpp>

#include <algorithm>
#include <array>

#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>

namespace rafter::schedule {

std::string_view name(Indices indices) { return indices == Indices::dofs ? "dofs" : "runs"; }
std::string_view name(Gathers gathers) { return gathers == Gathers::scalar ? "scalar" : "vector"; }
std::string_view name(Stores stores) { return stores == Stores::streaming ? "streaming" : "cached"; }

namespace {

using Tried = std::vector<std::string>;

/// Says whether a plan has SIMD lanes; plans without do not use what these keys say.
bool has_lanes(const Plan& plan) { return plan[key::mapping].name != "plain" && may_have_lanes(plan); }

/// Twice as many for floats as for doubles, which fill the same registers.
int width_for(Precision compute, int of_doubles) {
  return of_doubles > 1 && compute == Precision::single_precision ? 2 * of_doubles : of_doubles;
}
int usual_lanes(const Plan& plan, const Plan& device) {
  if (!has_items(plan)) return width_for(plan[key::compute], key::vector_width.initial);
  return has_items(device) ? width_for(plan[key::compute], device[key::vector_width]) : 1;
}

/// There are as many lanes as a register holds; twice as many where the batch has them and a compiler that splits them
/// well is there, since instructions of two registers do not wait for each other; half as many, which halve the working
/// set, where the arrays of all points, a dozen and more, leave the second cache. Patches are gathered by plans of
/// their lanes alone.
Tried widths_tried(const PlanningProblem& problem, const Plan& plan) {
  const int usual = usual_width(problem.cells_per_batch, problem.register_width);
  if (!problem.target.has_lanes) return {problem.target.lanes_of_item > 1 ? std::to_string(usual) : "1"};
  const bool has_wide = std::ranges::find(problem.compilers, splitting_compiler) != problem.compilers.end();
  const auto is_apt = [&](int vector_width) { return has_wide || !is_split(problem, vector_width); };
  Tried result{std::to_string(usual)};
  if (!has_cell_lanes(plan)) return result;
  if (problem.patches_per_batch > 0) {
    if (usual != problem.patches_per_batch && is_apt(problem.patches_per_batch))
      result.push_back(std::to_string(problem.patches_per_batch));
    return result;
  }
  if (usual < problem.cells_per_batch && is_apt(2 * usual)) result.push_back(std::to_string(2 * usual));
  if (usual >= 4 && has_large_arrays(problem, usual)) result.push_back(std::to_string(usual / 2));
  return result;
}

/// Entries of dense tables may serve several registers if these hold fewer cells than a batch: those of long tables do,
/// which are loaded from the second cache.
Tried subbatches_tried(const PlanningProblem& problem, const Plan& plan) {
  constexpr int most = 4, long_table_dofs = 50;
  const bool is_dense = kernel::has_dense_products(plan[key::contraction]);
  const int in_batch = is_dense ? problem.cells_per_batch / plan[key::vector_width] : 1;
  Tried result;
  for (int subbatches = in_batch > 1 && problem.num_dofs >= long_table_dofs ? 2 : 1;
       subbatches <= std::min(most, in_batch); subbatches *= 2)
    result.push_back(std::to_string(subbatches));
  return result;
}

/// Runs save indices and loads where entities have several dofs and most batches see these in one order, as
/// quadrilaterals, hexahedra and sorted simplices do. Otherwise a list of dofs has the shorter text and way.
Tried indices_tried(const PlanningProblem& problem, const Plan&) {
  constexpr double most = 0.75;
  if (problem.is_tensor) return {"runs"};
  if (!problem.has_longer_runs || problem.whole_runs_share < most) return {"dofs"};
  return {"runs", "dofs"};
}

/// Most numbers of tensor cells move as runs, and both ways to load the others take the same time.
Tried gathers_tried(const PlanningProblem& problem, const Plan&) {
  return problem.is_tensor ? Tried{problem.gathers.front()} : problem.gathers;
}

/// A cached store to a vector from memory first reads what it overwrites: a fourth to a half of all traffic. Lines that
/// a kernel fills in parts leave the processor in parts, which takes twice as long as cached stores on one with 32-byte
/// registers.
Tried stores_tried(const PlanningProblem& problem, const Plan& plan) {
  constexpr int line_numbers = 8;
  const bool fills_lines = plan[key::vector_width] >= std::min(line_numbers, problem.cells_per_batch);
  return {problem.streams_outputs && fills_lines ? "streaming" : "cached"};
}

} // namespace

namespace key {

constexpr KeyOf<int> vector_width{{.name = "vector_width",
                                   .place = 40,
                                   .values = PowersOfTwo{16},
                                   .initial = 8,
                                   .usual = usual_lanes,
                                   .shared = 0.6,
                                   .tried = widths_tried}};
constexpr KeyOf<int> subbatches{
    {.name = "subbatches",
     .place = 70,
     .values = PowersOfTwo{8},
     .initial = 1,
     .shared = 0.8,
     .matters = [](const Plan& plan) { return kernel::has_dense_products(plan[contraction]); },
     .is_of = may_have_lanes,
     .tried = subbatches_tried}};
constexpr KeyOf<bool> patches{{.name = "patches",
                               .place = 90,
                               .values = Range{0, 1},
                               .initial = 1,
                               .matters = has_lanes,
                               .is_of = may_have_lanes}};
constexpr KeyOf<Indices> indices{{.name = "indices",
                                  .place = 100,
                                  .values = names_up_to<Indices::dofs>(),
                                  .shared = 0.8,
                                  .matters = has_lanes,
                                  .is_of = may_have_lanes,
                                  .tried = indices_tried}};
constexpr KeyOf<Gathers> gathers{{.name = "gathers",
                                  .place = 110,
                                  .values = names_up_to<Gathers::scalar>(),
                                  .shared = 0.6,
                                  .matters = has_lanes,
                                  .is_of = may_have_lanes,
                                  .tried = gathers_tried}};
constexpr KeyOf<bool> prefetch{
    {.name = "prefetch", .place = 130, .values = Range{0, 1}, .initial = 1, .matters = has_lanes}};
constexpr KeyOf<Stores> stores{{.name = "stores",
                                .place = 140,
                                .values = names_up_to<Stores::streaming>(),
                                .shared = 0.8,
                                .matters = has_lanes,
                                .tried = stores_tried}};

} // namespace key

std::span<const Key* const> keys_of_host() {
  static constexpr std::array<const Key*, 7> keys{&key::vector_width, &key::subbatches, &key::patches, &key::indices,
                                                  &key::gathers,      &key::prefetch,   &key::stores};
  return keys;
}

} // namespace rafter::schedule
