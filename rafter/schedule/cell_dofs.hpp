// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

/// Dofs of a field on a grid, for kernels that compute one cell of a SIMD group after the other with points in the
/// lanes. Dofs are gathered for the whole group with cells in the lanes, then read and written line by line along the
/// first axis. Lines are numbered over (component, slower axes...).
class CellDofs {
public:
  struct Field {
    std::string name;
    int components = 1, nodes = 2, dim = 3; ///< `nodes` counts those along one direction
    bool is_output = false;
  };
  CellDofs(Context& context, const Field& field);

  const std::string& gathered() const { return gathered_; }
  /// Loads a line of dofs of the current cell, one register per dof.
  std::vector<NodePtr> load_line(const NodePtr& number, Statements& to) const;
  /// Loads a line of dofs into vectors, consecutive dofs in consecutive lanes; lanes beyond the end of the line repeat
  /// its last dof.
  std::vector<NodePtr> load_vectors(const NodePtr& number) const;
  /// Stores a line from such vectors; lanes beyond the end of the line are dropped.
  void store_vectors(const NodePtr& number, const std::vector<NodePtr>& vectors, Statements& to) const;
  /// Rearranges the written lines of all cells of the group so that cells stand in the lanes, as scatter reads them.
  void transpose(Statements& to) const;

private:
  NodePtr of_cell(NodePtr entry) const;
  Context* context_;
  int nodes_, vector_width_;
  int num_lines_; ///< lines per cell
  int vectors_;   ///< vectors per line
  std::string gathered_, written_;
};

} // namespace rafter::schedule
