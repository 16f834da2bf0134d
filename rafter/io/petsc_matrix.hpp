// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/operator/run/sparse_matrix.hpp>

namespace rafter::io {

/// Writes a matrix in the binary format of PETSc, which MatLoad() reads: the number 1211216, the numbers of rows,
/// columns and entries, the number of entries of each row, the columns, then the values; integers of 32 bits and
/// doubles, all with the most significant byte first. The rules for names and failures are those of base::OutputFile.
/// Throws InputError for matrices of more than 2147483647 entries, which the format does not hold.
void write_petsc_matrix(const std::string& name, const op::SparseMatrix& matrix);

} // namespace rafter::io
