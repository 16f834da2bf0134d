// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/inverse_matrix.hpp>

#include <numeric>

#include <fmt/format.h>

namespace rafter::solvers {
namespace {

op::SparseMatrix inverse_of(std::int64_t size, const Factors& factors) {
  const auto n = static_cast<std::size_t>(size);
  op::SparseMatrix result{.num_columns = size,
                          .row_offsets = std::vector<std::int64_t>(n + 1),
                          .columns = std::vector<std::int32_t>(n * n),
                          .values = std::vector<double>(n * n)};
  std::vector<double> column(n);
  for (std::size_t j = 0; j < n; ++j) {
    std::ranges::fill(column, 0.0);
    column[j] = 1;
    factors.solve(column);
    for (std::size_t i = 0; i < n; ++i) result.values[i * n + j] = column[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    result.row_offsets[i + 1] = static_cast<std::int64_t>((i + 1) * n);
    std::iota(result.columns.begin() + result.row_offsets[i], result.columns.begin() + result.row_offsets[i + 1], 0);
  }
  return result;
}

} // namespace

InverseMatrix::InverseMatrix(const std::shared_ptr<device::Device>& device, std::int64_t size, const Factors& factors)
    : size_(size), info_(*factors.factors()), product_(op::make_sliced_product(device, inverse_of(size, factors))) {}

std::string InverseMatrix::description() const {
  return fmt::format("inverse of the matrix ({:.3g} MB on the device)", 12e-6 * static_cast<double>(size_ * size_));
}

} // namespace rafter::solvers
