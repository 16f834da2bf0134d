// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>

/// Division of each reference cell by uniform refinement.
namespace rafter::mesh {

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

/// The division of a cell: half-scaled copies at its vertices, and the cells that remain between them. These are one
/// triangle; four tetrahedra around one of the three inner diagonals (`diagonal` 0, 1, 2: through the centres of edges
/// 01-23, 02-13, 03-12; other shapes ignore it); two prisms; or, in a pyramid, one upside-down pyramid and four
/// tetrahedra.
const Subdivision& subdivision(element::Shape shape, int diagonal = 0);

/// Children of a facet of a cell; their vertices are indices into subdivision(cell).vertices.
const std::vector<Child>& facet_children(element::Shape cell, int facet);

/// Reference coordinates in the parent of points that are given in the reference cell of a child, shape (point,
/// dimension).
std::vector<double> map_to_parent(element::Shape parent, const Subdivision& subdivision, const Child& child,
                                  std::span<const double> points);

} // namespace rafter::mesh
