// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <utility>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

/// The action of a bilinear form by the matrix of each cell, which set-up stores: products of these with the dofs of
/// the cell (element assembly).
namespace rafter::kernel {

/// The matrices of a cell that are stored, those of pairs of fields one after the other, and the function that makes
/// them.
struct StoredMatrices {
  QFunction function;       ///< pair_coefficients
  QFunction of_derivatives; ///< the same by derivatives along physical axes (keep_derivatives)
  std::vector<FieldUse>
      uses; ///< pairs of fields, as the outputs of programs for cell matrices; those that the form has
  std::vector<std::pair<int, int>> fields; ///< numbers of the test and the trial field of each pair
  /// Place of each entry among the stored numbers, shape (pair of fields, pair of components, test dof, trial dof). The
  /// halves of symmetric matrices have one place; -1: the form does not couple these components.
  std::vector<std::vector<int>> places;
  /// Pairs of components that the form couples, shape (pair of fields, component).
  std::vector<std::vector<int>> components;
  int num_stored = 0; ///< numbers of a cell; 0: the form has no matrices of cells to store
};

/// Number of entries of the matrices of all pairs of test and trial fields.
double num_matrix_entries(const CellFields& fields);
/// The matrices of a bilinear form on cells, pulled back, and with derivatives kept; none for other forms.
StoredMatrices stored_matrices(const QFunction& function, const QFunction& of_derivatives, const CellFields& fields);

/// The program that multiplies by stored matrices. Its fields are those of `fields` but for data fields.
TensorProgram build_stored_product(const StoredMatrices& matrices, const CellFields& fields);

/// The program that computes and stores them, by the contraction of the input: Contraction::pointwise, or tables.
TensorProgram build_stored_matrices(const StoredMatrices& matrices, const ProgramInput& input);

} // namespace rafter::kernel
