// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>

/// How uniform refinement divides each reference cell.
namespace rafter::mesh {

/// A vertex of the refined cell: the centre of a sub-entity of the parent (its vertices are entities of dimension 0).
struct EntityCentre {
  int dim = 0, entity = 0;
  auto operator<=>(const EntityCentre&) const = default;
};

/// A child: for each of its vertices, in the order of its reference cell, an index into Subdivision::vertices. The
/// child is an affine image of its reference cell with det > 0.
struct Child {
  element::Shape shape = element::Shape::hexahedron;
  std::vector<int> vertices;
};

struct Subdivision {
  std::vector<EntityCentre> vertices; ///< the parent's vertices first, in order
  std::vector<Child> children;
};

/// Half-scaled copies of the cell at its vertices, and what is left between them: one triangle, four tetrahedra around
/// one of the three inner diagonals (`diagonal` 0, 1, 2: through the centres of edges 01-23, 02-13, 03-12; other shapes
/// ignore it), two prisms, and in a pyramid one upside-down pyramid and four tetrahedra.
const Subdivision& subdivision(element::Shape shape, int diagonal = 0);

/// Children of a facet, as Subdivision::children of its cell: vertices are indices into subdivision(cell).vertices.
const std::vector<Child>& facet_children(element::Shape cell, int facet);

/// Reference coordinates in the parent of points given in a child's reference cell, shape (point, dimension).
std::vector<double> map_to_parent(element::Shape parent, const Subdivision& subdivision, const Child& child,
                                  std::span<const double> points);

} // namespace rafter::mesh
