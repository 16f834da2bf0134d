// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <rafter/schedule/mapping.hpp>

/// Parts that the mappings for cells share: access to vectors, contractions of lines, the point function. A batch holds
/// LoweringInput::lanes cells; a mapping binds them to a loop over cells, or groups of Plan::lanes of them, one group
/// after the other, to SIMD.
namespace rafter::schedule {

using Statements = std::vector<NodePtr>;

/// Entries begin .. end-1 of a vector, which the next batch is the first to use.
struct Stream {
  std::string vector;
  NodePtr begin, end;
};

/// What stands side by side in SIMD lanes.
enum class LaneAxis : std::uint8_t {
  none,  ///< nothing: scalars, cells one after the other
  cell,  ///< cells of a group
  point, ///< points along the first axis of the grid; the cells of a group one after the other
};

/// The program being built: names, buffers and the meaning of "lane".
class Context {
public:
  Context(const LoweringInput& input, const Plan& plan, LaneAxis lane_axis);

  const LoweringInput& input;
  const kernel::TensorProgram& program;
  const Plan& plan;
  LaneAxis lane_axis; ///< of the statements that are made now
  LoopProgram result;
  std::vector<Stream> streams; ///< that gather and scatter come to next

  bool has_cell_lanes() const { return lane_axis == LaneAxis::cell; }
  bool has_point_lanes() const { return lane_axis == LaneAxis::point; }
  /// Groups of lanes that a batch is run as.
  int num_groups() const { return lane_axis != LaneAxis::none ? input.lanes / plan.lanes : 1; }
  /// Number of the group: the variable of the loop over them.
  NodePtr group() const { return num_groups() > 1 ? variable("group") : integer(0); }
  /// start + cell of the batch: the hardware lane of the group, or the variable of a loop over cells.
  NodePtr at_cell(NodePtr start) const {
    return iadd(iadd(std::move(start), imul(group(), integer(plan.lanes))),
                has_cell_lanes() ? lane() : variable("cell"));
  }
  /// start + place in the lanes, where points stand there.
  NodePtr at_point(NodePtr start) const { return has_point_lanes() ? iadd(std::move(start), lane()) : start; }
  /// Element of a global array with one entry per cell of a batch: entry * cells + cell, as whole registers.
  NodePtr lane_entry(NodePtr entry) const {
    if (!has_cell_lanes()) return at_cell(imul(std::move(entry), integer(input.lanes)));
    return work_entry(iadd(imul(std::move(entry), integer(num_groups())), group()));
  }
  /// Element of a work array.
  NodePtr work_entry(NodePtr entry) const {
    return lane_axis != LaneAxis::none ? iadd(imul(std::move(entry), integer(plan.lanes)), lane()) : entry;
  }
  NodePtr batch() const { return variable("batch"); }
  /// Row of the batch in the data per cell: batches of equal cells share one.
  NodePtr data_row() {
    reads_data_ = true;
    return variable("row");
  }
  /// The body of the program, the row named before it.
  Statements with_data_row(Statements body);

  /// Of work arrays and of what is computed.
  Type type() const { return plan.compute == Precision::double_precision ? Type::real : Type::real32; }
  NodePtr number(double value) const { return schedule::number(value, type()); }
  NodePtr load(const std::string& array, NodePtr index) const { ///< of a work array
    return schedule::load(array, std::move(index), type());
  }
  /// What any buffer of reals holds, as what is computed with.
  NodePtr fetch(const std::string& buffer, NodePtr index) const;
  /// What was computed, as the buffer holds it.
  NodePtr fitting(const std::string& buffer, NodePtr value) const;

  /// Declares on first use, reals with the type that the plan gives them; the name.
  std::string global(Role role, int index = 0, Type type = Type::real, bool is_written = false);
  std::string integers(const std::string& prefix, const std::vector<int>& values);
  std::string reals(const std::string& prefix, const std::vector<double>& values);
  /// Numbers that are used as whole vectors.
  std::string vectors(const std::string& prefix, const std::vector<double>& values);
  std::string work(const std::string& name, std::int64_t entries);
  std::string fresh(const std::string& prefix) { return prefix + std::to_string(next_name_++); }
  NodePtr define(Statements& to, const std::string& prefix, NodePtr value);         ///< let; its register
  NodePtr define_integer(Statements& to, const std::string& prefix, NodePtr value); ///< ilet; its variable

  /// Number of cells of the batch (iload).
  NodePtr num_active() { return iload(global(Role::num_active, 0, Type::integer), batch()); }
  /// Number of lanes of the group that hold a cell (none: 0 or less).
  NodePtr active_lanes() {
    if (num_groups() == 1) return num_active();
    return imin(isub(num_active(), imul(group(), integer(plan.lanes))), integer(plan.lanes));
  }

private:
  std::string constant(const std::string& prefix, Type type, const std::vector<double>& values, bool is_lane = false);
  Type type_of(Role role, int index) const; ///< of reals
  int next_name_ = 0;
  bool reads_data_ = false;
};

/// Work array of a tensor-program array.
std::string array_name(const Context& context, int array);

/// Where cell dofs stand in a work array: entry component * component_stride + dof_entries[dof].
struct Placement {
  std::vector<int> dof_entries;
  int component_stride = 0;
  static Placement dense(int num_dofs);
};

/// Loads the dofs of input field `field` into work buffer `target`.
void gather(Context& context, int field, const std::string& target, const Placement& placement, Statements& to);
/// Adds work buffer `source` to the output vector; the first batch that touches an entry stores it (cells, mode 0).
void scatter(Context& context, int field, const std::string& source, const Placement& placement, Statements& to);
/// Geometry nodes of the batch into `target`.
void load_nodes(Context& context, const std::string& target, const Placement& placement, Statements& to);

/// Fetches what gather and scatter of the next batch come to, spread over the loops of `body` that compute most: asked
/// for all at once it would fill the queue of the cache and be waited for.
void spread_prefetches(Context& context, Statements& body);

/// The program of what a group of lanes does: requests ahead where the plan has them, the loop over groups, the row of
/// the data per cell.
LoopProgram finished(Context& context, Statements of_group);

/// matrix times a line: one expression per row. Matrices with symmetry are applied by halves (even-odd decomposition;
/// see Kopriva, Implementing Spectral Methods, 2009, 3.5.3) from Plan::even_odd columns on.
std::vector<NodePtr> apply_to_line(Context& context, const kernel::ReferenceMatrix& matrix,
                                   const std::vector<NodePtr>& line, Statements& to);

/// A line of numbers by halves: with k' the place opposite to k, line[k] = factor (even[k] + odd[k]) and
/// line[k'] = factor (even[k] - odd[k]); the place in the middle, if there is one, has no opposite (else null).
/// Matrices with symmetry applied one after the other need not put the halves together in between.
struct Halves {
  std::vector<NodePtr> even, odd;
  NodePtr middle;
  double factor = 0.5;
};
/// Whether the plan applies the matrix by halves.
bool goes_by_halves(const Context& context, const kernel::ReferenceMatrix& matrix);
Halves halves_of(Context& context, const std::vector<NodePtr>& line, Statements& to);
/// matrix times a line; `factor`: of the result.
Halves apply(Context& context, const kernel::ReferenceMatrix& matrix, const Halves& line, double factor,
             Statements& to);
/// The line, one expression per place; the factor must be 1.
std::vector<NodePtr> line_of(const Halves& halves);

/// A butterfly step: sums and differences of orbits, in place.
void butterfly(Context& context, const kernel::Step& step, Statements& to);

/// matrix times a line of numbers that all lanes take: row r is lane r % lanes of vector r / lanes. Lanes without a row
/// are 0.
std::vector<NodePtr> apply_into_lanes(Context& context, const kernel::ReferenceMatrix& matrix,
                                      const std::vector<NodePtr>& line);

/// A whole contraction step as loops over lines (1D matrices) or a register-blocked product (dense tables).
void contract(Context& context, const kernel::Step& step, Statements& to);

/// The point function as expressions at the level where their operands are known.
class PointStage {
public:
  /// Where an array slot of the point function is at the current point; overrides the arrays of the tensor program.
  struct Access {
    std::function<NodePtr(const kernel::InputSlot&)> read;
    std::function<void(std::size_t output, NodePtr value, Statements& to)> write; ///< test outputs
  };
  PointStage(Context& context, Access access);

  /// Nodes that depend on the cell alone; before the loops over points.
  void at_cell(Statements& to);
  /// Nodes that depend on reference axes `axis` and slower (and the cell); inside the loop over that axis.
  void at_axis(int axis, Statements& to);
  /// All the rest, and the outputs.
  void at_point(Statements& to);

  /// Loop variable of a tensor axis ("q0", ...) or "q" for points of a dense program. Where points stand in lanes, "q0"
  /// counts vectors of them.
  static std::string axis_variable(int axis) { return "q" + std::to_string(axis); }

private:
  void emit(unsigned allowed, Statements& to);
  void write_stored(Role role, NodePtr entry, NodePtr value, Statements& to) const;
  NodePtr value(form::NodeId id) const;
  NodePtr atom(const form::Atom& atom);
  NodePtr reference_coordinate(int axis);
  NodePtr point_number() const;
  NodePtr stored_entry(int slot) const;
  Context& context_;
  Access access_;
  std::vector<form::NodeId> order_;
  std::vector<unsigned> dependencies_;
  std::map<form::NodeId, NodePtr> values_;
  int num_stored_points_ = 0, num_stored_cells_ = 0;
};

/// The evaluate step over the arrays of the tensor program: loops over points around a PointStage.
void evaluate(Context& context, Statements& to);
/// Per-lane total of integral outputs is kept in work buffer "total"; these start it and write it out.
void begin_integral(Context& context, Statements& to);
void end_integral(Context& context, Statements& to);

/// One step after the other, without fusion.
void lower_steps(Context& context, Statements& to);

} // namespace rafter::schedule
