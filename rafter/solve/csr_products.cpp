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

/// Makes a matrix whose rows are sums that add(sum, row) makes, on several threads.
template <class Add> SparseMatrix make_rows(std::int64_t num_rows, std::int64_t num_columns, const Add& add) {
  const auto rows = row_parts(num_rows);
  std::vector<SparseMatrix> parts(static_cast<std::size_t>(rows.count()));
  rows.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = parts[static_cast<std::size_t>(number)];
    part.row_offsets.push_back(0);
    RowSum sum(num_columns);
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      add(sum, row);
      sum.append_sorted(part);
    }
  });
  return stacked(std::move(parts), num_columns);
}

/// Rows of a product that are read by other products alone: their columns are in no order.
struct UnsortedRows {
  std::vector<std::int64_t> row_offsets{0}; ///< shape (row + 1)
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

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

base::Parts row_parts(std::int64_t num_rows) {
  constexpr std::int64_t most_parts = 32, least_rows = 64; // each part has a sum as long as a row
  return base::Parts(num_rows, least_rows, most_parts);
}

SparseMatrix stacked(std::vector<SparseMatrix> parts, std::int64_t num_columns) {
  if (parts.size() == 1) {
    parts.front().num_columns = num_columns;
    return std::move(parts.front());
  }
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
    const auto part = std::move(parts[number]); // its memory is free again as soon as it is copied
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

double estimate_entries(const SparseMatrix& A, const SparseMatrix& B) {
  constexpr std::int64_t most_rows = 1000;
  const std::int64_t step = std::max<std::int64_t>(1, A.num_rows() / most_rows);
  RowSum sum(B.num_columns);
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  double entries = 0, rows = 0;
  for (std::int64_t row = 0; row < A.num_rows(); row += step, ++rows) {
    const auto of_row = row_entries(A, static_cast<std::size_t>(row));
    for (auto k = of_row.begin; k < of_row.end; ++k)
      sum.add_multiple(A.values[k], B, static_cast<std::size_t>(A.columns[k]));
    columns.clear();
    values.clear();
    sum.append_unsorted(columns, values);
    entries += static_cast<double>(columns.size());
  }
  return rows == 0 ? 0 : entries / rows * static_cast<double>(A.num_rows());
}

SparseMatrix galerkin_product(const SparseMatrix& A, const SparseMatrix& P, const SparseMatrix& P_transposed) {
  if (A.num_rows() != A.num_columns || P.num_rows() != A.num_columns || P_transposed.num_rows() != P.num_columns ||
      P_transposed.num_columns != P.num_rows())
    throw base::InputError(fmt::format("a matrix of {} rows and {} columns has no product with a prolongation of {} "
                                       "rows and {} columns",
                                       A.num_rows(), A.num_columns, P.num_rows(), P.num_columns));
  // A P is read once, row by row: it stays in the parts that have computed it.
  const auto rows = row_parts(A.num_rows());
  std::vector<UnsortedRows> parts(static_cast<std::size_t>(rows.count()));
  rows.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = parts[static_cast<std::size_t>(number)];
    RowSum sum(P.num_columns);
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      const auto entries = row_entries(A, row);
      for (auto k = entries.begin; k < entries.end; ++k)
        sum.add_multiple(A.values[k], P, static_cast<std::size_t>(A.columns[k]));
      sum.append_unsorted(part.columns, part.values);
      part.row_offsets.push_back(static_cast<std::int64_t>(part.columns.size()));
    }
  });
  const auto length = static_cast<std::size_t>(rows.end(0));
  return make_rows(P.num_columns, P.num_columns, [&](RowSum& sum, std::size_t row) {
    const auto entries = row_entries(P_transposed, row);
    for (auto k = entries.begin; k < entries.end; ++k) {
      const auto fine = static_cast<std::size_t>(P_transposed.columns[k]);
      const auto& part = parts[fine / length];
      const auto local = fine % length;
      for (auto e = static_cast<std::size_t>(part.row_offsets[local]);
           e < static_cast<std::size_t>(part.row_offsets[local + 1]); ++e)
        sum.add(part.columns[e], P_transposed.values[k] * part.values[e]);
    }
  });
}

void RowSum::append_sorted(SparseMatrix& to) {
  order_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) order_.emplace_back(columns_[i], static_cast<std::int32_t>(i));
  std::ranges::sort(order_);
  for (const auto& [column, place] : order_) {
    to.columns.push_back(column);
    to.values.push_back(values_[static_cast<std::size_t>(place)]);
  }
  to.row_offsets.push_back(to.num_entries());
  clear();
}

void RowSum::append_unsorted(std::vector<std::int32_t>& columns, std::vector<double>& values) {
  columns.insert(columns.end(), columns_.begin(), columns_.end());
  values.insert(values.end(), values_.begin(), values_.end());
  clear();
}

} // namespace rafter::solvers
