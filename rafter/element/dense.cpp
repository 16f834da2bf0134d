// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/dense.hpp>

#include <algorithm>
#include <cmath>

#include <rafter/base/error.hpp>

namespace rafter::element {
namespace {

/// row[i] -= factor * pivot[i]
void eliminate(double factor, std::span<const double> pivot, std::span<double> row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] -= factor * pivot[i];
}

constexpr std::size_t tile_rows = 4, tile_cols = 4;

/// Rows of one matrix and columns of another, whose sums stay in registers.
struct Tile {
  const double *left, *right;
  std::size_t depth, cols; ///< entries of a row of the left matrix, of the right one

  template <std::size_t Rows, std::size_t Cols> void multiply(double* result) const {
    double sums[Rows][Cols] = {};
    for (std::size_t k = 0; k < depth; ++k)
      for (std::size_t i = 0; i < Rows; ++i)
        for (std::size_t j = 0; j < Cols; ++j) sums[i][j] += left[i * depth + k] * right[k * cols + j];
    for (std::size_t i = 0; i < Rows; ++i)
      for (std::size_t j = 0; j < Cols; ++j) result[i * cols + j] = sums[i][j];
  }
};

double normalise(std::vector<double>& x) {
  double norm = 0;
  for (const double value : x) norm += value * value;
  norm = std::sqrt(norm);
  for (double& value : x) value /= norm;
  return norm;
}

} // namespace

std::vector<double> identity(int size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = 1;
  return matrix;
}

std::vector<double> inverse(std::vector<double> matrix, int size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> result(n * n, 0.);
  for (std::size_t i = 0; i < n; ++i) result[i * n + i] = 1;
  const auto row = [n](std::vector<double>& a, std::size_t i) { return std::span(a).subspan(i * n, n); };
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(matrix[i * n + k]) > std::abs(matrix[pivot * n + k])) pivot = i;
    const double value = matrix[pivot * n + k];
    if (!(std::abs(value) > 0)) throw base::InternalError("element: singular matrix");
    std::ranges::swap_ranges(row(matrix, k), row(matrix, pivot));
    std::ranges::swap_ranges(row(result, k), row(result, pivot));
    for (double& entry : row(matrix, k)) entry /= value;
    for (double& entry : row(result, k)) entry /= value;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = matrix[i * n + k];
      eliminate(factor, row(matrix, k).subspan(k), row(matrix, i).subspan(k));
      eliminate(factor, row(result, k), row(result, i));
    }
  }
  return result;
}

std::vector<double> transposed(std::span<const double> matrix, int cols) {
  const auto n = static_cast<std::size_t>(cols), m = matrix.size() / n;
  std::vector<double> result(matrix.size());
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) result[j * m + i] = matrix[i * n + j];
  return result;
}

std::vector<double> multiplied(std::span<const double> left, std::span<const double> right, int inner) {
  const auto depth = static_cast<std::size_t>(inner), rows = left.size() / depth, cols = right.size() / depth;
  std::vector<double> result(rows * cols);
  const auto tile = [&](std::size_t row, std::size_t col) {
    return Tile{&left[row * depth], &right[col], depth, cols};
  };
  std::size_t col = 0;
  for (; col + tile_cols <= cols; col += tile_cols) { // the columns stay near for all rows
    std::size_t row = 0;
    for (; row + tile_rows <= rows; row += tile_rows)
      tile(row, col).multiply<tile_rows, tile_cols>(&result[row * cols + col]);
    for (; row < rows; ++row) tile(row, col).multiply<1, tile_cols>(&result[row * cols + col]);
  }
  for (; col < cols; ++col)
    for (std::size_t row = 0; row < rows; ++row) tile(row, col).multiply<1, 1>(&result[row * cols + col]);
  return result;
}

double spectral_norm(std::span<const double> matrix, int size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 1 + 0.5 * std::sin(1 + 7. * static_cast<double>(i)); // in no eigenspace
  normalise(x);
  double squared = 0;
  for (int iteration = 0; iteration < 200; ++iteration) {
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = 0;
      for (std::size_t j = 0; j < n; ++j) y[i] += matrix[i * n + j] * x[j];
    }
    std::ranges::fill(x, 0.);
    for (std::size_t i = 0; i < n; ++i) eliminate(-y[i], matrix.subspan(i * n, n), x);
    const double previous = squared;
    squared = normalise(x);
    if (std::abs(squared - previous) < 1e-4 * squared) break;
  }
  return std::sqrt(squared);
}

} // namespace rafter::element
