// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include <rafter/base/parallel.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

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

/// Estimates the number of entries of A B from those of a thousand rows, all of them where there are fewer.
double estimate_entries(const op::SparseMatrix& A, const op::SparseMatrix& B);

/// Puts matrices with the same number of columns one below the other.
op::SparseMatrix stacked(std::vector<op::SparseMatrix> parts, std::int64_t num_columns);

/// The parts in which rows of a product are computed, each with a RowSum of its own.
base::Parts row_parts(std::int64_t num_rows);

/// Numbers of the entries in a row.
struct RowEntries {
  std::size_t begin = 0, end = 0;
};
inline RowEntries row_entries(const op::SparseMatrix& A, std::size_t row) {
  return {static_cast<std::size_t>(A.row_offsets[row]), static_cast<std::size_t>(A.row_offsets[row + 1])};
}

/// Sums one row of a product: the columns that have a value, as a sparse set (Briggs and Torczon, ACM Lett. Program.
/// Lang. Syst. 2 (1993) 59-69, doi:10.1145/176454.176484), which is emptied without a look at its entries.
class RowSum {
public:
  explicit RowSum(std::int64_t num_columns) : places_(static_cast<std::size_t>(num_columns), 0) {}

  void add(std::int32_t column, double value) {
    auto& place = places_[static_cast<std::size_t>(column)];
    if (const auto p = static_cast<std::size_t>(place); p < columns_.size() && columns_[p] == column) {
      values_[p] += value;
      return;
    }
    place = static_cast<std::int32_t>(columns_.size());
    columns_.push_back(column);
    values_.push_back(value);
  }
  void add_multiple(double factor, const op::SparseMatrix& of, std::size_t row) {
    const auto entries = row_entries(of, row);
    for (auto k = entries.begin; k < entries.end; ++k) add(of.columns[k], factor * of.values[k]);
  }
  /// Appends the sum as the next row of a matrix and empties it.
  void append_sorted(op::SparseMatrix& to);
  /// The same without an order of the columns.
  void append_unsorted(std::vector<std::int32_t>& columns, std::vector<double>& values);

private:
  void clear() {
    columns_.clear();
    values_.clear();
  }
  std::vector<std::int32_t> places_; ///< place of a column in `columns_`, if it has one, shape (column)
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;                               ///< shape as `columns_`
  std::vector<std::pair<std::int32_t, std::int32_t>> order_; ///< columns and their places, for sorting
};

} // namespace rafter::solvers
