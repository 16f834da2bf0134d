// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/dense.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <rafter/base/error.hpp>

namespace rafter::element {
namespace {

/// row[i] -= factor * pivot[i]
void eliminate(double factor, std::span<const double> pivot, std::span<double> row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] -= factor * pivot[i];
}

/// A product of several rows with a few columns that are stored side by side.
struct Panel {
  const double* left; ///< shape (rows, depth)
  std::size_t rows, depth;
  const double* columns; ///< shape (depth, columns)
  double* result;        ///< first entry of the result in a matrix whose rows are `stride` entries apart
  std::size_t stride;
};

constexpr std::size_t registers_per_row = 2;

template <std::size_t Lanes> struct Register { using Type [[gnu::vector_size(Lanes * sizeof(double))]] = double; };

/// Multiplies `Rows` rows at once, and keeps their sums in registers.
template <std::size_t Lanes, std::size_t Rows>
[[gnu::always_inline]] inline void multiply_rows(const Panel& panel, std::size_t row) {
  using Vector = typename Register<Lanes>::Type;
  constexpr std::size_t width = registers_per_row * Lanes;
  const double* left = panel.left + row * panel.depth;
  Vector sums[Rows][registers_per_row] = {};
  for (std::size_t k = 0; k < panel.depth; ++k) {
    Vector columns[registers_per_row];
    std::memcpy(columns, panel.columns + k * width, sizeof(columns));
    for (std::size_t i = 0; i < Rows; ++i)
      for (std::size_t v = 0; v < registers_per_row; ++v) sums[i][v] += left[i * panel.depth + k] * columns[v];
  }
  for (std::size_t i = 0; i < Rows; ++i) std::memcpy(panel.result + (row + i) * panel.stride, sums[i], sizeof(sums[i]));
}

template <std::size_t Lanes> [[gnu::always_inline]] inline void multiply(const Panel& panel) {
  constexpr std::size_t rows_at_once = 4;
  std::size_t row = 0;
  for (; row + rows_at_once <= panel.rows; row += rows_at_once) multiply_rows<Lanes, rows_at_once>(panel, row);
  for (; row < panel.rows; ++row) multiply_rows<Lanes, 1>(panel, row);
}

/// Product for one kind of processor. Products and sums are not fused (CMakeLists.txt), so that all kinds give the same
/// bits.
struct Multiplier {
  std::size_t width; ///< number of columns in a panel
  void (*run)(const Panel& panel);
};
void multiply_in_128_bits(const Panel& panel) { multiply<2>(panel); }
#if defined(__x86_64__)
[[gnu::target("avx2")]] void multiply_in_256_bits(const Panel& panel) { multiply<4>(panel); }
[[gnu::target("avx512f")]] void multiply_in_512_bits(const Panel& panel) { multiply<8>(panel); }
Multiplier multiplier() {
  if (__builtin_cpu_supports("avx512f") != 0) return {registers_per_row * 8, multiply_in_512_bits};
  if (__builtin_cpu_supports("avx2") != 0) return {registers_per_row * 4, multiply_in_256_bits};
  return {registers_per_row * 2, multiply_in_128_bits};
}
#else
Multiplier multiplier() { return {registers_per_row * 2, multiply_in_128_bits}; }
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
  const auto [width, run] = multiplier();
  std::vector<double> columns(depth * width);
  std::size_t col = 0;
  for (; col + width <= cols; col += width) {
    for (std::size_t k = 0; k < depth; ++k)
      std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(k * cols + col), width,
                  columns.begin() + static_cast<std::ptrdiff_t>(k * width));
    run({left.data(), rows, depth, columns.data(), &result[col], cols});
  }
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < depth; ++k)
      for (std::size_t j = col; j < cols; ++j) result[i * cols + j] += left[i * depth + k] * right[k * cols + j];
  return result;
}

double spectral_norm(std::span<const double> matrix, int size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> x(n), y(n);
  // A vector that lies in no eigenspace.
  for (std::size_t i = 0; i < n; ++i) x[i] = 1 + 0.5 * std::sin(1 + 7. * static_cast<double>(i));
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
