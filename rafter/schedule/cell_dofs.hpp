// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

/// The dofs of a field on a grid for kernels that take one cell of a group after the other, with points in the lanes:
/// gathered for the group with cells in the lanes, read and written line by line along the first axis. Lines are
/// numbered over all components, (component, slower axes...).
class CellDofs {
public:
  struct Field {
    std::string name;
    int components = 1, nodes = 2, dim = 3; ///< nodes per direction
    bool is_output = false;
  };
  CellDofs(Context& context, const Field& field);

  const std::string& gathered() const { return gathered_; }
  /// One number per dof.
  std::vector<NodePtr> load_line(const NodePtr& number, Statements& to) const;
  /// Dofs in the lanes of vectors; lanes without one repeat the last.
  std::vector<NodePtr> load_vectors(const NodePtr& number) const;
  /// What lanes without a dof hold is lost.
  void store_vectors(const NodePtr& number, const std::vector<NodePtr>& vectors, Statements& to) const;
  /// The lines of all cells of the group, to where scatter takes them.
  void transpose(Statements& to) const;

private:
  NodePtr of_cell(NodePtr entry) const;
  Context* context_;
  int nodes_, vector_width_;
  int num_lines_; ///< of a cell
  int vectors_;   ///< of a line
  std::string gathered_, written_;
};

} // namespace rafter::schedule
