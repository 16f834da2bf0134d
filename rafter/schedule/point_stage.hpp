// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <rafter/schedule/context.hpp>

/// The QFunction in loop programs.
namespace rafter::schedule {

/// The QFunction as expressions at the level where their operands are known.
class PointStage {
public:
  /// Access to an array slot of the QFunction at the current point; overrides the arrays of the tensor program.
  struct Access {
    std::function<NodePtr(const kernel::InputSlot&)> read;
    std::function<void(std::size_t output, NodePtr value, Statements& to)> write; ///< test outputs
  };
  PointStage(Context& context, Access access);

  /// Nodes that depend on the cell alone; before the loops over points.
  void at_cell(Statements& to);
  /// Nodes that depend on reference axes `axis` and slower (and the cell); inside the loop over that axis.
  void at_axis(int axis, Statements& to);
  /// Nodes that depend on these reference axes alone (and the cell), wherever the variables of both are known.
  void at_axes(std::span<const int> axes, Statements& to);
  /// All the rest, and the outputs.
  void at_point(Statements& to);

  NodePtr value(form::NodeId id) const; ///< The node must have been computed.

  /// The values that are known, which hold as long as the loops do in which they were computed.
  using Values = std::map<form::NodeId, NodePtr>;
  const Values& known() const { return values_; }
  void restore(Values values) { values_ = std::move(values); }

  /// Loop variable of a tensor axis ("q0", ...) or "q" for points of a dense program. "q0" counts vectors of points
  /// where these stand in lanes.
  static std::string axis_variable(int axis) { return "q" + std::to_string(axis); }

private:
  void emit(unsigned allowed, Statements& to);
  void write_stored(const std::string& role, NodePtr entry, NodePtr value, Statements& to) const;
  NodePtr atom(const form::Atom& atom);
  NodePtr reference_coordinate(int axis);
  NodePtr point_number() const;
  NodePtr stored_entry(int slot) const;
  NodePtr first_stored(int number) const;
  /// Data per point are read in order, but processors that see it do not run far enough ahead of the memory.
  void ask_for_stored(int slot, Statements& to);
  Context& context_;
  Access access_;
  std::vector<form::NodeId> order_;
  std::vector<unsigned> dependencies_;
  Values values_;
  int num_coefficients_ = 0, num_stored_points_ = 0, num_stored_cells_ = 0; ///< numbers of a cell, or of a point
};

/// The total of integral outputs per lane is kept in work buffer "total"; these start it and write it out.
void begin_integral(Context& context, Statements& to);
void end_integral(Context& context, Statements& to);

} // namespace rafter::schedule
