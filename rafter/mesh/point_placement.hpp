// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Where points of reference cells lie in the cells of a mesh.
namespace rafter::mesh {

/// Points on every shape, shape (point, dimension), such that those of a cell on one of its entities are the points of
/// the entity's shape, however the entity is turned. A point may stand there several times.
using PointFamily = std::function<std::vector<double>(element::Shape)>;

/// Nodes of the Lagrange elements of a degree.
PointFamily lagrange_points(int degree);

/// Geometry nodes of one cell, and how it sees its edges and faces.
struct CellGeometry {
  std::span<const double> coordinates; ///< of all nodes, shape (node, gdim)
  int gdim = 3;
  std::span<const std::int32_t> nodes;             ///< rows of `coordinates`
  std::span<const std::uint8_t> edge_orientations; ///< element::orientation codes, shape (local edge)
  std::span<const std::uint8_t> face_orientations; ///< shape (local face)
};
CellGeometry cell_geometry(const Mesh& mesh, std::size_t group, std::size_t cell);

/// Interpolates the geometry nodes of cells of one shape at points of the reference cell.
///
/// A point on a vertex, an edge or a face is a combination of that entity's own nodes alone, taken in the entity's
/// canonical frame (element/orientation.hpp):
///
///     x = x_n + sum_i w_i (x_i - x_n),   n the node with the largest weight.
///
/// All cells at the entity therefore place the point at the same coordinates to the last bit; a point that coincides
/// with a node has the node's coordinates; and what all nodes of the entity share, the points on it share exactly.
class PointPlacement {
public:
  /// The nodes are those of the Lagrange element of the degree.
  PointPlacement(element::Shape shape, int degree, const PointFamily& points);
  /// The nodes are those of a family with as many points as the element, in which the geometry has this degree.
  PointPlacement(element::Shape shape, int degree, const PointFamily& nodes, const PointFamily& points);

  int num_points() const { return static_cast<int>(places_.size()); }
  /// Coordinates of all points in a cell, into `x`, shape (point, gdim). Allocates nothing.
  void place(const CellGeometry& cell, std::span<double> x) const;
  /// The same of some points only, shape (point of `which`, gdim).
  void place(const CellGeometry& cell, std::span<const int> which, std::span<double> x) const;

private:
  /// Interpolation on the shape of entities, in their canonical frame.
  struct Weights {
    element::Shape shape = element::Shape::point;
    std::size_t num_nodes = 1;
    std::vector<double> values{1.0};           ///< shape (point, node)
    std::vector<int> nearest{0};               ///< the node with the largest weight, shape (point)
    std::vector<std::vector<int>> points{{0}}; ///< [orientation code][point that a cell sees]: canonical point
    std::vector<std::vector<int>> nodes{{0}};  ///< the same of nodes
  };
  struct Entity {
    int dim = 0, number = 0;
    std::size_t weights = 0;             ///< index of weights_
    std::vector<std::vector<int>> nodes; ///< [orientation code][canonical node]: local node of the cell
  };
  struct Place {
    int entity = 0; ///< the smallest on which the point lies: index of entities_
    int point = 0;  ///< of the entity's points, as the cell sees them
  };
  struct Families;

  PointPlacement(element::Shape shape, const Families& families);
  void add_entity(element::Shape shape, int dim, int number, const Families& families);
  std::size_t weights_on(element::Shape shape, const Families& families);
  void place_point(const CellGeometry& cell, const Place& place, double* x) const;

  int tdim_ = 3;
  std::vector<Weights> weights_; ///< one per shape of entities
  std::vector<Entity> entities_;
  std::vector<Place> places_; ///< shape (point)
};

} // namespace rafter::mesh
