// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/box_meshes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include <rafter/element/element.hpp>

namespace rafter::test {

const std::vector<std::string>& box_shapes() {
  static const std::vector<std::string> shapes{"interval",   "triangle", "quadrilateral", "tetrahedron",
                                               "hexahedron", "prism",    "pyramid",       "mixed"};
  return shapes;
}

int box_dimension(const std::string& shape) {
  return shape == "mixed" ? 3 : element::dimension(element::shape_from_name(shape));
}

mesh::Mesh box(const std::string& shape, int n, int geometry_degree) {
  std::vector<int> cells{3, 2, 2};
  if (n > 0) cells.assign(3, n);
  if (shape == "mixed") cells[0] = std::max(cells[0], 4); // a mixed box needs one layer of each shape
  cells.resize(static_cast<std::size_t>(box_dimension(shape)));
  std::vector<double> size{1.0, 0.75, 1.25};
  size.resize(cells.size());
  return mesh::make_box({.cells = cells, .size = size, .shape = shape, .degree = geometry_degree});
}

mesh::Mesh curved_box(const std::string& shape, int geometry_degree, int n) {
  mesh::Mesh mesh = box(shape, n, geometry_degree);
  mesh.source += " (curved, degree " + std::to_string(geometry_degree) + ")";
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t i = 0; i < mesh.points.size(); i += dim) {
    const std::vector<double> x(mesh.points.begin() + static_cast<std::ptrdiff_t>(i),
                                mesh.points.begin() + static_cast<std::ptrdiff_t>(i + dim));
    for (std::size_t d = 0; d < dim; ++d) mesh.points[i + d] += 0.05 * std::sin(3 * x[(d + 1) % dim] + x[d]);
  }
  return mesh;
}

int find_point(std::span<const double> points, std::span<const double> x) {
  const std::size_t dim = x.size();
  for (std::size_t i = 0; i * dim < points.size(); ++i) {
    double distance = 0;
    for (std::size_t d = 0; d < dim; ++d) distance = std::max(distance, std::abs(points[i * dim + d] - x[d]));
    if (distance < 1e-9) return static_cast<int>(i);
  }
  return -1;
}

double determinant(const std::vector<double>& m, std::size_t dim) {
  if (dim == 1) return m[0];
  if (dim == 2) return m[0] * m[3] - m[1] * m[2];
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

std::vector<int> frame_of(element::Shape shape) {
  using element::Shape;
  if (shape == Shape::interval) return {0, 1};
  if (shape == Shape::triangle || shape == Shape::quadrilateral) return {0, 1, 2};
  return {0, 1, 2, shape == Shape::prism || shape == Shape::tetrahedron ? 3 : 4};
}

mesh::Mesh sheared(mesh::Mesh mesh) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  mesh.source += " (sheared)";
  for (std::size_t i = 0; i < mesh.points.size(); i += dim) mesh.points[i] += 0.3 * mesh.points[i + dim - 1];
  return mesh;
}

std::vector<Symmetry> symmetries(element::Shape shape) {
  const auto dim = static_cast<std::size_t>(element::dimension(shape));
  const auto vertices = element::reference_vertices(shape);
  const auto vertex = [&](int v) { return vertices.subspan(static_cast<std::size_t>(v) * dim, dim); };
  const int n = element::num_vertices(shape);
  std::vector<Symmetry> found;
  int tuples = 1;
  for (std::size_t i = 0; i <= dim; ++i) tuples *= n;
  for (int tuple = 0; tuple < tuples; ++tuple) {
    std::vector<int> images;
    for (int rest = tuple; images.size() <= dim; rest /= n) images.push_back(rest % n);
    // The origin of the frame has the coordinates -1, and its axes have length 2.
    Symmetry map{.shift = {vertex(images[0]).begin(), vertex(images[0]).end()}, .columns = {}};
    for (std::size_t d = 0; d < dim; ++d)
      for (std::size_t a = 0; a < dim; ++a)
        map.columns.push_back((vertex(images[d + 1])[a] - vertex(images[0])[a]) / 2);
    for (std::size_t d = 0; d < dim; ++d)
      for (std::size_t a = 0; a < dim; ++a) map.shift[a] += map.columns[d * dim + a];
    bool is_symmetry = determinant(map.columns, dim) > 1e-9;
    for (int v = 0; v < n && is_symmetry; ++v) is_symmetry = find_point(vertices, map.image(vertex(v))) >= 0;
    if (is_symmetry) found.push_back(std::move(map));
  }
  return found;
}

std::vector<int> turned_rows(std::span<const double> points, const Symmetry& turn) {
  const std::size_t dim = turn.shift.size();
  std::vector<int> rows;
  for (std::size_t i = 0; i * dim < points.size(); ++i) {
    rows.push_back(find_point(points, turn.image(points.subspan(i * dim, dim))));
    if (rows.back() < 0) throw std::logic_error("the points are not symmetric under this turn");
  }
  return rows;
}

bool keeps(const Symmetry& turn, mesh::Axes axes) {
  const int dim = static_cast<int>(turn.shift.size());
  for (int d = 0; d < dim; ++d)
    for (int a = 0; a < dim; ++a)
      if (turn.columns[static_cast<std::size_t>(d * dim + a)] != 0 && axes.has(d) != axes.has(a)) return false;
  return true;
}

mesh::Mesh scrambled(const mesh::Mesh& original, unsigned seed, mesh::Axes axes) {
  std::mt19937 random(seed);
  mesh::Mesh mesh; // a copy would share the topology that has been computed already
  mesh.tdim = original.tdim;
  mesh.gdim = original.gdim;
  mesh.num_vertices = original.num_vertices;
  mesh.points = original.points;
  mesh.groups = original.groups;
  mesh.tagged_facets = original.tagged_facets;
  mesh.physical_groups = original.physical_groups;
  mesh.source = original.source + " (scrambled)";
  std::vector<std::int32_t> renumbered(static_cast<std::size_t>(mesh.num_vertices));
  std::iota(renumbered.begin(), renumbered.end(), 0);
  std::shuffle(renumbered.begin(), renumbered.end(), random);
  for (auto& facet : mesh.tagged_facets)
    for (auto& v : facet.vertices)
      if (v >= 0) v = renumbered[static_cast<std::size_t>(v)];
  for (auto& group : mesh.groups) {
    group.own_nodes =
        std::vector<std::int32_t>(group.nodes().begin(), group.nodes().end()); // points keep their numbers
    for (auto& v : group.vertices) v = renumbered[static_cast<std::size_t>(v)];
    auto turns = symmetries(group.shape);
    std::erase_if(turns, [&](const Symmetry& turn) { return !keeps(turn, axes); });
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    const auto nodes = mesh::geometry_element(group)->nodes();
    const std::size_t num_nodes = nodes.size() / static_cast<std::size_t>(mesh.tdim);
    for (std::size_t cell = 0; cell < static_cast<std::size_t>(group.num_cells()); ++cell) {
      const Symmetry& turn = turns[random() % turns.size()];
      reorder(std::span(group.vertices).subspan(cell * num_vertices, num_vertices),
              turned_rows(element::reference_vertices(group.shape), turn));
      reorder(std::span(group.own_nodes).subspan(cell * num_nodes, num_nodes), turned_rows(nodes, turn));
    }
  }
  return mesh;
}

double polynomial(std::span<const double> x, int degree, std::size_t c) {
  double sum = 0.3 + 0.1 * static_cast<double>(c);
  for (std::size_t d = 0; d < x.size(); ++d) sum += (0.5 - 0.3 * static_cast<double>(d + c)) * x[d];
  double value = 1;
  for (int i = 0; i < degree; ++i) value *= sum;
  return value;
}

} // namespace rafter::test
