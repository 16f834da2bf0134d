// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/sparse_matrix.hpp>

/// Products of sparse matrices in compressed rows, for set-up. They run on the threads of base::run_parallel and give
/// the same bits for any number of threads.
namespace rafter::solvers {

/// Returns A^T.
op::SparseMatrix transposed(const op::SparseMatrix& A);

/// Returns A B, row by row. Throws InputError for sizes that do not fit.
op::SparseMatrix product(const op::SparseMatrix& A, const op::SparseMatrix& B);

/// Returns P^T A P, by two products row by row (Gustavson, ACM Trans. Math. Softw. 4 (1978) 250-269,
/// doi:10.1145/355791.355796). `P_transposed` is transposed(P). Throws InputError for sizes that do not fit.
op::SparseMatrix galerkin_product(const op::SparseMatrix& A, const op::SparseMatrix& P,
                                  const op::SparseMatrix& P_transposed);

/// Puts matrices with the same number of columns one below the other.
op::SparseMatrix stacked(std::span<const op::SparseMatrix> parts, std::int64_t num_columns);

/// Numbers of the entries in a row.
struct RowEntries {
  std::size_t begin = 0, end = 0;
};
inline RowEntries row_entries(const op::SparseMatrix& A, std::size_t row) {
  return {static_cast<std::size_t>(A.row_offsets[row]), static_cast<std::size_t>(A.row_offsets[row + 1])};
}

} // namespace rafter::solvers
