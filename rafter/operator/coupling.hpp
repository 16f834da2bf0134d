// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/operator/form_kernels.hpp>

/// Which unknowns of a bilinear form share an entry of its matrix: all that is known before cells are visited.
namespace rafter::op {

struct GeneratedForm;

/// Components of a system are those of its fields, one field after the other. Unknowns of a cell couple where an
/// integrand multiplies the test function of the one by the trial function of the other and both, values or derivatives
/// as it takes them, differ from zero at one quadrature point: with points in the nodes most of them do not.
class Coupling {
public:
  /// Of the kernels of a form of rank 2 on the spaces of the system or on their broken twins.
  Coupling(const GeneratedForm& built, const System& system);
  /// An integrand holds both the test function of component `row` and the trial function of component `column`.
  bool operator()(int row, int column) const;
  /// False: the column of every unknown of this component is empty.
  bool has_column(int column) const;

  /// Unknowns that stand together in blocks, as many rows as columns, whose entries share one column number: the
  /// components of the fields where all of them meet or none does and where they follow each other in vectors; else 1.
  int block_size() const { return block_size_; }

  /// Basis functions of a component, shape (row, column): not 0 where they couple.
  struct Pairs {
    int num_rows = 0, num_columns = 0;
    std::vector<std::uint8_t> values;
    bool operator()(int row, int column) const {
      return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(num_columns) +
                    static_cast<std::size_t>(column)] != 0;
    }
  };
  /// Those of two components in the cells of a block; null: none couple.
  const Pairs* pairs(std::size_t block, int row, int column) const;
  /// Local unknowns, numbered (component, basis function), that couple with each local unknown of a cell of this block,
  /// ascending.
  std::vector<std::vector<std::int32_t>> local_columns(std::size_t block) const;
  int num_components() const { return size_; }

private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(column);
  }
  int find_block_size(const System& system) const;
  int size_ = 0, block_size_ = 1;
  std::vector<std::vector<int>> num_dofs_; ///< shape (block, component)
  std::vector<Pairs> pairs_;
  std::vector<std::vector<int>> numbers_; ///< of pairs, -1: none; shape (block, row, column)
};

/// Entries of the matrix of a form: pairs of unknowns that couple and have a cell in common. Counted from the numbers
/// of cells, faces, edges and vertices: exact where every part of the mesh is a ball without holes, and unknowns that
/// share several cells couple in all of them or in none.
double count_entries(const System& system, const Coupling& coupling);

/// The same with a pair counted by every cell that has it: entries of all cell matrices.
double count_cell_entries(const System& system, const Coupling& coupling);

} // namespace rafter::op
