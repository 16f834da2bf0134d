// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/point_placement.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <rafter/element/dense.hpp>
#include <rafter/element/lagrange.hpp>
#include <rafter/element/orientation.hpp>

namespace rafter::mesh {

using element::Shape;

/// The families of nodes and points between which interpolation takes place.
struct PointPlacement::Families {
  int degree;
  PointFamily nodes, points;
  bool has_lagrange_nodes; ///< `nodes` is the family of the Lagrange element
};

namespace {

/// Makes weights that are 0 or 1 up to rounding exact. The tolerance lies far above rounding errors and far below all
/// other weights of degrees up to 12.
void round_to_exact(std::vector<double>& weights) {
  for (double& weight : weights)
    if (std::abs(weight - std::round(weight)) < 1e-12) weight = std::round(weight);
}

/// Values of the element's basis functions at points, shape (point, dof).
std::vector<double> functions_at(const element::Element& element, std::span<const double> points) {
  auto table = element.tabulate(points);
  table.values.resize(static_cast<std::size_t>(table.num_points) * static_cast<std::size_t>(table.num_dofs));
  round_to_exact(table.values);
  return std::move(table.values);
}

/// Column of the largest entry in every row; of equal ones the first.
std::vector<int> largest_of_rows(std::span<const double> matrix, std::size_t num_columns) {
  std::vector<int> columns;
  for (std::size_t row = 0; row < matrix.size(); row += num_columns) {
    const auto values = matrix.subspan(row, num_columns);
    columns.push_back(static_cast<int>(std::ranges::max_element(values) - values.begin()));
  }
  return columns;
}

/// Canonical place of each point, as [orientation code][point that a cell sees].
std::vector<std::vector<int>> canonical_rows(Shape entity, std::span<const double> points) {
  std::vector<std::vector<int>> rows;
  for (int code = 0; code < element::num_orientations(entity); ++code)
    rows.push_back(
        element::matching_rows(element::canonical_points(entity, code, points), points, element::dimension(entity)));
  return rows;
}

std::vector<std::vector<int>> identity_rows(std::size_t count) {
  std::vector<std::vector<int>> rows(1, std::vector<int>(count));
  std::iota(rows[0].begin(), rows[0].end(), 0);
  return rows;
}

/// Part number `part` of those of equal length that a table consists of; an empty table has empty parts.
template <class Table> auto part_of(const Table& table, std::size_t part, std::size_t length) {
  const std::span values(table);
  return values.empty() ? values : values.subspan(part * length, length);
}

} // namespace

PointFamily lagrange_points(int degree) {
  return [degree](Shape shape) {
    const auto nodes = element::make_element(element::Family::lagrange, shape, degree)->nodes();
    return std::vector<double>(nodes.begin(), nodes.end());
  };
}

CellGeometry cell_geometry(const Mesh& mesh, std::size_t group, std::size_t cell, bool has_orientations) {
  const CellGroup& cells = mesh.groups[group];
  const std::size_t num_cells = cells.tags.size();
  CellGeometry result{.coordinates = mesh.points,
                      .gdim = mesh.gdim,
                      .nodes = part_of(cells.nodes(), cell, cells.nodes().size() / num_cells),
                      .edge_orientations = {},
                      .face_orientations = {}};
  if (!has_orientations) return result;
  const Topology::Group& entities = mesh.topology().groups[group];
  result.edge_orientations = part_of(entities.edge_orientations, cell, entities.edge_orientations.size() / num_cells);
  result.face_orientations = part_of(entities.face_orientations, cell, entities.face_orientations.size() / num_cells);
  return result;
}

PointPlacement::PointPlacement(Shape shape, int degree, const PointFamily& points)
    : PointPlacement(shape, Families{degree, lagrange_points(degree), points, true}) {}

PointPlacement::PointPlacement(Shape shape, int degree, const PointFamily& nodes, const PointFamily& points)
    : PointPlacement(shape, Families{degree, nodes, points, false}) {}

PointPlacement::PointPlacement(Shape shape, const Families& families) : tdim_(element::dimension(shape)) {
  // Entities come from the cell down to its vertices, so the last one that claims a point is the smallest on which it
  // lies.
  for (int dim = tdim_; dim >= 0; --dim)
    for (int number = 0; number < element::num_entities(shape, dim); ++number) add_entity(shape, dim, number, families);
  is_oriented_ = std::ranges::any_of(places_, [this](const Place& place) {
    const int dim = entities_[static_cast<std::size_t>(place.entity)].dim;
    return dim > 0 && dim < tdim_;
  });
}

void PointPlacement::add_entity(Shape shape, int dim, int number, const Families& families) {
  const auto index = static_cast<int>(entities_.size());
  const auto own_shape = element::entity_shape(shape, dim, number);
  auto& entity = entities_.emplace_back();
  entity.dim = dim;
  entity.number = number;
  entity.weights = weights_on(own_shape, families);
  const Weights& weights = weights_[entity.weights];
  if (dim == tdim_) {
    entity.nodes = identity_rows(weights.num_nodes);
    for (std::size_t i = 0; i < weights.nearest.size(); ++i) places_.push_back({index, static_cast<int>(i)});
    return;
  }
  const auto in_cell = [&](const PointFamily& family) {
    return element::map_to_cell(shape, dim, number, dim == 0 ? std::vector<double>{} : family(own_shape));
  };
  const auto points = element::find_rows(families.points(shape), in_cell(families.points), tdim_);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i] >= 0) places_[i] = {index, points[i]};
  const auto nodes = element::matching_rows(in_cell(families.nodes), families.nodes(shape), tdim_);
  for (const auto& canonical : weights.nodes) {
    auto& of_code = entity.nodes.emplace_back(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) of_code[static_cast<std::size_t>(canonical[i])] = nodes[i];
  }
}

std::size_t PointPlacement::weights_on(Shape shape, const Families& families) {
  const auto known = std::ranges::find(weights_, shape, &Weights::shape);
  if (known != weights_.end()) return static_cast<std::size_t>(known - weights_.begin());
  Weights weights; // the initial weights are those on a point
  weights.shape = shape;
  if (shape != Shape::point) {
    const auto element = element::make_element(element::Family::lagrange, shape, families.degree);
    const auto points = families.points(shape), nodes = families.nodes(shape);
    weights.num_nodes = static_cast<std::size_t>(element->num_dofs());
    weights.values = functions_at(*element, points);
    if (!families.has_lagrange_nodes) {
      const int n = element->num_dofs();
      weights.values = element::multiplied(weights.values, element::inverse(functions_at(*element, nodes), n), n);
      round_to_exact(weights.values);
    }
    weights.nearest = largest_of_rows(weights.values, weights.num_nodes);
    const bool is_cell = element::dimension(shape) == tdim_; // the cell itself is seen in one orientation only
    weights.points = is_cell ? identity_rows(weights.nearest.size()) : canonical_rows(shape, points);
    weights.nodes = is_cell ? identity_rows(weights.num_nodes) : canonical_rows(shape, nodes);
  }
  weights_.push_back(std::move(weights));
  return weights_.size() - 1;
}

void PointPlacement::place(const CellGeometry& cell, std::span<double> x) const {
  const auto dim = static_cast<std::size_t>(cell.gdim);
  for (std::size_t i = 0; i < places_.size(); ++i) place_point(cell, places_[i], x.data() + i * dim);
}

void PointPlacement::place(const CellGeometry& cell, std::span<const int> which, std::span<double> x) const {
  const auto dim = static_cast<std::size_t>(cell.gdim);
  for (std::size_t i = 0; i < which.size(); ++i)
    place_point(cell, places_[static_cast<std::size_t>(which[i])], x.data() + i * dim);
}

void PointPlacement::place_point(const CellGeometry& cell, const Place& place, double* x) const {
  const auto dim = static_cast<std::size_t>(cell.gdim);
  const Entity& entity = entities_[static_cast<std::size_t>(place.entity)];
  const Weights& weights = weights_[entity.weights];
  std::size_t code = 0;
  if (entity.dim > 0 && entity.dim < tdim_)
    code = (entity.dim == 1 ? cell.edge_orientations : cell.face_orientations)[static_cast<std::size_t>(entity.number)];
  const auto point = static_cast<std::size_t>(weights.points[code][static_cast<std::size_t>(place.point)]);
  const std::vector<int>& nodes = entity.nodes[code];
  const auto coordinates = [&](int node) {
    return cell.coordinates.data() +
           static_cast<std::size_t>(cell.nodes[static_cast<std::size_t>(nodes[static_cast<std::size_t>(node)])]) * dim;
  };
  const double* w = weights.values.data() + point * weights.num_nodes;
  const double* nearest = coordinates(weights.nearest[point]);
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < weights.num_nodes; ++i) {
    const double* node = coordinates(static_cast<int>(i));
    for (std::size_t d = 0; d < dim; ++d) sum[d] += w[i] * (node[d] - nearest[d]);
  }
  for (std::size_t d = 0; d < dim; ++d) x[d] = nearest[d] + sum[d];
}

} // namespace rafter::mesh
