// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

/// Cell matrices of bilinear forms, all entries at once: entry (i, j) sums, over pairs of a test and a trial slot, the
/// integral of their coefficient times slot of test function i times slot of trial function j. A cell matrix is
/// computed as a cell vector of a linear form is, with products of two basis functions in place of test functions: the
/// coefficients in the points, once, then contractions with tables of these products.
namespace rafter::kernel {

/// The coefficients of all pairs of test and trial slots of a bilinear form, as outputs of kind test_pair.
/// Output::field is number_of_pair; Output::component is c * (components of the trial field) + c' for the components c
/// and c' of test and trial function. `trial_components` holds the number of components of each trial field of the
/// form. Outputs of kind inverse_map stay, in front. Throws InternalError for a function that is not linear in the
/// trial functions.
QFunction pair_coefficients(const QFunction& function, std::span<const int> trial_components);
inline int number_of_pair(int test, int trial, std::size_t num_trials) {
  return test * static_cast<int>(num_trials) + trial;
}

/// Numbers of entries of the largest table and of all cell matrices of a program that build_cell_matrices would make;
/// they grow with the square of the number of basis functions.
struct CellMatrixSize {
  double table_entries = 0, result_entries = 0;
};
CellMatrixSize cell_matrix_size(const ProgramInput& input);

/// The tensor program of a function that pair_coefficients made; its outputs name the elements of test and trial
/// functions (FieldUse::element and trial_element). Coefficients that are constant on the cell are multiplied by
/// integrals over the reference cell; others by tables at the points, which are products of 1D tables where the points
/// are a grid, else dense.
TensorProgram build_cell_matrices(const ProgramInput& input);

/// Place of entry (i, j) of a cell matrix in the result of the program, at index i * (number of trial functions) + j,
/// for one pair of components. In tensor programs, the places run over pairs of 1D functions axis by axis.
std::vector<int> pair_places(const TensorProgram& program, const FieldUse& use);

} // namespace rafter::kernel
