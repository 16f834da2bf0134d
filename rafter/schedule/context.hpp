// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/space/layout.hpp>

/// The program that a mapping builds.
namespace rafter::schedule {

using Statements = std::vector<NodePtr>;

/// Entries of a vector that the next batch is the first to use.
struct Stream {
  std::string vector;
  NodePtr begin, end;            ///< the first of them, and that behind the last one
  std::int64_t num_entries = -1; ///< -1: known at run time only
  int space = -1;                ///< space whose distant lines (space::DistantLines) the next batch uses, too; -1: none
};

/// Numbers of cells in a buffer, cell after cell, that the items of a group copy to shared memory together.
struct StagedNumbers {
  std::string role, name; ///< role of the buffer, and name of the shared one
  int count = 0;          ///< numbers of a cell that are copied, the first ones
  NodePtr stride;         ///< distance between cells
};

/// Cells or points that stand side by side, and where they stand.
enum class ParallelAxis : std::uint8_t {
  none,  ///< nothing: scalars, cells one after the other
  item,  ///< cells of a batch, across the items of a group
  cell,  ///< cells of a sub-batch, across SIMD lanes
  point, ///< points along the first axis of the grid, across SIMD lanes; the cells of a sub-batch one after the other
};

/// The variable that holds the number of an item in its group, where cells stand in items and these share memory.
inline constexpr const char* own_item = "own_item";

/// The program being built: names, buffers and the meaning of "lane".
class Context {
public:
  /// The schedule says where cells stand, and how many sub-batches a pass takes.
  Context(const LoweringInput& input, const Plan& plan, const Schedule& schedule);

  const LoweringInput& input;
  const kernel::TensorProgram& program;
  const Plan& plan;
  ParallelAxis parallel_axis;            ///< axis of the statements that are made now
  const Way way;                         ///< how results are added to vectors
  const int subbatches;                  ///< sub-batches that work arrays hold side by side
  NodePtr subbatch_of_pass = integer(0); ///< the one of them that the statements made now are for
  LoopProgram result;
  std::vector<Stream> streams;                    ///< streams that gather and scatter come to next
  Statements before_subbatches, after_subbatches; ///< statements of a batch, around the loop over its sub-batches
  std::vector<StagedNumbers> staged;              ///< what is copied before the statements of a batch

  int cells_per_batch() const { return program.batches.cells_per_batch; }
  bool has_lists() const { return program.batches.has_lists; }
  const space::ElementLayout& pattern(int number) const { return program.batches.pattern(number); }
  /// The vector of an input or output field, the one that is read, or written.
  std::string vector_of(const kernel::Access& access) {
    const bool is_written = access.kind == kernel::AccessKind::output;
    return global(is_written ? role::output_vector : role::input_vector, program.field_of(access).vector, Type::real,
                  is_written);
  }
  bool in_groups() const { return schedule::has_items(plan); }
  bool has_lanes() const { return has_cell_lanes() || has_point_lanes(); }
  bool has_items() const { return parallel_axis == ParallelAxis::item; }
  bool has_cell_lanes() const { return parallel_axis == ParallelAxis::cell; }
  bool has_point_lanes() const { return parallel_axis == ParallelAxis::point; }
  /// Sub-batches of a batch.
  int num_subbatches() const { return has_lanes() ? cells_per_batch() / plan[key::vector_width] : 1; }
  /// Turns that they take.
  int num_passes() const { return num_subbatches() / subbatches; }
  /// Number of the pass: the variable of the loop over them.
  NodePtr pass() const { return num_passes() > 1 ? variable("pass") : integer(0); }
  NodePtr subbatch() const { return iadd(imul(pass(), integer(subbatches)), subbatch_of_pass); } ///< its number
  /// start + cell of the batch: the hardware lane of the sub-batch, the item, or the variable of a loop over cells.
  NodePtr at_cell(NodePtr start) const {
    return iadd(iadd(std::move(start), imul(subbatch(), integer(plan[key::vector_width]))), has_cell_lanes() ? lane()
                                                                                            : has_items()
                                                                                                ? item(0)
                                                                                                : variable("cell"));
  }
  /// Indices along an axis of the program: numbers, or vectors of points that stand in lanes.
  int num_indices(int axis) const {
    const int lanes = has_point_lanes() && program.axis(axis).direction == 0 ? plan[key::vector_width] : 1;
    return (program.extent(axis) + lanes - 1) / lanes;
  }
  /// Returns the product of the numbers of indices along some axes.
  int product_of_indices(const std::vector<int>& axes) const {
    int product = 1;
    for (const int axis : axes) product *= num_indices(axis);
    return product;
  }
  /// start + place in the lanes, where points stand there.
  NodePtr at_point(NodePtr start) const { return has_point_lanes() ? iadd(std::move(start), lane()) : start; }
  /// Element of a global array with one entry per cell of a batch: entry * cells + cell, as whole registers.
  NodePtr cell_entry(NodePtr entry) const {
    if (!has_cell_lanes()) return at_cell(imul(std::move(entry), integer(cells_per_batch())));
    return iadd(first_of_subbatch(std::move(entry)), lane());
  }
  /// The first lane of such an element, with cells in lanes.
  NodePtr first_of_subbatch(NodePtr entry) const {
    return imul(iadd(imul(std::move(entry), integer(num_subbatches())), subbatch()), integer(plan[key::vector_width]));
  }
  /// Element of what set-up stores, in the order that the reading kernel asks for (StoredOrder::cells). A cell has
  /// `count` groups of `size` numbers; the element is the first of the cells that are computed at a time, of this
  /// number of the group.
  NodePtr first_stored(int count, NodePtr group, int size, NodePtr number);
  /// Element of a work array.
  NodePtr work_entry(NodePtr entry) const {
    if (!has_lanes()) return entry;
    return iadd(
        imul(iadd(imul(std::move(entry), integer(subbatches)), subbatch_of_pass), integer(plan[key::vector_width])),
        lane());
  }
  NodePtr batch() const { return variable(in_groups() ? "own_batch" : "batch"); } ///< batch of the cell
  NodePtr next_batch() const { return imin(iadd(batch(), integer(1)), variable("last_batch")); }
  /// Row of the batch in the data per cell: batches of equal cells share one.
  NodePtr data_row() {
    reads_data_ = true;
    return variable("row");
  }
  /// Entry of what has so many numbers for each facet: that of the facet of the batch. The same for cells.
  NodePtr facet_entry(NodePtr entry, std::int64_t numbers) {
    if (program.facet_axis < 0) return entry;
    reads_facet_ = true;
    return iadd(imul(variable("facet"), integer(numbers)), std::move(entry));
  }
  /// The row of the next batch in an array of so many numbers per cell, as a stream.
  void announce_row(const std::string& role, int numbers);
  /// The body of the program, the row and the facet named before it.
  Statements with_numbers_of_batch(Statements body);

  /// The type of work arrays and of computed values.
  Type type() const { return plan[key::compute] == Precision::double_precision ? Type::real : Type::real32; }
  NodePtr number(double value) const { return schedule::number(value, type()); }
  NodePtr load(const std::string& array, NodePtr index) const { ///< loads from a work array
    return schedule::load(array, std::move(index), type());
  }
  /// Loads from any buffer of reals, converted to the type of computed values.
  NodePtr fetch(const std::string& buffer, NodePtr index) const;
  /// Loads a number of the cell, as fetch() does, which stands in the buffer of a role where the plan says so
  /// (key::read, key::workspace). `place` returns its place for the number of a cell where cells with `stride` numbers
  /// each follow each other; the first `count` of these numbers are those that the program reads.
  NodePtr fetch_of_cell(const std::string& role, int count, const NodePtr& stride,
                        const std::function<NodePtr(const NodePtr& cell)>& place);
  /// Converts a computed value to the type of the buffer.
  NodePtr fitting(const std::string& buffer, NodePtr value) const;

  /// Declares on first use, reals with the type that the plan gives them; the name.
  std::string global(const std::string& role, int index = 0, Type type = Type::real, bool is_written = false);
  std::string integers(const std::string& prefix, const std::vector<int>& values);
  std::string reals(const std::string& prefix, const std::vector<double>& values);
  /// Numbers that are used as whole vectors.
  std::string vectors(const std::string& prefix, const std::vector<double>& values);
  std::string work(const std::string& name, std::int64_t entries);
  std::string fresh(const std::string& prefix) { return prefix + std::to_string(next_name_++); }
  NodePtr define(Statements& to, const std::string& prefix, NodePtr value);         ///< let; its register
  NodePtr define_integer(Statements& to, const std::string& prefix, NodePtr value); ///< ilet; its variable

  /// Says whether cells of this layout are gathered by patches, one of their children in each sub-batch.
  bool has_patches(const space::ElementLayout& layout) const {
    return layout.patch != nullptr && plan[key::patches] && has_cell_lanes() && subbatches == 1 && !has_lists() &&
           num_subbatches() == static_cast<int>(layout.patch->corners.size());
  }
  /// Says whether cells find their dofs by an index of each.
  bool has_dof_lists() const { return plan[key::indices] == Indices::dofs && has_cell_lanes() && !has_lists(); }
  /// Element of a global array with one entry per patch of a batch.
  NodePtr patch_entry(NodePtr entry) const {
    return iadd(imul(std::move(entry), integer(plan[key::vector_width])), lane());
  }

  /// Number of cells of the batch (iload).
  NodePtr num_active() { return iload(global(role::num_active, 0, Type::integer), batch()); }
  /// Number of lanes of the sub-batch that hold a cell (none: 0 or less).
  NodePtr active_lanes() {
    if (num_subbatches() == 1) return num_active();
    return imin(isub(num_active(), imul(subbatch(), integer(plan[key::vector_width]))),
                integer(plan[key::vector_width]));
  }

private:
  NodePtr place_of_cell(const std::function<NodePtr(const NodePtr& cell)>& place);
  std::string constant(const std::string& prefix, Type type, const std::vector<double>& values, bool is_lane = false);
  Type type_of(const std::string& role, int index) const; ///< type of a buffer of reals
  int next_name_ = 0;
  bool reads_data_ = false, reads_facet_ = false;
};

/// Work array of a tensor-program array.
std::string array_name(const kernel::TensorProgram& program, int array);

} // namespace rafter::schedule
