// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

/// Finds which unknowns of a bilinear form share an entry of its matrix, as far as that is known without visiting
/// cells.
namespace rafter::op {

struct GeneratedForm;
struct System;

/// Says which pairs of unknowns of a cell may have an entry that is not 0. They couple where an integrand multiplies
/// the test function of the one by the trial function of the other, and where both factors, which are values or
/// derivatives of these functions, differ from 0 at one quadrature point. With quadrature points in the nodes most
/// pairs do not couple. Components are numbered over all fields, one field after the other.
class Coupling {
public:
  /// `built` holds the kernels of a form of rank 2 on the spaces of the system or on their broken twins.
  Coupling(const GeneratedForm& built, const System& system);
  /// Says whether an integrand holds both the test function of component `row` and the trial function of component
  /// `column`.
  bool operator()(int row, int column) const;
  /// Says whether an integrand holds the trial function of component `column`; if not, the columns of its unknowns are
  /// empty.
  bool has_column(int column) const;

  /// Number of unknowns that form a block, so that entries of the matrix are stored in square blocks with one column
  /// number each. It is the number of components of the fields where all components of a node couple or none does and
  /// where they are neighbours in vectors; else 1.
  int block_size() const { return block_size_; }

  /// The pairs of basis functions of two components, shape (row, column); a value is not 0 where they couple.
  struct Pairs {
    int num_rows = 0, num_columns = 0;
    std::vector<std::uint8_t> values;
    bool operator()(int row, int column) const {
      return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(num_columns) +
                    static_cast<std::size_t>(column)] != 0;
    }
  };
  /// Returns the coupled basis functions of two components in the cells of a block; null: none couple.
  const Pairs* pairs(std::size_t block, int row, int column) const;
  /// Lists for each local unknown of a cell of this block the local unknowns that couple with it, in ascending order.
  /// Local unknowns are numbered (component, basis function). With a `group_size` of block_size() the lists are those
  /// of blocks of unknowns, numbered (block of components, basis function).
  std::vector<std::vector<std::int32_t>> local_columns(std::size_t block, int group_size = 1) const;
  int num_components() const { return size_; }

private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(column);
  }
  int find_block_size(const System& system) const;
  int size_ = 0, block_size_ = 1;
  std::vector<std::vector<int>> num_dofs_; ///< number of basis functions, shape (block, component)
  std::vector<Pairs> pairs_;
  std::vector<std::vector<int>> numbers_; ///< position in pairs_, -1: no pair couples; shape (block, row, column)
};

/// Counts the entries of the matrix of a form: pairs of unknowns that couple and have a cell in common. It takes the
/// numbers of cells, faces, edges and vertices alone. The count is exact where every part of the mesh is a ball without
/// holes and where unknowns that share several cells couple in all of them or in none.
double count_entries(const System& system, const Coupling& coupling);

/// Counts the entries of all cell matrices, so that a pair of unknowns counts once for every cell that has it.
double count_cell_entries(const System& system, const Coupling& coupling);

} // namespace rafter::op
