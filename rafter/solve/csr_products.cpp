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

/// Rows of a product that are read by other products alone: groups of columns in no order, and blocks of values.
struct UnsortedRows {
  /// Rows with the same columns, which follow each other.
  struct Block {
    std::size_t first_row = 0, num_rows = 1; ///< among the rows of this object
    std::size_t groups_begin = 0, groups_end = 0, values_begin = 0;
  };
  std::vector<Block> blocks;
  std::vector<std::int32_t> block_of_row;
  std::vector<std::int32_t> groups;
  std::vector<double> values; ///< shape (group, row of the block, column of the group)

  void append(const BlockSum& sum, std::size_t num_rows) {
    Block block{block_of_row.size(), num_rows, groups.size(), groups.size(), values.size()};
    groups.insert(groups.end(), sum.groups().begin(), sum.groups().end());
    values.insert(values.end(), sum.values().begin(), sum.values().end());
    block.groups_end = groups.size();
    block_of_row.resize(block_of_row.size() + num_rows, static_cast<std::int32_t>(blocks.size()));
    blocks.push_back(block);
  }
};

/// Returns the number of rows from `row` on, before `end`, that have the same columns, as those of a node have.
std::size_t num_alike(const SparseMatrix& A, std::size_t row, std::size_t end) {
  constexpr std::size_t most = 8;
  const auto columns = [&](std::size_t number) {
    const auto entries = row_entries(A, number);
    return std::span(A.columns).subspan(entries.begin, entries.end - entries.begin);
  };
  std::size_t count = 1;
  while (count < most && row + count < end && std::ranges::equal(columns(row), columns(row + count))) ++count;
  return count;
}

/// Factors of a block of rows with the same columns: entry k of each.
void find_factors(const SparseMatrix& A, std::size_t first_row, std::size_t k, std::vector<double>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = A.values[row_entries(A, first_row + i).begin + k];
}

/// Sums the rows begin .. end - 1 of A B, rows with the same columns together, and calls take(sum, number of rows).
/// `sum`: of the groups of B.
template <class Take>
void sum_rows(const SparseMatrix& A, const SparseMatrix& B, BlockSum& sum, std::int64_t begin, std::int64_t end,
              const Take& take) {
  std::vector<double> factors;
  for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); row += factors.size()) {
    factors.resize(num_alike(A, row, static_cast<std::size_t>(end)));
    sum.restart(factors.size());
    const auto entries = row_entries(A, row);
    for (std::size_t k = 0; k < entries.end - entries.begin; ++k) {
      find_factors(A, row, k, factors);
      sum.add_multiples(factors, B, static_cast<std::size_t>(A.columns[entries.begin + k]));
    }
    take(sum, factors.size());
  }
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
  const ColumnGroups groups(B);
  const auto rows = row_parts(A.num_rows());
  std::vector<SparseMatrix> parts(static_cast<std::size_t>(rows.count()));
  rows.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = parts[static_cast<std::size_t>(number)];
    part.row_offsets.push_back(0);
    BlockSum sum(groups);
    sum_rows(A, B, sum, begin, end, [&part](BlockSum& block, std::size_t) { block.append_sorted(part); });
  });
  return stacked(std::move(parts), B.num_columns);
}

double estimate_entries(const SparseMatrix& A, const SparseMatrix& B) {
  constexpr std::int64_t most_rows = 1000;
  const std::int64_t step = std::max<std::int64_t>(1, A.num_rows() / most_rows);
  const ColumnGroups groups(B);
  BlockSum sum(groups);
  double entries = 0, rows = 0;
  for (std::int64_t row = 0; row < A.num_rows(); row += step, ++rows)
    sum_rows(A, B, sum, row, row + 1,
             [&entries](const BlockSum& block, std::size_t) { entries += static_cast<double>(block.values().size()); });
  return rows == 0 ? 0 : entries / rows * static_cast<double>(A.num_rows());
}

SparseMatrix galerkin_product(const SparseMatrix& A, const SparseMatrix& P, const SparseMatrix& P_transposed) {
  if (A.num_rows() != A.num_columns || P.num_rows() != A.num_columns || P_transposed.num_rows() != P.num_columns ||
      P_transposed.num_columns != P.num_rows())
    throw base::InputError(fmt::format("a matrix of {} rows and {} columns has no product with a prolongation of {} "
                                       "rows and {} columns",
                                       A.num_rows(), A.num_columns, P.num_rows(), P.num_columns));
  // A P is read once, row by row: it stays in the parts that have computed it.
  const ColumnGroups groups(P);
  const auto rows = row_parts(A.num_rows());
  std::vector<UnsortedRows> parts(static_cast<std::size_t>(rows.count()));
  rows.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = parts[static_cast<std::size_t>(number)];
    BlockSum sum(groups);
    sum_rows(A, P, sum, begin, end,
             [&part](const BlockSum& block, std::size_t num_rows) { part.append(block, num_rows); });
  });
  // Rows of P^T that are columns of one group have the same entries, so that they are summed together.
  const auto length = static_cast<std::size_t>(rows.end(0));
  const auto coarse = row_parts(groups.count());
  std::vector<SparseMatrix> sums(static_cast<std::size_t>(coarse.count()));
  coarse.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    auto& part = sums[static_cast<std::size_t>(number)];
    part.row_offsets.push_back(0);
    BlockSum sum(groups);
    std::vector<double> factors;
    for (auto group = static_cast<std::int32_t>(begin); group < static_cast<std::int32_t>(end); ++group) {
      const auto first = static_cast<std::size_t>(groups.firsts[static_cast<std::size_t>(group)]);
      factors.resize(groups.width(group));
      sum.restart(factors.size());
      const auto entries = row_entries(P_transposed, first);
      for (std::size_t k = 0; k < entries.end - entries.begin; ++k) {
        find_factors(P_transposed, first, k, factors);
        const auto fine = static_cast<std::size_t>(P_transposed.columns[entries.begin + k]);
        const auto& of_part = parts[fine / length];
        const std::size_t local = fine % length;
        const auto& block = of_part.blocks[static_cast<std::size_t>(of_part.block_of_row[local])];
        const double* values = of_part.values.data() + block.values_begin;
        for (auto e = block.groups_begin; e < block.groups_end; ++e) {
          const std::size_t width = groups.width(of_part.groups[e]);
          sum.add(of_part.groups[e], factors, values + (local - block.first_row) * width);
          values += block.num_rows * width;
        }
      }
      sum.append_sorted(part);
    }
  });
  return stacked(std::move(sums), P.num_columns);
}

ColumnGroups::ColumnGroups(const SparseMatrix& A) : of_column(static_cast<std::size_t>(A.num_columns), 0) {
  // Columns belong together where each entry of one has one of the other beside it.
  std::vector<std::int64_t> all(of_column.size() + 1, 0), pairs(of_column.size() + 1, 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(A.num_rows()); ++row) {
    const auto entries = row_entries(A, row);
    for (auto k = entries.begin; k < entries.end; ++k) {
      const auto column = static_cast<std::size_t>(A.columns[k]);
      ++all[column];
      if (k + 1 < entries.end && A.columns[k + 1] == A.columns[k] + 1) ++pairs[column];
    }
  }
  for (std::size_t column = 0; column < of_column.size(); ++column) {
    if (column == 0 || pairs[column - 1] != all[column - 1] || pairs[column - 1] != all[column])
      firsts.push_back(static_cast<std::int32_t>(column));
    of_column[column] = static_cast<std::int32_t>(firsts.size()) - 1;
  }
  firsts.push_back(static_cast<std::int32_t>(A.num_columns));
}

void BlockSum::append_sorted(SparseMatrix& to) {
  order_.clear();
  for (std::size_t i = 0; i < found_.size(); ++i) order_.emplace_back(found_[i], static_cast<std::int32_t>(i));
  std::ranges::sort(order_);
  for (std::size_t row = 0; row < num_rows_; ++row) {
    for (const auto& [group, place] : order_) {
      const std::size_t width = groups_.width(group);
      const double* values = values_.data() + begins_[static_cast<std::size_t>(place)] + row * width;
      for (std::size_t j = 0; j < width; ++j)
        to.columns.push_back(groups_.firsts[static_cast<std::size_t>(group)] + static_cast<std::int32_t>(j));
      to.values.insert(to.values.end(), values, values + width);
    }
    to.row_offsets.push_back(to.num_entries());
  }
}

} // namespace rafter::solvers
