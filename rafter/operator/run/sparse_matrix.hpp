// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/operator/generate/entry_range.hpp>

namespace rafter::op {

/// A sparse matrix in compressed rows (CSR). The matrix of an operator has a row and a column for every entry of its
/// vectors; those of padding are of the identity. The entries of row i are row_offsets[i] .. row_offsets[i + 1] - 1.
struct SparseMatrix {
  std::int64_t num_columns = 0;
  std::vector<std::int64_t> row_offsets; ///< shape (row + 1)
  std::vector<std::int32_t> columns;     ///< shape (entry), ascending in each row, from 0
  std::vector<double> values;            ///< shape (entry)

  std::int64_t num_rows() const { return static_cast<std::int64_t>(row_offsets.size()) - 1; }
  std::int64_t num_entries() const { return static_cast<std::int64_t>(columns.size()); }
  /// Returns entry (row, column), 0 where the pattern has none. Both must be in range.
  double operator()(std::int64_t row, std::int64_t column) const;
  /// Computes y = A x, with x of shape (column) and y of shape (row). Throws InputError for other sizes.
  void multiply(std::span<const double> x, std::span<double> y) const;
  /// Returns the rows and columns in these ranges, which ascend, numbered anew in their order. With
  /// Operator::owned_ranges() these are unknowns alone, without the padding of vectors.
  SparseMatrix restricted(std::span<const EntryRange> ranges) const;
  /// Returns the largest |a_ij - a_ji| over the largest |a_ij|; infinite where the matrix is not square.
  double asymmetry() const;
};

} // namespace rafter::op
