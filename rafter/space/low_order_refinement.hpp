// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <rafter/mesh/generations.hpp>

namespace rafter::element {
class Element;
} // namespace rafter::element

namespace rafter::space {

class FunctionSpace;

/// The low-order-refined mesh of a space: cells of degree 1 between its nodes, so that a space of degree 1 there has
/// the same unknowns (Orszag, J. Comput. Phys. 37 (1980) 70-92, doi:10.1016/0021-9991(80)90005-4; Pazner, Kolev,
/// Dohrmann, SIAM J. Sci. Comput. 45 (2023) A675-A702, doi:10.1137/22M1486534).
struct LowOrderRefinement {
  /// The children of the cells of a group, which have the same shape.
  struct Group {
    std::shared_ptr<const element::Element> element; ///< element whose nodes are the vertices of the children
    std::vector<mesh::ChildPlace> places;            ///< shape (child)
    std::vector<int> corners;                        ///< dof of `element` at each vertex, shape (child, vertex)
  };
  std::shared_ptr<const mesh::Mesh> mesh; ///< refined mesh, with the tags of the space's mesh on cells and facets
  std::vector<Group> groups;              ///< groups in the order of those of the space's mesh

  /// Writes the entries of a space on `mesh` in all children of a cell of the space's mesh, shape (component, child,
  /// dof of the child).
  void child_entries(const FunctionSpace& space, std::int32_t group, std::int32_t cell,
                     std::vector<std::int32_t>& entries) const;
};

/// Divides the cells of the mesh of a continuous space at its nodes. The vertices of the cells are the nodes, of which
/// those that periodic facets identify stay one unknown. Throws InputError for pyramids, broken spaces, parts of a mesh
/// and where the refined mesh has more cells than memory or 32 bits hold.
std::shared_ptr<const LowOrderRefinement> low_order_refinement(const FunctionSpace& space);

} // namespace rafter::space
