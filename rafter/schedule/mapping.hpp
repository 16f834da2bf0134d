// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <rafter/schedule/target.hpp>

namespace rafter::kernel {
struct ReferenceMatrix;
struct TensorProgram;
} // namespace rafter::kernel
namespace rafter::space {
struct ElementLayout;
}

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

/// The places of the unknowns of a kernel's fields in vectors.
struct VectorAccess {
  std::vector<const space::ElementLayout*> spaces; ///< distinct gather patterns
  std::vector<int> input_spaces;                   ///< pattern of each input field
  std::vector<int> output_spaces; ///< pattern of each output field; -1: cell matrices, which are not added
  int cells_per_batch = 8;        ///< cells of a batch, side by side in the data
  /// Number of patches in a batch of these cells; 0 where cells are gathered one by one.
  int patches_per_batch(const space::ElementLayout& layout) const;
};
inline auto members(const VectorAccess& value) {
  const auto& [spaces, input_spaces, output_spaces, cells_per_batch] = value;
  return std::tie(spaces, input_spaces, output_spaces, cells_per_batch);
}

/// The order of the data that set-up stores per point.
enum class StoredOrder : std::uint8_t {
  by_batch, ///< shape (batch, sub-batch of LoweringInput::interleave cells, point, slot, cell of the sub-batch)
  by_cell   ///< shape (cell, slot, point), and room for the lanes behind the last point
};

/// The input of a mapping: a tensor program and the places of its fields in vectors.
struct LoweringInput {
  const kernel::TensorProgram* program = nullptr;
  VectorAccess access;
  std::vector<int> input_vectors, output_vectors; ///< number of the vector of each input and output field
  int num_trial_vectors = 0;                      ///< input vectors of lower numbers hold trial functions
  StoredOrder stored_order =
      StoredOrder::by_batch; ///< memory layout of the stored point data, fixed by the kernel that reads them
  int interleave = 0; ///< cells side by side in the stored point data, fixed by the kernel that reads them; 0: a batch
  /// Cells are those of lists (space::ListDofs), as those behind facets are: kernels read interior starts and strides
  /// per lane, and always add.
  bool has_lists = false;
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
  StoredOrder stored_order = StoredOrder::by_batch; ///< order that its kernels read
  bool has_items = false;                           ///< cells or points stand in the items of groups, not in lanes
  bool has_points_in_items = false;                 ///< points do, those of a cell across several items
  bool has_axes(const Target& target) const { return has_items ? target.has_groups : target.has_lanes; }
};

/// The values of a dense matrix as kernels of a plan take them (role::matrix): block after block, group after group of
/// rows, column after column, the rows of the group side by side. Empty when they stand in the text.
std::vector<double> packed_table(const kernel::ReferenceMatrix& matrix, const Plan& plan);

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
/// Says whether kernels of a lowered plan store what they are the first to touch in a run that starts a vector. Other
/// kernels always add, to vectors that are cleared before.
bool stores_first_touched(const Plan& plan);
/// Says whether batches of such a kernel may run in any order, also at the same time, whatever unknowns they share.
bool may_run_in_any_order(const Plan& plan);
/// Says whether such a kernel stores what cells contribute to each output in a vector of its own instead of adding it:
/// role::cell_vector, shape (batch, component, dof, cell of the batch).
bool has_cell_vectors(const Plan& plan);

/// Lowers by the choice, whose name the plan gets; verified. Throws InternalError where the sub-batches that the plan
/// takes at a time do not divide the cells of the batch.
LoopProgram lower(const LoweringInput& input, Plan& plan, const Choice& choice);
LoopProgram lower(const LoweringInput& input, Plan& plan); ///< by the plan's own choice

} // namespace rafter::schedule
