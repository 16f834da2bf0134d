// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/schedule/target.hpp>

namespace rafter::kernel {
struct TensorProgram;
} // namespace rafter::kernel

namespace rafter::schedule {

struct Key;
struct LoopProgram;
struct Schedule;
struct PlanningProblem;
class Plan;

namespace role {
/// The contributions of cells to a vector, by the number of the output vector, where a kernel does not add them there.
inline constexpr const char* cell_vector = "cell_vector";
} // namespace role

/// The order in memory of the numbers that set-up stores per point, and of matrices of cells (which have one point),
/// that the kernel that reads them asks for.
struct StoredOrder {
  int cells = 0; ///< cells side by side: shape (batch, part of so many cells, point, slot, cell); 0: all of a batch
  bool is_by_slot = false; ///< instead: shape (cell, slot, point), and room for the lanes behind the last point
  bool operator==(const StoredOrder&) const = default;
};

/// The input of a mapping: a tensor program, and the order of what it stores.
struct LoweringInput {
  const kernel::TensorProgram* program = nullptr;
  StoredOrder stored;
  Target target;
};

/// A mapping says how a tensor program runs for one plan.
struct Mapping {
  std::string name;
  std::string description;
  /// The schedule of a program, or nothing where the mapping declines it.
  std::optional<Schedule> (*schedule)(const LoweringInput& input, const Plan& plan) = nullptr;
  std::span<const Key* const> keys; ///< those of its plans beside what all plans have
  /// Says whether the planner may choose it on a target with its axes. Null: it may.
  bool (*is_tried)(const PlanningProblem& problem, const Plan& plan) = nullptr;
  bool stores_by_slot = false;      ///< order of the stored numbers that its kernels read (StoredOrder)
  bool has_items = false;           ///< cells or points stand in the items of groups, not in lanes
  bool has_points_in_items = false; ///< points do, those of a cell across several items
  bool has_axes(const Target& target) const { return has_items ? target.has_groups : target.has_lanes; }
};

/// The values of dense matrices as kernels of a plan take them (role::matrix), by number of the matrix: block after
/// block, group after group of rows, column after column, the rows of the group side by side. With the first matrix of
/// a family stand all others. Empty when they stand in the text.
std::vector<std::vector<double>> packed_tables(const kernel::TensorProgram& program, const Plan& plan);

/// Programs for cell matrices write those of batch b into record b % num_records of their output, shape (record, entry,
/// cell of the batch), so that they can be taken from the nearest caches. Entries are those of one pair of fields after
/// the other, as the tensor program scatters them.
std::int64_t num_matrix_entries(const kernel::TensorProgram& program);
int num_matrix_records(std::int64_t num_entries, int cells_per_batch);

/// The registry.
std::span<const Mapping> mappings();
/// All that plans may name: the registry, and behind it "assembled", by which no tensor program is lowered.
std::span<const Mapping> named_mappings();
/// Throws InternalError where there is none of this name.
const Mapping& mapping_named(std::string_view name);
std::vector<std::string> mapping_names();
/// Names of those that a target has the axes for, the usual one first.
std::vector<std::string> mapping_names(const Target& target);
/// The plan whose values the keys have that a text for this target leaves out: the first of these mappings, and where
/// it has items, as many lanes as these compute at a time. Items with lanes are threads of a processor, which the
/// chunks of a stage keep busy, so that they add as a host does.
Plan usual_plan(const Target& target);
/// Says whether the target has the axes of the plan's mapping.
bool runs_on(const Plan& plan, const Target& target);
/// Throws InputError, which names the mappings that there are, where the plan asks for one that the target has not the
/// axes for. `device` is the name of the device in the message.
void require_mapping(const Plan& plan, const Target& target, const std::string& device);

/// A mapping, and its schedule of a program.
struct Choice {
  const Mapping* mapping = nullptr;
  std::shared_ptr<const Schedule> schedule;
};
/// The plan's mapping, or the first one that has a schedule when it declines ("plain" declines nothing on targets with
/// lanes, nor "cell_per_item" on others). It does not depend on the order of stored data.
Choice choose_mapping(const LoweringInput& input, const Plan& plan);

/// Says whether the kernels of a plan run in groups of items: without lanes each item holds a cell, or points of one
/// (Mapping::has_points_in_items), with lanes as many as these at a time.
bool has_items(const Plan& plan);
/// Says whether a plan has lanes, of a host or of an item, or loops over what could stand there.
bool may_have_lanes(const Plan& plan);
/// Says whether cells stand in SIMD lanes, of a host or of an item.
bool has_cell_lanes(const Plan& plan);
/// Returns the order in which kernels of a lowered plan read stored numbers.
StoredOrder stored_order(const Plan& plan);
/// How kernels add what cells contribute to vectors.
enum class Way : std::uint8_t {
  first_touch, ///< what a batch is the first to touch, in a run that starts a vector, is stored; all else is added
  in_turn,     ///< added by the cells of a batch one after the other, to vectors that are cleared before
  atomic,      ///< added by atomic operations, to vectors that are cleared before
  /// Stored in a vector of its own for each output, role::cell_vector, shape (batch, component, dof, cell of the
  /// batch).
  cell_vector
};
std::string_view name(Way way); ///< "first touch", "in turn", "atomic", "cell vector"
/// Returns the way in which the kernels of a lowered plan add. Cells of lists, those behind facets, never store what
/// they touch first.
Way way_of(const Plan& plan);
/// Says whether batches may run in any order, also at the same time, whatever unknowns they share.
inline bool may_run_in_any_order(Way way) { return way == Way::atomic || way == Way::cell_vector; }

/// Lowers by the choice, whose name the plan gets; verified. Throws InternalError where the sub-batches that the plan
/// takes at a time do not divide the cells of the batch.
LoopProgram lower(const LoweringInput& input, Plan& plan, const Choice& choice);
LoopProgram lower(const LoweringInput& input, Plan& plan); ///< by the plan's own choice

} // namespace rafter::schedule
