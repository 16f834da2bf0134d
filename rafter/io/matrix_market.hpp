// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/operator/sparse_matrix.hpp>

namespace rafter::io {

/// Writes a matrix in the coordinate format of Matrix Market (Boisvert, Pozo, Remington, NISTIR 5935, 1996), as "matrix
/// coordinate real general": one line "row column value" per entry, counted from 1, values to the last bit; `comments`
/// are lines before the sizes. SciPy reads it with scipy.io.mmread. The name is one of base::OutputFile, and so are
/// failures.
void write_matrix_market(const std::string& name, const op::SparseMatrix& matrix,
                         std::span<const std::string> comments = {});

} // namespace rafter::io
