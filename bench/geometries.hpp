// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// The meshes of suites are unit squares and cubes of one shape of cells, which may be deformed.
namespace rafter::bench {

/// A deformation moves the points of a box of equal cells.
enum class Deformation {
  none,
  graded,       ///< all boxes are different
  sheared,      ///< all parallelepipeds are different
  multilinear,  ///< vertices are moved along waves, so that edges are straight but no cell is a parallelepiped
  isoparametric ///< geometry nodes of the solution's degree are moved along waves, so that edges are curved
};

struct Geometry {
  const char* name;
  element::Shape shape;
  Deformation deformation;
  double amplitude = 1; ///< amplitude of the deformation
  int dim() const { return element::dimension(shape); }
  int cells_per_cube() const; ///< number of cells that fill a small cube or square
};

/// The names mean: "cartesian" and "hexahedra" are equal cubes; "graded", "sheared", "deformed" are hexahedra as above;
/// "nearly-sheared" and "nearly-deformed" are moved by so little (1e-9, 1e-8) that solutions are those on cubes, while
/// kernels treat the cells as general ones; "quadrilaterals", "triangles" (two in each square), "tetrahedra" (six in
/// each cube), "prisms" (two) and "pyramids" (six) are affine cells; "curved-SHAPE" are isoparametric cells of each
/// shape.
const std::vector<Geometry>& geometries();
std::vector<std::string> geometry_names();
/// Throws InternalError when there is none of that name.
const Geometry& find_geometry(const std::string& name);

/// Returns the point of the box that a deformation moves to x, up to the square of the amplitude.
std::vector<double> undeformed(const Geometry& geometry, std::span<const double> x);

/// Returns the square or cube with n cells, or groups of cells that fill a small square or cube, along each edge.
/// Curved cells have the given degree.
mesh::Mesh make_cube(int n, const Geometry& geometry, int degree);

} // namespace rafter::bench
