// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>

namespace rafter::element {

/// Nodes of a Lagrange element, and the sub-entity on which each lies.
struct LagrangeNodes {
  std::vector<double> points; ///< shape (dof, dimension)
  /// Dofs of [dimension][entity], lexicographic in the entity's frame.
  std::vector<std::vector<std::vector<int>>> entity_dofs;
};

/// Interior nodes of a shape, shape (node, dimension), lexicographic with the first axis fastest.
///
/// Interval: Gauss-Lobatto-Legendre; products: products of their factors' nodes; simplices: Isaac's recursive nodes,
/// the weighted mean of the nodes of the facets with Gauss-Lobatto weights, symmetric under all vertex permutations
/// (SIAM J. Sci. Comput. 42 (2020) A4046, doi:10.1137/20M1321802); pyramids: horizontal layers that continue the
/// triangle nodes of the faces inwards.
std::vector<double> interior_nodes(Shape shape, int degree);

/// Nodes of an element: the interior nodes of every sub-entity, so that cells that share an entity agree on its nodes.
/// Dofs of tensor shapes are lexicographic; those of other shapes come by vertices, edges, faces, interior.
LagrangeNodes lagrange_nodes(Shape shape, int degree);

/// Number of nodes of a shape, including those on its boundary. The result is a double, because estimates multiply it
/// beyond 64 bits.
double num_lagrange_nodes(Shape shape, int degree);

/// Canonical position of each interior node of an entity seen with an orientation code (orientation.hpp): the node's
/// image under the symmetry that takes the vertices to their canonical places. The single node of a point stays.
std::vector<int> node_permutation(Shape entity, int degree, int orientation_code);

/// Returns for each point, shape (point, dim), the first row of `among` with the same coordinates up to rounding, or
/// -1.
std::vector<int> find_rows(std::span<const double> points, std::span<const double> among, int dim);

/// Does the same as find_rows, but throws InternalError where no row matches.
std::vector<int> matching_rows(std::span<const double> points, std::span<const double> among, int dim);

/// Nodes of a product element, first factor fastest, from the nodes of its factors, each of shape (dof, dimension).
std::vector<double> product_nodes(std::span<const double> first, int first_dim, std::span<const double> second,
                                  int second_dim);

} // namespace rafter::element
