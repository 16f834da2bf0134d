// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
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

/// Columns that stand side by side in every row that has one of them, as those of the modes of an aggregate do. Sums of
/// rows look for a group once, and add its numbers one after the other.
struct ColumnGroups {
  std::vector<std::int32_t> firsts;    ///< first column of each group, ascending, and the number of columns
  std::vector<std::int32_t> of_column; ///< group of each column

  explicit ColumnGroups(const op::SparseMatrix& A);
  std::int32_t count() const { return static_cast<std::int32_t>(firsts.size()) - 1; }
  std::size_t width(std::int32_t group) const {
    return static_cast<std::size_t>(firsts[static_cast<std::size_t>(group) + 1] -
                                    firsts[static_cast<std::size_t>(group)]);
  }
};

/// Returns P^T A P, by two products row by row (Gustavson, ACM Trans. Math. Softw. 4 (1978) 250-269,
/// doi:10.1145/355791.355796), in the blocks that groups of columns of P make. `P_transposed` is transposed(P). Throws
/// InputError for sizes that do not fit.
op::SparseMatrix galerkin_product(const op::SparseMatrix& A, const op::SparseMatrix& P,
                                  const op::SparseMatrix& P_transposed);

/// Estimates the number of entries of A B from those of a thousand rows, all of them where there are fewer.
double estimate_entries(const op::SparseMatrix& A, const op::SparseMatrix& B);

/// Puts matrices with the same number of columns one below the other.
op::SparseMatrix stacked(std::vector<op::SparseMatrix> parts, std::int64_t num_columns);

/// The parts in which rows of a product are computed, each with a BlockSum of its own.
base::Parts row_parts(std::int64_t num_rows);

/// Numbers of the entries in a row.
struct RowEntries {
  std::size_t begin = 0, end = 0;
};
inline RowEntries row_entries(const op::SparseMatrix& A, std::size_t row) {
  return {static_cast<std::size_t>(A.row_offsets[row]), static_cast<std::size_t>(A.row_offsets[row + 1])};
}

/// Sums rows of a product that have the same columns: blocks of the groups that have a value, as a sparse set (Briggs
/// and Torczon, ACM Lett. Program. Lang. Syst. 2 (1993) 59-69, doi:10.1145/176454.176484), which is emptied without a
/// look at its entries.
class BlockSum {
public:
  /// `groups` must outlive the object.
  explicit BlockSum(const ColumnGroups& groups)
      : groups_(groups), places_(static_cast<std::size_t>(groups.count()), 0) {}

  /// Begins the sums of so many rows, which are 0.
  void restart(std::size_t num_rows) {
    num_rows_ = num_rows;
    found_.clear();
    begins_.clear();
    values_.clear();
  }
  /// Adds multiples of a row's numbers in a group, one for each of the rows that are summed.
  void add(std::int32_t group, std::span<const double> factors, const double* values) {
    const std::size_t width = groups_.width(group);
    double* to = block(group, width);
    switch (width) { // widths that compilers know: those of scalars, rigid modes in two dimensions and in three
    case 1:
      return add_lines<1>(to, factors, values, width);
    case 3:
      return add_lines<3>(to, factors, values, width);
    case 6:
      return add_lines<6>(to, factors, values, width);
    default:
      return add_lines<0>(to, factors, values, width);
    }
  }
  /// Adds multiples of a row whose columns are whole groups.
  void add_multiples(std::span<const double> factors, const op::SparseMatrix& of, std::size_t row) {
    const auto entries = row_entries(of, row);
    for (auto k = entries.begin; k < entries.end;) {
      const auto group = groups_.of_column[static_cast<std::size_t>(of.columns[k])];
      add(group, factors, of.values.data() + k);
      k += groups_.width(group);
    }
  }
  std::span<const std::int32_t> groups() const { return found_; } ///< the groups that have a value, in no order
  /// Values of all groups in that order, each of shape (row, column of the group).
  std::span<const double> values() const { return values_; }
  void append_sorted(op::SparseMatrix& to); ///< appends the sums as the next rows of a matrix

private:
  /// `Width`: 0 where it is not known.
  template <std::size_t Width>
  static void add_lines(double* to, std::span<const double> factors, const double* values, std::size_t width) {
    const std::size_t count = Width == 0 ? width : Width;
    for (const double factor : factors)
      for (std::size_t j = 0; j < count; ++j) *to++ += factor * values[j];
  }
  double* block(std::int32_t group, std::size_t width) {
    auto& place = places_[static_cast<std::size_t>(group)];
    if (const auto p = static_cast<std::size_t>(place); p < found_.size() && found_[p] == group)
      return values_.data() + begins_[p];
    place = static_cast<std::int32_t>(found_.size());
    found_.push_back(group);
    begins_.push_back(values_.size());
    values_.resize(values_.size() + num_rows_ * width, 0.0);
    return values_.data() + begins_.back();
  }

  const ColumnGroups& groups_;
  std::size_t num_rows_ = 1;
  std::vector<std::int32_t> places_; ///< place of a group in `found_`, if it has one, shape (group)
  std::vector<std::int32_t> found_;
  std::vector<std::size_t> begins_; ///< first of the values of each group in `found_`
  std::vector<double> values_;
  std::vector<std::pair<std::int32_t, std::int32_t>> order_; ///< groups and their places, for sorting
};

} // namespace rafter::solvers
