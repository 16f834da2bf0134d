// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>

namespace rafter::element {

/// Nodes of a Lagrange element and where they sit.
struct LagrangeNodes {
  std::vector<double> points;                             ///< shape (dof, dimension)
  std::vector<std::vector<std::vector<int>>> entity_dofs; ///< [dimension][entity], lexicographic in the entity's frame
};

/// Interior nodes of a shape, shape (node, dimension), lexicographic with the first axis fastest.
///
/// Interval: Gauss-Lobatto-Legendre; products: products of their factors' nodes; simplices: Isaac's recursive nodes,
/// the weighted mean of the nodes of the facets with Gauss-Lobatto weights, symmetric under all vertex permutations
/// (SIAM J. Sci. Comput. 42 (2020) A4046, doi:10.1137/20M1321802); pyramids: horizontal layers that continue the
/// triangle nodes of the faces inwards.
std::vector<double> interior_nodes(Shape shape, int degree);

/// Interior nodes of every sub-entity, so that cells that share one agree on its nodes. Dofs of tensor shapes are
/// lexicographic, of the others by vertices, edges, faces, interior.
LagrangeNodes lagrange_nodes(Shape shape, int degree);

/// Number of nodes of a shape, those on its boundary included. A double: for estimates of products beyond 64 bits.
double num_lagrange_nodes(Shape shape, int degree);

/// Canonical position of each interior node of an entity that is seen with an orientation code (orientation.hpp): the
/// image of the node under the symmetry that moves the vertices. The single node of a point stays where it is.
std::vector<int> node_permutation(Shape entity, int degree, int orientation_code);

/// For each of the points (point, dim) the first row of `among` at the same place up to rounding, or -1.
std::vector<int> find_rows(std::span<const double> points, std::span<const double> among, int dim);

/// The same; throws InternalError where there is none.
std::vector<int> matching_rows(std::span<const double> points, std::span<const double> among, int dim);

/// Nodes of a product element in the order of the product (first factor fastest); nodes of each factor: (dof,
/// dimension).
std::vector<double> product_nodes(std::span<const double> first, int first_dim, std::span<const double> second,
                                  int second_dim);

} // namespace rafter::element
