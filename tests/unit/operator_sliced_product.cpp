// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices in slices are those of the compressed rows they come from, on every device.
#include <gtest/gtest.h>

#include <rafter/operator/matrix/sliced_product.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/opencl.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/solve_matrices.hpp>

namespace rafter::test {
namespace {

/// Rows of 0 to 12 entries; the last slice is not full.
op::SparseMatrix random_matrix(std::size_t num_rows, std::int32_t num_columns) {
  op::SparseMatrix result{.num_columns = num_columns, .row_offsets = {0}, .columns = {}, .values = {}};
  for (std::size_t row = 0; row < num_rows; ++row) {
    for (std::int32_t column = static_cast<std::int32_t>(row % 3); column < num_columns; column += 7)
      if (row % 5 != 4 && (row + static_cast<std::size_t>(column)) % 4 != 0) result.columns.push_back(column);
    result.row_offsets.push_back(static_cast<std::int64_t>(result.columns.size()));
  }
  result.values = random_values(result.columns.size(), 1);
  return result;
}

std::vector<std::shared_ptr<device::Device>> devices() {
  std::vector<std::shared_ptr<device::Device>> result{device::make_device("host", 3), device::make_device("checked"),
                                                      std::make_shared<InterpreterDevice>()};
  if (has_opencl()) result.push_back(device::make_device("opencl"));
  return result;
}

TEST(SlicedProduct, IsThatOfTheCompressedRows) {
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::int32_t>{61, 40}, {16, 83}, {1, 1}}) {
    const auto matrix = random_matrix(rows, columns);
    const auto x = random_values(static_cast<std::size_t>(columns), 2), before = random_values(rows, 3);
    std::vector<double> expected(rows);
    matrix.multiply(x, expected);
    for (const auto& device : devices()) {
      const auto product = op::make_sliced_product(device, matrix);
      const auto vector = [&](const std::vector<double>& values) {
        return Vector(device, base::AlignedVector<double>(values.begin(), values.end()));
      };
      const auto in = vector(x);
      auto out = vector(before), sum = vector(before);
      product->run(in, out, false);
      product->run(in, sum, true);
      EXPECT_LE(distance(out.host_read(), expected), 1e-14) << device->name();
      for (std::size_t i = 0; i < rows; ++i) EXPECT_NEAR(sum.host_read()[i], before[i] + expected[i], 1e-14);
    }
  }
}

TEST(SlicedProduct, OfFloatsSumsInDouble) {
  const auto round = [](std::vector<double> values) {
    for (double& value : values) value = static_cast<float>(value);
    return values;
  };
  auto matrix = random_matrix(61, 40);
  matrix.values = round(matrix.values);
  const auto x = round(random_values(40, 2));
  std::vector<double> expected(61);
  matrix.multiply(x, expected);
  for (const auto& device : devices()) {
    const auto product = op::make_sliced_product(device, matrix, schedule::Precision::single_precision);
    const device::SingleVector in(device, base::AlignedVector<float>(x.begin(), x.end()));
    device::SingleVector out(device, expected.size());
    product->run(in, out, false);
    for (std::size_t i = 0; i < expected.size(); ++i) // one rounding: that of the result
      EXPECT_LE(std::abs(out.host_read()[i] - expected[i]), 0x1p-24 * std::abs(expected[i]) + 1e-14) << device->name();
  }
}

} // namespace
} // namespace rafter::test
