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

std::vector<double> transposed(std::span<const double> matrix, int size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> result(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result[j * n + i] = matrix[i * n + j];
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
