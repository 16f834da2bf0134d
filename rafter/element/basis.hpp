// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

#include <rafter/element/cell.hpp>
#include <rafter/element/table.hpp>

/// Orthonormal polynomials in collapsed coordinates, one mechanism for every shape: each function is a product of
/// homogenised Jacobi polynomials t^n P_n^(alpha,0)(u/t), one per axis, where u and t are linear in the coordinates.
/// They are evaluated by three-term recurrences without a division, so simplices have no singular vertex. Sources:
/// Dubiner, J. Sci. Comput. 6 (1991); Karniadakis and Sherwin, Spectral/hp Element Methods (2005), section 3.2; Kirby,
/// ACM TOMS 37 (2010), doi:10.1145/1644001.1644006 (singularity-free recurrences).
namespace rafter::element {

/// The shapes of which a shape is the product, in the order of the axes: three intervals for a hexahedron, triangle and
/// interval for a prism. A shape that is no product is its own only factor.
std::vector<Shape> factors(Shape shape);

/// Dimension of the polynomial space of a degree: all polynomials of that total degree on simplices, of that degree per
/// direction on tensor shapes, the product of both on prisms, and (p+1)(p+2)(2p+3)/6 functions on pyramids.
int num_basis_functions(Shape shape, int degree);

/// Values and first derivatives of the orthonormal basis at points, shape (point, dimension): the integral over the
/// reference cell of function i times function j is 1 if i = j and 0 otherwise.
///
/// The order is hierarchical on simplices and pyramids (the functions of degree p-1 come first); products are
/// lexicographic with the first factor fastest. Pyramids use P_i(a) P_j(b) ((1-z)/2)^max(i,j) P_k^(2 max(i,j)+2, 0)(z),
/// max(i,j) + k <= degree, with collapsed coordinates a, b. These are rational in x, y, z, contain all polynomials of
/// the degree, and are polynomials on every face. Values are continuous at the apex; gradients depend on the direction
/// of approach there, and the one along the axis a = b = 0 is returned.
Table tabulate_orthonormal(Shape shape, int degree, std::span<const double> points);

/// Values and derivatives at points of ((1-x)/2)^power times the Jacobi polynomials P_n^(alpha,0), n = 0..degree, which
/// are scaled to unit norm under the weight ((1-x)/2)^alpha: what the functions of collapsed bases are along one axis.
Table tabulate_jacobi(int degree, int alpha, int power, std::span<const double> points);

/// Table of all products of two sets of functions, tabulated at the same points and depending on different axes; the
/// first set runs fastest.
Table product(const Table& first, const Table& second);

/// Coordinates begin .. begin + count - 1 of points, from shape (point, dim) to shape (point, count).
std::vector<double> axes_of(std::span<const double> points, int dim, int begin, int count);

} // namespace rafter::element
