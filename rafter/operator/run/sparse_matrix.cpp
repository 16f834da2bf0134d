// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/sparse_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>

namespace rafter::op {

double SparseMatrix::operator()(std::int64_t row, std::int64_t column) const {
  const auto begin = columns.begin() + row_offsets[static_cast<std::size_t>(row)],
             end = columns.begin() + row_offsets[static_cast<std::size_t>(row) + 1];
  const auto found = std::lower_bound(begin, end, column);
  return found == end || *found != column ? 0 : values[static_cast<std::size_t>(found - columns.begin())];
}

void SparseMatrix::multiply(std::span<const double> x, std::span<double> y) const {
  if (static_cast<std::int64_t>(x.size()) != num_columns || static_cast<std::int64_t>(y.size()) != num_rows())
    throw base::InputError(fmt::format("a matrix of {} rows and {} columns does not multiply {} numbers into {}",
                                       num_rows(), num_columns, x.size(), y.size()));
  for (std::size_t row = 0; row < y.size(); ++row) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(row_offsets[row]); k < static_cast<std::size_t>(row_offsets[row + 1]); ++k)
      sum += values[k] * x[static_cast<std::size_t>(columns[k])];
    y[row] = sum;
  }
}

SparseMatrix SparseMatrix::restricted(std::span<const EntryRange> ranges) const {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(num_columns), -1);
  SparseMatrix result;
  for (const auto& range : ranges)
    for (auto column = range.begin; column < range.end; ++column)
      numbers[static_cast<std::size_t>(column)] = static_cast<std::int32_t>(result.num_columns++);
  result.row_offsets.push_back(0);
  for (const auto& range : ranges)
    for (auto row = static_cast<std::size_t>(range.begin); row < static_cast<std::size_t>(range.end); ++row) {
      for (auto k = static_cast<std::size_t>(row_offsets[row]); k < static_cast<std::size_t>(row_offsets[row + 1]); ++k)
        if (const auto number = numbers[static_cast<std::size_t>(columns[k])]; number >= 0) {
          result.columns.push_back(number);
          result.values.push_back(values[k]);
        }
      result.row_offsets.push_back(result.num_entries());
    }
  return result;
}

double SparseMatrix::asymmetry() const {
  if (num_rows() != num_columns) return std::numeric_limits<double>::infinity();
  struct Part {
    double difference = 0, largest = 0;
  };
  const base::Parts rows(num_rows());
  std::vector<Part> parts(static_cast<std::size_t>(rows.count()));
  rows.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    Part part; // threads write their results once
    for (auto row = begin; row < end; ++row)
      for (auto k = row_offsets[static_cast<std::size_t>(row)]; k < row_offsets[static_cast<std::size_t>(row) + 1];
           ++k) {
        const auto entry = static_cast<std::size_t>(k);
        part.largest = std::max(part.largest, std::fabs(values[entry]));
        part.difference = std::max(part.difference, std::fabs(values[entry] - (*this)(columns[entry], row)));
      }
    parts[static_cast<std::size_t>(number)] = part;
  });
  Part all;
  for (const auto& part : parts) all = {std::max(all.difference, part.difference), std::max(all.largest, part.largest)};
  return all.largest == 0 ? 0 : all.difference / all.largest;
}

} // namespace rafter::op
