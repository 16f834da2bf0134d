// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/cell_geometry.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <rafter/kernel/qfunction.hpp>

namespace rafter::op {
namespace {

/// Local vertex at given corner bits of the unit steps from vertex 0 (-1 when the shape has none).
int vertex_at(element::Shape shape, int mask) {
  const int dim = element::dimension(shape);
  const auto vertices = element::reference_vertices(shape);
  for (int v = 0; v < element::num_vertices(shape); ++v) {
    bool matches = true;
    for (int a = 0; a < dim; ++a)
      matches = matches && vertices[static_cast<std::size_t>(v * dim + a)] == ((mask >> a & 1) != 0 ? 1.0 : -1.0);
    if (matches) return v;
  }
  return -1;
}

/// x(X) = sum over modes; the rows of the result turn vertex values into mode coefficients, shape (mode, vertex).
std::vector<double> vertices_to_modes(element::Shape shape, mesh::MapKind map) {
  const int dim = element::dimension(shape);
  const int num_vertices = element::num_vertices(shape);
  const auto modes = kernel::map_modes(map, dim);
  std::vector<double> matrix(modes.size() * static_cast<std::size_t>(num_vertices), 0.0);
  const auto entry = [&](std::size_t mode, int vertex) -> double& {
    return matrix[mode * static_cast<std::size_t>(num_vertices) + static_cast<std::size_t>(vertex)];
  };
  if (map == mesh::MapKind::multilinear) { // 2^-d sum_v prod_{a in mode} X_a(v) x_v
    const auto vertices = element::reference_vertices(shape);
    for (std::size_t m = 0; m < modes.size(); ++m)
      for (int v = 0; v < num_vertices; ++v) {
        double sign = std::ldexp(1.0, -dim);
        for (int a = 0; a < dim; ++a)
          if ((modes[m] >> a & 1) != 0) sign *= vertices[static_cast<std::size_t>(v * dim + a)];
        entry(m, v) = sign;
      }
    return matrix;
  }
  const int origin = vertex_at(shape, 0);
  entry(0, origin) = 1; // x_0 = c_0 - sum_b c_b, c_b = (x_b - x_0) / 2
  for (std::size_t m = 1; m < modes.size(); ++m) {
    const int vertex = vertex_at(shape, modes[m]);
    entry(m, vertex) += 0.5;
    entry(m, origin) -= 0.5;
    entry(0, vertex) += 0.5;
    entry(0, origin) -= 0.5;
  }
  return matrix;
}

} // namespace

CellGeometry::CellGeometry(const mesh::Mesh& mesh, const BatchedCells& cells, Kind kind)
    : kind_(kind), points_(mesh.points.data()), group_(mesh.groups[static_cast<std::size_t>(cells.group)]),
      cells_(cells.cells), dim_(static_cast<std::size_t>(mesh.gdim)),
      cells_per_batch_(static_cast<std::size_t>(cells.cells_per_batch)) {
  const auto element = mesh::geometry_element(group_);
  num_nodes_ = static_cast<std::size_t>(element->num_dofs());
  if (kind == Kind::nodes) {
    nodes_.resize(num_nodes_);
    std::iota(nodes_.begin(), nodes_.end(), std::size_t{0});
    return;
  }
  const int num_vertices = element::num_vertices(cells.shape);
  for (int v = 0; v < num_vertices; ++v) nodes_.push_back(static_cast<std::size_t>(element->entity_dofs(0, v)[0]));
  const auto matrix = vertices_to_modes(cells.shape, cells.map);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    if (i % nodes_.size() == 0) modes_.emplace_back();
    if (matrix[i] != 0) modes_.back().push_back({i % nodes_.size(), matrix[i]});
  }
}

std::size_t CellGeometry::numbers_per_batch() const {
  return (kind_ == Kind::nodes ? nodes_.size() : modes_.size()) * dim_ * cells_per_batch_;
}

/// Points at the nodes of the cells of a batch, shape (node, axis, cell).
template <std::size_t dim> void CellGeometry::gather(std::int32_t batch, double* points) const {
  // The mesh has its cells and nodes in another order, which no processor foresees.
  constexpr std::size_t cells_ahead = 16, points_ahead = 8;
  const auto first = static_cast<std::size_t>(batch) * cells_per_batch_;
  const auto* all_nodes = group_.nodes().data();
  const auto nodes_of = [&](std::size_t i) {
    return all_nodes + static_cast<std::size_t>(cells_[std::min(i, cells_.size() - 1)]) * num_nodes_;
  };
  for (std::size_t i = 0; i < cells_per_batch_; ++i) {
    __builtin_prefetch(nodes_of(first + i + cells_ahead));
    const auto* next = nodes_of(first + i + points_ahead);
    for (const auto n : nodes_) __builtin_prefetch(points_ + static_cast<std::size_t>(next[n]) * dim);
    const auto* nodes = nodes_of(first + i);
    double* to = points + i;
    for (const auto n : nodes_) {
      const double* x = points_ + static_cast<std::size_t>(nodes[n]) * dim;
      for (std::size_t a = 0; a < dim; ++a, to += cells_per_batch_) *to = x[a];
    }
  }
}

void CellGeometry::write(std::int32_t batch, std::vector<double>& points, double* to) const {
  const auto gather_points = [&](double* to_points) {
    if (dim_ == 3) return gather<3>(batch, to_points);
    return dim_ == 2 ? gather<2>(batch, to_points) : gather<1>(batch, to_points);
  };
  if (kind_ == Kind::nodes) return gather_points(to);
  points.resize(nodes_.size() * dim_ * cells_per_batch_);
  gather_points(points.data());
  const std::size_t per_vertex = dim_ * cells_per_batch_;
  for (const auto& mode : modes_) {
    bool is_first = true;
    for (const auto& [vertex, weight] : mode) {
      const double* from = points.data() + vertex * per_vertex;
      for (std::size_t i = 0; i < per_vertex; ++i) to[i] = (is_first ? 0.0 : to[i]) + weight * from[i];
      is_first = false;
    }
    to += per_vertex;
  }
}

} // namespace rafter::op
