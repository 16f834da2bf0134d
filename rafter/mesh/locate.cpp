// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/locate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/geometry_nodes.hpp>

namespace rafter::mesh {
namespace {

constexpr double reference_tolerance = 1e-9; // reference cells have edges of length 2

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Box {
  std::array<double, 3> low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};

  bool holds(std::span<const double> x) const {
    for (std::size_t a = 0; a < x.size(); ++a)
      if (x[a] < low[a] || x[a] > high[a]) return false;
    return true;
  }
  void include(const Box& other) {
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], other.low[a]);
      high[a] = std::max(high[a], other.high[a]);
    }
  }
};

/// Bounds how far curved cells of a geometry element leave the box of their vertices. The map interpolated linearly
/// between the vertices stays in it, since it is an average of them; the rest of the map is at most its largest value
/// at a node times the Lebesgue constant.
class Curvature {
public:
  explicit Curvature(const element::Element& geometry) {
    if (geometry.degree() == 1) return;
    const auto linear = element::make_element(geometry.family(), geometry.shape(), 1);
    from_vertices_ = linear->tabulate(geometry.nodes());
    vertices_ = vertex_nodes(geometry);
    lebesgue_ = lebesgue_constant(geometry);
  }
  /// Returns the largest distance along an axis, of geometry nodes of shape (node, axis).
  double bound(std::span<const double> nodes, std::size_t dim) const {
    if (vertices_.empty()) return 0;
    double largest = 0;
    for (std::size_t i = 0; i < nodes.size() / dim; ++i)
      for (std::size_t a = 0; a < dim; ++a) {
        double rest = nodes[i * dim + a];
        for (std::size_t v = 0; v < vertices_.size(); ++v)
          rest -= from_vertices_(0, static_cast<int>(i), static_cast<int>(v)) *
                  nodes[static_cast<std::size_t>(vertices_[v]) * dim + a];
        largest = std::max(largest, std::abs(rest));
      }
    return lebesgue_ * largest;
  }

private:
  /// Returns the Lebesgue constant, rounded up since it is sampled.
  static double lebesgue_constant(const element::Element& geometry) {
    constexpr double room = 1.5;
    // Nodes of another degree lie between those of the geometry, where the sum is 1.
    const int degree = std::min(element::max_lagrange_degree, 2 * geometry.degree());
    const auto samples =
        element::make_element(geometry.family(), geometry.shape(), degree == geometry.degree() ? degree - 1 : degree);
    const auto table = geometry.tabulate(samples->nodes());
    double largest = 1;
    for (int p = 0; p < table.num_points; ++p) {
      double sum = 0;
      for (int i = 0; i < table.num_dofs; ++i) sum += std::abs(table(0, p, i));
      largest = std::max(largest, sum);
    }
    return room * largest;
  }
  element::Table from_vertices_; ///< linear functions at the geometry nodes
  std::vector<int> vertices_;    ///< geometry nodes at the vertices
  double lebesgue_ = 1;
};

/// The map of one cell: coordinates of its geometry nodes, shape (node, axis).
struct CellMap {
  const element::Element& geometry;
  std::vector<double> nodes;
  std::size_t dim;
  const Curvature& curvature;

  double size() const {
    double result = 0;
    for (std::size_t i = dim; i < nodes.size(); ++i) result = std::max(result, std::abs(nodes[i] - nodes[i % dim]));
    return result;
  }

  /// Returns how far outside, in reference coordinates, a point of the cell may seem to be: coordinates far from the
  /// origin are rounded to parts of their own size, not of the cell's.
  double tolerance() const {
    double largest = 0;
    for (const double coordinate : nodes) largest = std::max(largest, std::abs(coordinate));
    return std::max(reference_tolerance, 256 * std::numeric_limits<double>::epsilon() * largest / size());
  }

  /// Holds the cell.
  Box box() const {
    Box result;
    const double margin = tolerance() * size() + curvature.bound(nodes, dim);
    for (std::size_t a = 0; a < dim; ++a)
      for (std::size_t i = a; i < nodes.size(); i += dim) {
        result.low[a] = std::min(result.low[a], nodes[i] - margin);
        result.high[a] = std::max(result.high[a], nodes[i] + margin);
      }
    return result;
  }

  /// x - F(X), shape (axis), and J, shape (axis, reference axis).
  void evaluate(std::span<const double> x, std::span<const double> X, std::vector<double>& residual,
                std::vector<double>& jacobian) const {
    const auto table = geometry.tabulate(X);
    residual.assign(x.begin(), x.end());
    jacobian.assign(dim * dim, 0.0);
    for (int i = 0; i < table.num_dofs; ++i)
      for (std::size_t a = 0; a < dim; ++a) {
        const double coordinate = nodes[static_cast<std::size_t>(i) * dim + a];
        residual[a] -= table(0, 0, i) * coordinate;
        for (std::size_t b = 0; b < dim; ++b)
          jacobian[a * dim + b] += table(1 + static_cast<int>(b), 0, i) * coordinate;
      }
  }
};

std::vector<double> centre(element::Shape shape) {
  const auto vertices = element::reference_vertices(shape);
  const auto dim = static_cast<std::size_t>(element::dimension(shape));
  std::vector<double> result(dim, 0.0);
  for (std::size_t i = 0; i < vertices.size(); ++i)
    result[i % dim] += vertices[i] / static_cast<double>(element::num_vertices(shape));
  return result;
}

/// Reference cells are convex: inside is behind all facets.
bool is_inside(element::Shape shape, std::span<const double> X, double tolerance) {
  const auto vertices = element::reference_vertices(shape);
  const auto dim = X.size();
  for (int f = 0; f < element::num_facets(shape); ++f) {
    const auto normal = element::reference_normal(shape, f);
    const auto corner = static_cast<std::size_t>(element::entity_vertices(shape, static_cast<int>(dim) - 1, f)[0]);
    double distance = 0;
    for (std::size_t a = 0; a < dim; ++a) distance += (X[a] - vertices[corner * dim + a]) * normal[a];
    if (!(distance <= tolerance)) return false;
  }
  return true;
}

/// J^-1 residual by Cramer's rule; not finite for a singular J.
std::array<double, 3> newton_step(std::span<const double> jacobian, std::span<const double> residual) {
  const std::size_t dim = residual.size();
  using Column = std::array<double, 3>;
  std::array<Column, 3> columns{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  Column right{};
  for (std::size_t a = 0; a < dim; ++a) {
    right[a] = residual[a];
    for (std::size_t b = 0; b < dim; ++b) columns[b][a] = jacobian[a * dim + b];
  }
  const auto det = [](const Column& u, const Column& v, const Column& w) {
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
  };
  const auto& [u, v, w] = columns;
  const double all = det(u, v, w);
  return {det(right, v, w) / all, det(u, right, w) / all, det(u, v, right) / all};
}

/// Reference coordinates of x; nothing where Newton's method does not find any.
std::optional<std::vector<double>> inverse_map(const CellMap& map, element::Shape shape, std::span<const double> x) {
  auto X = centre(shape);
  const double rounding =
      64 * std::numeric_limits<double>::epsilon() *
      (map.size() + std::abs(*std::ranges::max_element(x, {}, [](double c) { return std::abs(c); })));
  std::vector<double> residual, jacobian;
  for (int iteration = 0; iteration < 30; ++iteration) {
    map.evaluate(x, X, residual, jacobian);
    const double error = std::abs(*std::ranges::max_element(residual, {}, [](double c) { return std::abs(c); }));
    if (error <= rounding) return X;
    if (!std::isfinite(error)) return std::nullopt;
    const auto step = newton_step(jacobian, residual);
    for (std::size_t a = 0; a < map.dim; ++a) X[a] = std::clamp(X[a] + step[a], -4.0, 4.0); // stays near the cell
  }
  return std::nullopt;
}

/// The geometry of the cells of a group in space.
struct GroupGeometry {
  explicit GroupGeometry(const CellGroup& group) : element(geometry_element(group)), curvature(*element) {}
  std::shared_ptr<const element::Element> element;
  Curvature curvature;
};

CellMap map_of(const Mesh& mesh, const CellGroup& group, const GroupGeometry& geometry, std::int32_t cell) {
  const auto dim = static_cast<std::size_t>(mesh.gdim), count = static_cast<std::size_t>(geometry.element->num_dofs());
  CellMap result{*geometry.element, {}, dim, geometry.curvature};
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = static_cast<std::size_t>(group.nodes()[static_cast<std::size_t>(cell) * count + i]);
    for (std::size_t a = 0; a < dim; ++a) result.nodes.push_back(mesh.points[node * dim + a]);
  }
  return result;
}

/// Reference coordinates of x in a cell that holds it.
std::optional<std::vector<double>> find_in_cell(const CellMap& map, element::Shape shape, std::span<const double> x) {
  auto X = inverse_map(map, shape, x);
  return X && is_inside(shape, *X, map.tolerance()) ? X : std::nullopt;
}

constexpr std::size_t leaf_size = 4; ///< cells that are not divided any further

} // namespace

std::optional<CellPoint> locate(const Mesh& mesh, std::span<const double> x) {
  require_whole(mesh, "points that are looked for");
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const GroupGeometry geometry(group);
    for (std::int32_t cell = 0; cell < group.num_cells(); ++cell) {
      const auto map = map_of(mesh, group, geometry, cell);
      if (!map.box().holds(x)) continue;
      if (auto X = find_in_cell(map, group.shape, x))
        return CellPoint{static_cast<std::int32_t>(g), cell, std::move(*X)};
    }
  }
  return std::nullopt;
}

/// A binary tree: a node has a range of the cells and the box around them; the middle of the range, along the longest
/// side of the box, divides it between the children.
class PointLocator::Cells {
public:
  explicit Cells(const Mesh& mesh) : mesh_(mesh) {
    for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
      geometry_.emplace_back(mesh.groups[g]);
      for (std::int32_t cell = 0; cell < mesh.groups[g].num_cells(); ++cell)
        entries_.push_back(
            {map_of(mesh, mesh.groups[g], geometry_[g], cell).box(), static_cast<std::int32_t>(g), cell});
    }
    build(0, entries_.size());
  }

  std::optional<CellPoint> find(std::span<const double> x) const {
    std::vector<std::pair<std::int32_t, std::int32_t>> candidates;
    collect(0, 0, entries_.size(), x, candidates);
    std::ranges::sort(candidates);
    for (const auto& candidate : candidates) {
      const auto g = static_cast<std::size_t>(candidate.first);
      const auto& group = mesh_.groups[g];
      if (auto X = find_in_cell(map_of(mesh_, group, geometry_[g], candidate.second), group.shape, x))
        return CellPoint{candidate.first, candidate.second, std::move(*X)};
    }
    return std::nullopt;
  }

private:
  struct Entry {
    Box box;
    std::int32_t group, cell;
  };
  struct Node {
    Box box;
    std::size_t right = 0; ///< number of the second child; the first one follows its parent. 0: a leaf
  };

  void build(std::size_t begin, std::size_t end) {
    const std::size_t number = nodes_.size();
    nodes_.emplace_back();
    for (std::size_t i = begin; i < end; ++i) nodes_[number].box.include(entries_[i].box);
    if (end - begin <= leaf_size) return;
    const auto& box = nodes_[number].box;
    std::size_t axis = 0;
    for (std::size_t a = 1; a < 3; ++a)
      if (box.high[a] - box.low[a] > box.high[axis] - box.low[axis]) axis = a;
    const auto at = [this](std::size_t i) { return entries_.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(at(begin), at(middle), at(end), [axis](const Entry& a, const Entry& b) {
      return a.box.low[axis] + a.box.high[axis] < b.box.low[axis] + b.box.high[axis];
    });
    build(begin, middle);
    nodes_[number].right = nodes_.size();
    build(middle, end);
  }

  void collect(std::size_t number, std::size_t begin, std::size_t end, std::span<const double> x,
               std::vector<std::pair<std::int32_t, std::int32_t>>& candidates) const {
    if (!nodes_[number].box.holds(x)) return;
    if (nodes_[number].right == 0) {
      for (std::size_t i = begin; i < end; ++i)
        if (entries_[i].box.holds(x)) candidates.emplace_back(entries_[i].group, entries_[i].cell);
      return;
    }
    const auto middle = begin + (end - begin) / 2;
    collect(number + 1, begin, middle, x, candidates);
    collect(nodes_[number].right, middle, end, x, candidates);
  }

  const Mesh& mesh_;
  std::vector<GroupGeometry> geometry_; ///< shape (group)
  std::vector<Entry> entries_;          ///< shape (cell), in the order of the leaves
  std::vector<Node> nodes_;
};

PointLocator::PointLocator(const Mesh& mesh) {
  require_whole(mesh, "points that are looked for");
  cells_ = std::make_unique<const Cells>(mesh);
}
PointLocator::~PointLocator() = default;

std::optional<CellPoint> PointLocator::find(std::span<const double> x) const { return cells_->find(x); }

} // namespace rafter::mesh
