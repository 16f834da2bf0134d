// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <utility>
#include <vector>

#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/point_placement.hpp>
#include <rafter/mesh/point_tree.hpp>

namespace rafter::mesh {

/// Places the nodes of Lagrange elements on facets of cells.
class FacetNodes {
public:
  explicit FacetNodes(const Mesh& mesh) : mesh_(mesh) {}
  /// Nodes of the Lagrange element of a degree on a facet, in the order of its cell.
  std::vector<Point> operator()(const FacetRef& facet, int degree);
  /// The higher of the degrees of the geometry of two cells.
  int common_degree(const FacetRef& a, const FacetRef& b) const;

private:
  const Mesh& mesh_;
  std::map<std::pair<std::size_t, int>, PointPlacement> placements_; ///< placements by group and degree of the nodes
};

double distance(const Point& a, const Point& b);

} // namespace rafter::mesh
