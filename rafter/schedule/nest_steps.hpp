// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <span>
#include <vector>

#include <rafter/schedule/nest_values.hpp>
#include <rafter/schedule/point_stage.hpp>

namespace rafter::schedule {

/// Makes the statements of what is done in the nests of a schedule, with the indices that the loops around give.
class NestSteps {
public:
  NestSteps(Context& context, const Schedule& schedule);

  NestValues& values() { return values_; }
  PointStage& stage() { return stage_; } ///< The QFunction, as far as the loops around let it be computed.
  void perform(const Do& what, Statements& to);

private:
  // Contractions, by the kind of their family.
  void apply_family(const kernel::Step& step, const Do& what, int into, Statements& to);
  void contract(const kernel::Step& step, const Do& what, Statements& to);
  void contract_entries(const kernel::Step& step, const Do& what, Statements& to);
  void contract_into_lanes(const kernel::Step& step, const Do& what, Statements& to);
  void contract_lines(const kernel::Step& step, const Do& what, Statements& to);
  void contract_by_halves(const kernel::Step& step, const Do& what, const EntryIndices& at, Statements& to);
  void contract_in_blocks(const kernel::Step& step, const Do& what, Statements& to);
  Halves source_halves(const kernel::Step& step, const Do& what, const EntryIndices& at, Statements& to);
  std::vector<NodePtr> source_line(const kernel::Step& step, const Do& what, const EntryIndices& at, Statements& to);
  std::vector<NodePtr> target_line(const kernel::Step& step, const Do& what, const EntryIndices& at, Statements& to);
  int target_memory(const kernel::Step& step, const Do& what) const;
  void set_line(const kernel::Step& step, const Do& what, const EntryIndices& at, std::vector<NodePtr> line,
                Statements& to);
  void put_sum(const kernel::Step& step, int into, const EntryIndices& at, NodePtr total, Statements& to);
  // Products of arrays.
  void multiply(const kernel::Step& step, const Do& what, Statements& to);
  NodePtr operand(int array, int component, const std::vector<int>& axes, const EntryIndices& at, Statements& to);
  void finish_sum(const kernel::Step& step, const Do& what, const EntryIndices& at, Statements& to);
  NodePtr matrix_entry(const kernel::ReferenceMatrix& matrix, const NodePtr& row, const NodePtr& col);
  const kernel::MatrixFamily& family_of(const kernel::Step& step) const { return program_.family(step.family); }
  void butterflies(const kernel::Step& step, int from, int into, Statements& to);
  void weigh(const kernel::Step& step, const Do& what, Statements& to);
  void copy(const Do& what, Statements& to);

  // The QFunction.
  void evaluate(const Do& what, Statements& to);
  void evaluate_cell(const Do& what, Statements& to);
  EntryIndices indices_of(const kernel::Slot& slot) const;
  NodePtr read(const kernel::Slot& slot) const;
  void write(const kernel::Slot& slot, NodePtr value, Statements& to);

  // Between arrays and memory outside: for all dofs of a cell, for those of one component, or for single ones.
  bool gives(int array, std::span<const int> axes) const;
  bool is_of_whole_cell(int array) const;
  bool is_of_component(int array) const;
  void read_field(const kernel::Step& step, int into, Statements& to);
  void read_component(const kernel::Step& step, int into, Statements& to);
  void read_dofs(const kernel::Step& step, int into, Statements& to);
  void read_nodes(const kernel::Step& step, int into, Statements& to);
  void write_field(const kernel::Step& step, int from, Statements& to);
  void read_stored(const kernel::Step& step, int into, Statements& to);
  void write_stored(const kernel::Step& step, int from, Statements& to);
  NodePtr stored_entry(const kernel::Step& step, int array, const EntryIndices& at);
  NodePtr stored_number(const NodePtr& place);
  bool is_unread(int array, const EntryIndices& at);
  NodePtr put_stored(const std::string& stored, NodePtr entry, NodePtr value) const;
  void write_matrix(const kernel::Step& step, int from, Statements& to);
  void write_component(const kernel::Step& step, int from, Statements& to);
  void write_dofs(const kernel::Step& step, int from, Statements& to);
  void write_cell_vector(const kernel::Step& step, int from, Statements& to);
  void mask_dofs(const kernel::Step& step, int in, Statements& to);
  void each_dof(int array, const std::function<void(const EntryIndices&)>& f) const;

  Context& context_;
  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  ScheduleMemories memories_;
  NestValues values_;
  PointStage stage_;
  std::map<int, std::vector<bool>> unread_; ///< by array: entries that nothing reads, as far as anyone has asked
  const Do* evaluation_ = nullptr;          ///< the evaluation of the QFunction at hand
};

} // namespace rafter::schedule
