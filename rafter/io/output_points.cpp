// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/output_points.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/geometry_nodes.hpp>
#include <rafter/mesh/lattice.hpp>
#include <rafter/mesh/point_placement.hpp>

namespace rafter::io {
namespace {

/// The coordinates that two cells give to a shared point may differ by so much, relative to the size of the cell.
constexpr double tolerance = 1e-8;

/// A place is a lattice point of a vertex, edge, face or interior of the mesh. It has one point nearly always, and a
/// linked list of them where cells differ in tags or coordinates.
class PointTable {
public:
  PointTable(std::size_t num_places, std::size_t gdim) : first_(num_places, -1), gdim_(gdim) {}

  /// Returns the point that a cell with this tag has at a place with these coordinates, and adds it if there is none.
  std::int32_t find_or_add(std::int32_t place, std::int32_t tag, std::span<const double> x, double distance) {
    std::int32_t* link = &first_[static_cast<std::size_t>(place)];
    while (*link >= 0) {
      const auto point = static_cast<std::size_t>(*link);
      if (tags_[point] == tag && is_near(point, x, distance)) return *link;
      link = &next_[point];
    }
    if (tags_.size() == std::numeric_limits<std::int32_t>::max())
      throw base::InputError("the output would have more points than 32 bits number: refine less");
    const auto point = static_cast<std::int32_t>(tags_.size());
    *link = point; // the link is into a list that grows below and may move then
    tags_.push_back(tag);
    next_.push_back(-1);
    for (std::size_t axis = 0; axis < 3; ++axis) coordinates_.push_back(axis < gdim_ ? x[axis] : 0.0);
    return point;
  }

  std::vector<double> coordinates() { return std::move(coordinates_); }

private:
  bool is_near(std::size_t point, std::span<const double> x, double distance) const {
    for (std::size_t axis = 0; axis < gdim_; ++axis)
      if (!(std::abs(coordinates_[3 * point + axis] - x[axis]) <= distance)) return false;
    return true;
  }
  std::vector<std::int32_t> first_; ///< first point of each place, shape (place); -1: none
  /// Every point has a next one at the same place (-1: none) and a tag, shape (point).
  std::vector<std::int32_t> next_, tags_;
  std::vector<double> coordinates_; ///< shape (point, 3)
  std::size_t gdim_;
};

/// Returns the largest extent of a cell's geometry nodes along an axis.
double extent(const mesh::CellGeometry& cell) {
  double result = 0;
  const auto dim = static_cast<std::size_t>(cell.gdim);
  for (std::size_t axis = 0; axis < dim; ++axis) {
    const auto at = [&](std::int32_t node) { return cell.coordinates[static_cast<std::size_t>(node) * dim + axis]; };
    double low = at(cell.nodes[0]), high = low;
    for (const auto node : cell.nodes) {
      low = std::min(low, at(node));
      high = std::max(high, at(node));
    }
    result = std::max(result, high - low);
  }
  return result;
}

/// Returns the mesh with nodes of the order of the output as its geometry, which are numbered but have no coordinates,
/// and how many there are.
std::pair<mesh::Mesh, std::size_t> number_places(const mesh::Mesh& mesh, int order) {
  mesh::Mesh result = mesh;
  result.points = {};
  for (auto& group : result.groups) group.degree = order;
  const auto count = static_cast<std::size_t>(mesh::number_shared_nodes(result));
  return {std::move(result), count};
}

} // namespace

OutputPoints make_output_points(const mesh::Mesh& mesh, std::span<const std::vector<LatticePoint>> lattices, int order,
                                bool separates_tags) {
  auto [places, num_places] = number_places(mesh, order);
  PointTable table(num_places, static_cast<std::size_t>(mesh.gdim));
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  OutputPoints result;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    auto& numbers = result.cells.emplace_back();
    if (group.tags.empty()) continue;
    const auto dofs = mesh::matching_dofs(*mesh::geometry_element(places.groups[g]), lattices[g]);
    // Points are placed entity by entity, and their order on an entity of lower dimension does not matter for that.
    const mesh::PointPlacement placement(group.shape, group.degree, [&](element::Shape shape) {
      const auto lattice = shape == group.shape ? lattices[g] : mesh::gmsh_lattice(shape, order);
      return mesh::lattice_positions(shape, order, lattice, mesh::Spacing::equispaced);
    });
    std::vector<double> x(dofs.size() * gdim);
    const auto nodes = places.groups[g].nodes();
    numbers.reserve(nodes.size());
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell) {
      const auto geometry = mesh::cell_geometry(mesh, g, cell, placement.is_oriented());
      placement.place(geometry, x);
      const double distance = tolerance * extent(geometry);
      for (std::size_t p = 0; p < dofs.size(); ++p)
        numbers.push_back(table.find_or_add(nodes[cell * dofs.size() + dofs[p]], separates_tags ? group.tags[cell] : 0,
                                            std::span(x).subspan(p * gdim, gdim), distance));
    }
  }
  result.coordinates = table.coordinates();
  return result;
}

} // namespace rafter::io
