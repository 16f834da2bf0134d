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

/// Four rows of a product; `right` has `depth` rows of `cols` entries.
struct FourRows {
  const double *left, *right;
  std::size_t depth, cols;
  double* result; ///< zeros
};
[[gnu::always_inline]] inline void multiply_here(const FourRows& rows) {
  const auto [left, right, depth, cols, r] = rows;
  for (std::size_t k = 0; k < depth; ++k) {
    const double a = left[k], b = left[depth + k], c = left[2 * depth + k], d = left[3 * depth + k];
    const double* row = right + k * cols;
    for (std::size_t j = 0; j < cols; ++j) {
      r[j] += a * row[j];
      r[cols + j] += b * row[j];
      r[2 * cols + j] += c * row[j];
      r[3 * cols + j] += d * row[j];
    }
  }
}
/// Where the processor has longer registers than the library is compiled for. Products and sums are not fused
/// (CMakeLists.txt), so that every processor finds the same bits.
#if defined(__x86_64__)
[[gnu::target("avx512f")]] void multiply_in_512_bits(const FourRows& rows) { multiply_here(rows); }
[[gnu::target("avx2")]] void multiply_in_256_bits(const FourRows& rows) { multiply_here(rows); }
void multiply(const FourRows& rows) {
  if (__builtin_cpu_supports("avx512f") != 0) return multiply_in_512_bits(rows);
  if (__builtin_cpu_supports("avx2") != 0) return multiply_in_256_bits(rows);
  multiply_here(rows);
}
#else
void multiply(const FourRows& rows) { multiply_here(rows); }
#endif

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
  std::vector<double> result(rows * cols, 0.0);
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) multiply({&left[i * depth], right.data(), depth, cols, &result[i * cols]});
  for (; i < rows; ++i)
    for (std::size_t k = 0; k < depth; ++k)
      for (std::size_t j = 0; j < cols; ++j) result[i * cols + j] += left[i * depth + k] * right[k * cols + j];
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
