// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

/// Cell matrices of bilinear forms, all entries at once: entry (i, j) is the integral of the coefficients of a pair of
/// slots times the product of test function i and trial function j there. So a cell matrix is computed as the vector of
/// a linear form is, with products of two basis functions for test functions: the coefficients in the points, once,
/// then contractions with the tables of the products.
namespace rafter::kernel {

/// The coefficients of all pairs of test and trial slots of a bilinear form: outputs of kind test_pair, where `field`
/// is number_of_pair and `component` is c * (components of the trial field) + c' for the components c and c' of test
/// and trial function. `trial_components`: of each trial field of the form. Throws InternalError for a function that is
/// not linear in the trial functions.
QFunction pair_coefficients(const QFunction& function, std::span<const int> trial_components);
inline int number_of_pair(int test, int trial, std::size_t num_trials) {
  return test * static_cast<int>(num_trials) + trial;
}

/// Entries of the largest table and of all results, which a program for cell matrices would have; they grow with the
/// square of the number of basis functions.
struct CellMatrixSize {
  double table_entries = 0, result_entries = 0;
};
CellMatrixSize cell_matrix_size(const ProgramInput& input);

/// The program of such a function. Outputs have elements of both functions (FieldUse::element and trial_element).
/// Coefficients that are constant on the cell are multiplied by the integrals of the products; elsewhere, tables are
/// dense, or products of tables along each axis where the points are a grid.
TensorProgram build_cell_matrices(const ProgramInput& input);

/// Place of the entry of basis functions (i, j) among those of a pair of components, as the result has them.
std::vector<int> pair_places(const TensorProgram& program, const FieldUse& use);

} // namespace rafter::kernel
