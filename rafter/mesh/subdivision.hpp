// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>

/// Division of each reference cell by refinement, along all of its axes or some of them.
namespace rafter::mesh {

/// A set of axes of a reference cell; those beyond its dimension mean nothing.
struct Axes {
  std::uint8_t bits = 7; ///< bit i stands for axis i
  bool has(int axis) const { return (bits >> axis & 1) != 0; }
  bool has_all(int dim) const { return (~bits & ((1 << dim) - 1)) == 0; }
  auto operator<=>(const Axes&) const = default;
};

/// The division of a cell.
struct Halving {
  Axes axes{}; ///< axes along which it is halved
  int diagonal =
      0; ///< the inner diagonal of a tetrahedron: 0, 1, 2 go through the centres of edges 01-23, 02-13, 03-12
  auto operator<=>(const Halving&) const = default;
};

/// Says whether cells of a shape can be halved along these axes alone: intervals, quadrilaterals and hexahedra along
/// any, prisms along the axes of their triangles or the third, other shapes along all axes at once.
bool can_be_halved(element::Shape shape, Axes axes);

/// A vertex of the refined cell, which is the centre of a sub-entity of the parent (for its own vertices, an entity of
/// dimension 0).
struct EntityCentre {
  int dim = 0, entity = 0;
  auto operator<=>(const EntityCentre&) const = default;
};

/// A child cell: for each of its vertices, in the order of its reference cell, an index into Subdivision::vertices. The
/// child is an affine image of its reference cell with positive determinant.
struct Child {
  element::Shape shape = element::Shape::hexahedron;
  std::vector<int> vertices;
};

/// Vertices and children of a refined cell.
struct Subdivision {
  std::vector<EntityCentre> vertices; ///< the parent's vertices come first, in their order
  std::vector<Child> children;
};

/// The division of a cell: copies at its vertices, half as long along the axes that are halved, and the cells that
/// remain between them. These are one triangle; four tetrahedra around one of the three inner diagonals; a prism
/// between others, on each of their layers; or, in a pyramid, one upside-down pyramid and four tetrahedra. Throws
/// InternalError for axes that can_be_halved() refuses.
const Subdivision& subdivision(element::Shape shape, Halving halving = {});

/// Children of a facet of a cell that is halved along some axes; their vertices are indices into
/// subdivision(cell).vertices.
const std::vector<Child>& facet_children(element::Shape cell, int facet, Axes axes = {});

/// Reference coordinates in the parent of points that are given in the reference cell of a child, shape (point,
/// dimension).
std::vector<double> map_to_parent(element::Shape parent, const Subdivision& subdivision, const Child& child,
                                  std::span<const double> points);

} // namespace rafter::mesh
