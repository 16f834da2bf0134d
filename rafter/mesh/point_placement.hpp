// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Places points of reference cells in the cells of a mesh.
namespace rafter::mesh {

/// Gives points on every shape, shape (point, dimension), such that those of a cell on one of its entities are the
/// points of the entity's shape, in whatever orientation the cell sees it. Several of the points may coincide.
using PointFamily = std::function<std::vector<double>(element::Shape)>;

/// Family of the nodes of Lagrange elements of a degree.
PointFamily lagrange_points(int degree);

/// Geometry nodes of one cell, and the orientations in which it sees its edges and faces.
struct CellGeometry {
  std::span<const double> coordinates; ///< coordinates of all nodes, shape (node, gdim)
  int gdim = 3;
  std::span<const std::int32_t> nodes;             ///< the cell's nodes, as rows of `coordinates`
  std::span<const std::uint8_t> edge_orientations; ///< codes of element::orientation, shape (local edge)
  std::span<const std::uint8_t> face_orientations; ///< codes of element::orientation, shape (local face)
};
/// `has_orientations`: where false, the cell's edges and faces need not be numbered (PointPlacement::is_oriented).
CellGeometry cell_geometry(const Mesh& mesh, std::size_t group, std::size_t cell, bool has_orientations = true);

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
  /// Places points in cells whose geometry nodes are those of the Lagrange element of this degree.
  PointPlacement(element::Shape shape, int degree, const PointFamily& points);
  /// Places points in cells whose geometry has this degree and whose nodes are a family with as many points as the
  /// Lagrange element.
  PointPlacement(element::Shape shape, int degree, const PointFamily& nodes, const PointFamily& points);

  int num_points() const { return static_cast<int>(places_.size()); }
  /// Says whether points lie inside edges or faces, so that it matters how a cell sees those.
  bool is_oriented() const { return is_oriented_; }
  /// Writes the coordinates of all points in a cell to `x`, shape (point, gdim). Allocates nothing.
  void place(const CellGeometry& cell, std::span<double> x) const;
  /// Writes the coordinates of some points in a cell to `x`, shape (point of `which`, gdim).
  void place(const CellGeometry& cell, std::span<const int> which, std::span<double> x) const;

private:
  /// Interpolation weights on one shape of entities, in the canonical frame.
  struct Weights {
    element::Shape shape = element::Shape::point;
    std::size_t num_nodes = 1;
    std::vector<double> values{1.0};           ///< shape (point, node)
    std::vector<int> nearest{0};               ///< node with the largest weight, shape (point)
    std::vector<std::vector<int>> points{{0}}; ///< canonical point for [orientation code][point that a cell sees]
    std::vector<std::vector<int>> nodes{{0}};  ///< canonical node for [orientation code][node that a cell sees]
  };
  struct Entity {
    int dim = 0, number = 0;
    std::size_t weights = 0;             ///< index in weights_
    std::vector<std::vector<int>> nodes; ///< local node of the cell for [orientation code][canonical node]
  };
  struct Place {
    int entity = 0; ///< smallest entity on which the point lies, index in entities_
    int point = 0;  ///< number among the entity's points, as the cell sees them
  };
  struct Families;

  PointPlacement(element::Shape shape, const Families& families);
  void add_entity(element::Shape shape, int dim, int number, const Families& families);
  std::size_t weights_on(element::Shape shape, const Families& families);
  void place_point(const CellGeometry& cell, const Place& place, double* x) const;

  int tdim_ = 3;
  bool is_oriented_ = false;
  std::vector<Weights> weights_; ///< weights for each shape of entities
  std::vector<Entity> entities_;
  std::vector<Place> places_; ///< place of each point, shape (point)
};

} // namespace rafter::mesh
