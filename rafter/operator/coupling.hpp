// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/operator/form_kernels.hpp>

/// Which unknowns of a bilinear form share an entry of its matrix: all that is known before cells are visited.
namespace rafter::op {

/// Components of a system are those of its fields, one field after the other.
class Coupling {
public:
  /// Of a form of rank 2 on spaces of the system.
  Coupling(const form::LoweredForm& form, const System& system);
  /// An integrand holds both the test function of component `row` and the trial function of component `column`.
  bool operator()(int row, int column) const { return pairs_[index(row, column)] != 0; }
  int num_components() const { return size_; }
  int first_component(std::size_t field) const { return first_[field]; }
  /// False: the column of every unknown of this component is empty.
  bool has_column(int column) const;

  /// Unknowns that stand together in blocks, as many rows as columns, whose entries share one column number: the
  /// components of the fields where all of them meet or none does and where they follow each other in vectors; else 1.
  int block_size() const { return block_size_; }

private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(column);
  }
  int find_block_size(const System& system) const;
  int size_ = 0, block_size_ = 1;
  std::vector<int> first_;
  std::vector<std::uint8_t> pairs_; ///< shape (row, column)
};

/// Entries of the matrix of a form: pairs of unknowns that couple and have a cell in common. Counted from the numbers
/// of cells, faces, edges and vertices: exact where every part of the mesh is a ball without holes.
double count_entries(const System& system, const Coupling& coupling);

/// The same with a pair counted by every cell that has it: entries of all cell matrices.
double count_cell_entries(const System& system, const Coupling& coupling);

} // namespace rafter::op
