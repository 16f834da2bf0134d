// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/reference_matrices.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace rafter::kernel {

namespace {

std::size_t at(const ReferenceMatrix& matrix, int r, int k) { return static_cast<std::size_t>(r * matrix.cols + k); }

} // namespace

ReferenceMatrix differentiation_matrix(std::span<const double> points) {
  const int n = static_cast<int>(points.size());
  std::vector<double> barycentric(points.size(), 1.0);
  for (std::size_t j = 0; j < points.size(); ++j)
    for (std::size_t k = 0; k < points.size(); ++k)
      if (k != j) barycentric[j] /= points[j] - points[k];
  ReferenceMatrix matrix{"D", n, n, std::vector<double>(points.size() * points.size(), 0.0), Symmetry::none, false};
  for (int r = 0; r < n; ++r) {
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      if (k == r) continue;
      const auto row = static_cast<std::size_t>(r), col = static_cast<std::size_t>(k);
      const double entry = barycentric[col] / barycentric[row] / (points[row] - points[col]);
      matrix.values[at(matrix, r, k)] = entry;
      sum += entry;
    }
    matrix.values[at(matrix, r, r)] = -sum;
  }
  return matrix;
}

ReferenceMatrix table_1d(const element::Element& element, int axis, std::span<const double> points, int derivative) {
  const auto table = element.tabulate_1d(axis, points);
  ReferenceMatrix matrix{derivative == 0 ? "B" : "G", table.num_points, table.num_dofs, {}, Symmetry::none, false};
  const auto size = static_cast<std::ptrdiff_t>(table.num_points) * table.num_dofs;
  matrix.values.assign(table.values.begin() + derivative * size, table.values.begin() + (derivative + 1) * size);
  return with_symmetry(std::move(matrix));
}

double slot_value(const element::Table& table, std::span<const double> frame, int slot, int point, int dof) {
  if (slot < 0) return table(0, point, dof);
  double sum = 0;
  for (int a = 0; a < table.dim; ++a)
    sum += frame[static_cast<std::size_t>(slot * table.dim + a)] * table(a + 1, point, dof);
  return sum;
}

ReferenceMatrix weighted_transpose(const ReferenceMatrix& matrix, std::span<const double> weights) {
  ReferenceMatrix result{matrix.name + "T", matrix.cols,   matrix.rows, std::vector<double>(matrix.values.size()),
                         Symmetry::none,    matrix.is_data};
  for (int r = 0; r < matrix.rows; ++r)
    for (int k = 0; k < matrix.cols; ++k)
      result.values[at(result, k, r)] = matrix(r, k) * weights[static_cast<std::size_t>(r)];
  for (const auto& block : matrix.blocks) result.blocks.push_back({block.cols, block.rows});
  return result.is_data ? result : with_symmetry(std::move(result));
}

ReferenceMatrix with_symmetry(ReferenceMatrix matrix) {
  double largest = 0;
  for (const double value : matrix.values) largest = std::max(largest, std::fabs(value));
  for (const auto& [symmetry, sign] : {std::pair{Symmetry::even, 1.0}, std::pair{Symmetry::odd, -1.0}}) {
    bool holds = true;
    for (int r = 0; r < matrix.rows && holds; ++r)
      for (int k = 0; k < matrix.cols && holds; ++k)
        holds = std::fabs(matrix(r, k) - sign * matrix(matrix.rows - 1 - r, matrix.cols - 1 - k)) <= 1e-12 * largest;
    if (!holds) continue;
    auto exact = matrix;
    for (int r = 0; r < matrix.rows; ++r)
      for (int k = 0; k < matrix.cols; ++k)
        exact.values[at(exact, r, k)] = 0.5 * (matrix(r, k) + sign * matrix(matrix.rows - 1 - r, matrix.cols - 1 - k));
    exact.symmetry = symmetry;
    return exact;
  }
  return matrix;
}

bool is_identity(const ReferenceMatrix& matrix) {
  if (matrix.rows != matrix.cols) return false;
  for (int r = 0; r < matrix.rows; ++r)
    for (int k = 0; k < matrix.cols; ++k)
      if (std::fabs(matrix(r, k) - (r == k ? 1 : 0)) > 1e-13) return false;
  return true;
}

double facet_area_ratio(element::Shape shape, int facet) {
  const int dim = element::dimension(shape);
  if (dim == 1) return 1;
  const auto vertices = element::entity_vertices(shape, dim - 1, facet);
  const auto coordinates = element::reference_vertices(shape);
  const auto edge = [&](std::size_t v) {
    std::array<double, 3> e{0, 0, 0};
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a)
      e[a] = coordinates[static_cast<std::size_t>(vertices[v] * dim) + a] -
             coordinates[static_cast<std::size_t>(vertices[0] * dim) + a];
    return e;
  };
  const auto e = edge(1);
  if (dim == 2) return std::hypot(e[0], e[1]) / 2;
  const auto f = edge(2);
  return std::hypot(e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]) / 4;
}

} // namespace rafter::kernel
