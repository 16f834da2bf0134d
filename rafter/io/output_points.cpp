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

namespace rafter::io {
namespace {

/// How far two cells may see a shared point apart, relative to the size of the cell.
constexpr double tolerance = 1e-8;

/// Points by the place in the mesh that they stand at: nearly always one per place, else a list of them.
class PointTable {
public:
  PointTable(std::size_t num_places, std::size_t gdim) : first_(num_places, -1), gdim_(gdim) {}

  /// The point of a cell with this tag at a place with these coordinates; a new one where there is none.
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
    *link = point; // before the lists grow, which moves the links
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
  std::vector<std::int32_t> first_;       ///< shape (place); -1: none
  std::vector<std::int32_t> next_, tags_; ///< shape (point); the next point at the same place
  std::vector<double> coordinates_;       ///< shape (point, 3)
  std::size_t gdim_;
};

/// Coordinates of the lattice points of cells, by the geometry of their group.
class CellLattice {
public:
  CellLattice(const mesh::Mesh& mesh, const mesh::CellGroup& group, std::span<const double> positions)
      : mesh_(mesh), group_(group), matrix_(mesh::element_to_lattice(*mesh::geometry_element(group), positions)),
        num_nodes_(group.nodes.size() / group.tags.size()), gdim_(static_cast<std::size_t>(mesh.gdim)),
        x_(matrix_.size() / num_nodes_ * gdim_) {}

  /// Shape (lattice point, gdim); valid until the next call.
  std::span<const double> of(std::size_t cell) {
    std::fill(x_.begin(), x_.end(), 0.0);
    for (std::size_t p = 0; p < x_.size() / gdim_; ++p)
      for (std::size_t i = 0; i < num_nodes_; ++i)
        for (std::size_t axis = 0; axis < gdim_; ++axis)
          x_[p * gdim_ + axis] += matrix_[p * num_nodes_ + i] * node(cell, i)[axis];
    return x_;
  }

  /// Largest extent of the cell's geometry nodes along an axis.
  double extent(std::size_t cell) const {
    double result = 0;
    for (std::size_t axis = 0; axis < gdim_; ++axis) {
      double low = node(cell, 0)[axis], high = low;
      for (std::size_t i = 1; i < num_nodes_; ++i) {
        low = std::min(low, node(cell, i)[axis]);
        high = std::max(high, node(cell, i)[axis]);
      }
      result = std::max(result, high - low);
    }
    return result;
  }

private:
  const double* node(std::size_t cell, std::size_t i) const {
    return mesh_.points.data() + static_cast<std::size_t>(group_.nodes[cell * num_nodes_ + i]) * gdim_;
  }
  const mesh::Mesh& mesh_;
  const mesh::CellGroup& group_;
  std::vector<double> matrix_; ///< shape (lattice point, geometry node)
  std::size_t num_nodes_, gdim_;
  std::vector<double> x_;
};

/// The mesh with the nodes of the order in place of its geometry, as numbers alone, and how many there are.
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
    const auto positions = mesh::lattice_positions(group.shape, order, lattices[g], mesh::Spacing::equispaced);
    const auto dofs = mesh::matching_dofs(*mesh::geometry_element(places.groups[g]), lattices[g]);
    CellLattice lattice(mesh, group, positions);
    const auto nodes = std::move(places.groups[g].nodes);
    numbers.reserve(nodes.size());
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell) {
      const auto x = lattice.of(cell);
      const double distance = tolerance * lattice.extent(cell);
      for (std::size_t p = 0; p < dofs.size(); ++p)
        numbers.push_back(table.find_or_add(nodes[cell * dofs.size() + dofs[p]], separates_tags ? group.tags[cell] : 0,
                                            x.subspan(p * gdim, gdim), distance));
    }
  }
  result.coordinates = table.coordinates();
  return result;
}

} // namespace rafter::io
