// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/csr_products.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>

namespace rafter::solvers {
namespace {

using op::SparseMatrix;

/// Sums one row of a product: a value for each column, and the columns that have one.
class RowSum {
public:
  explicit RowSum(std::int64_t num_columns)
      : values_(static_cast<std::size_t>(num_columns)), is_used_(static_cast<std::size_t>(num_columns), 0) {}

  void add(std::int32_t column, double value) {
    const auto c = static_cast<std::size_t>(column);
    if (is_used_[c] == 0) {
      is_used_[c] = 1;
      values_[c] = 0;
      columns_.push_back(column);
    }
    values_[c] += value;
  }
  void add_multiple(double factor, const SparseMatrix& of, std::size_t row) {
    const auto entries = row_entries(of, row);
    for (auto k = entries.begin; k < entries.end; ++k) add(of.columns[k], factor * of.values[k]);
  }
  std::vector<std::int32_t>& columns() { return columns_; }
  double operator[](std::int32_t column) const { return values_[static_cast<std::size_t>(column)]; }
  void clear() {
    for (const auto column : columns_) is_used_[static_cast<std::size_t>(column)] = 0;
    columns_.clear();
  }

private:
  std::vector<double> values_;
  std::vector<std::uint8_t> is_used_;
  std::vector<std::int32_t> columns_;
};

/// Makes a matrix whose rows are sums that add(sum, row) makes, on several threads.
template <class Add> SparseMatrix make_rows(std::int64_t num_rows, std::int64_t num_columns, const Add& add) {
  constexpr std::int64_t most_parts = 32, least_rows = 64; // each part has a sum as long as a row
  const base::Parts rows(num_rows, least_rows, most_parts);
  std::vector<SparseMatrix> parts(static_cast<std::size_t>(rows.count()));
  rows.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = parts[static_cast<std::size_t>(number)];
    part.row_offsets.push_back(0);
    RowSum sum(num_columns);
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      add(sum, row);
      std::ranges::sort(sum.columns());
      for (const auto column : sum.columns()) {
        part.columns.push_back(column);
        part.values.push_back(sum[column]);
      }
      part.row_offsets.push_back(part.num_entries());
      sum.clear();
    }
  });
  return stacked(parts, num_columns);
}

} // namespace

SparseMatrix transposed(const SparseMatrix& A) {
  SparseMatrix result{.num_columns = A.num_rows(),
                      .row_offsets = std::vector<std::int64_t>(static_cast<std::size_t>(A.num_columns) + 1, 0),
                      .columns = std::vector<std::int32_t>(A.columns.size()),
                      .values = std::vector<double>(A.values.size())};
  for (const auto column : A.columns) ++result.row_offsets[static_cast<std::size_t>(column) + 1];
  std::partial_sum(result.row_offsets.begin(), result.row_offsets.end(), result.row_offsets.begin());
  auto next = result.row_offsets;
  for (std::int64_t row = 0; row < A.num_rows(); ++row) {
    const auto entries = row_entries(A, static_cast<std::size_t>(row));
    for (auto k = entries.begin; k < entries.end; ++k) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(A.columns[k])]++);
      result.columns[place] = static_cast<std::int32_t>(row);
      result.values[place] = A.values[k];
    }
  }
  return result;
}

SparseMatrix stacked(std::span<const SparseMatrix> parts, std::int64_t num_columns) {
  SparseMatrix result{.num_columns = num_columns, .row_offsets = {0}, .columns = {}, .values = {}};
  std::vector<std::size_t> first_rows{0}, first_entries{0};
  for (const auto& part : parts) {
    first_rows.push_back(first_rows.back() + static_cast<std::size_t>(part.num_rows()));
    first_entries.push_back(first_entries.back() + part.columns.size());
  }
  result.row_offsets.resize(first_rows.back() + 1);
  result.columns.resize(first_entries.back());
  result.values.resize(first_entries.back());
  base::run_parallel(static_cast<std::int64_t>(parts.size()), [&](std::int64_t p) {
    const auto number = static_cast<std::size_t>(p);
    const auto& part = parts[number];
    for (std::size_t row = 1; row < part.row_offsets.size(); ++row)
      result.row_offsets[first_rows[number] + row] =
          static_cast<std::int64_t>(first_entries[number]) + part.row_offsets[row];
    std::ranges::copy(part.columns, result.columns.begin() + static_cast<std::ptrdiff_t>(first_entries[number]));
    std::ranges::copy(part.values, result.values.begin() + static_cast<std::ptrdiff_t>(first_entries[number]));
  });
  return result;
}

SparseMatrix product(const SparseMatrix& A, const SparseMatrix& B) {
  if (A.num_columns != B.num_rows())
    throw base::InputError(
        fmt::format("a matrix of {} columns has no product with one of {} rows", A.num_columns, B.num_rows()));
  return make_rows(A.num_rows(), B.num_columns, [&](RowSum& sum, std::size_t row) {
    const auto entries = row_entries(A, row);
    for (auto k = entries.begin; k < entries.end; ++k)
      sum.add_multiple(A.values[k], B, static_cast<std::size_t>(A.columns[k]));
  });
}

SparseMatrix galerkin_product(const SparseMatrix& A, const SparseMatrix& P, const SparseMatrix& P_transposed) {
  if (A.num_rows() != A.num_columns || P.num_rows() != A.num_columns || P_transposed.num_rows() != P.num_columns ||
      P_transposed.num_columns != P.num_rows())
    throw base::InputError(fmt::format("a matrix of {} rows and {} columns has no product with a prolongation of {} "
                                       "rows and {} columns",
                                       A.num_rows(), A.num_columns, P.num_rows(), P.num_columns));
  return product(P_transposed, product(A, P));
}

} // namespace rafter::solvers
