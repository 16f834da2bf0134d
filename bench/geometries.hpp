// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// The meshes of suites: unit squares and cubes of one shape of cells, and what becomes of them.
namespace rafter::bench {

/// What happens to the points of a box of equal cells.
enum class Deformation {
  none,
  graded,       ///< boxes, no two alike
  sheared,      ///< parallelepipeds, no two alike
  multilinear,  ///< vertices moved along waves: straight edges, no parallelepipeds
  isoparametric ///< geometry nodes of the solution's degree moved along waves: curved edges
};

struct Geometry {
  const char* name;
  element::Shape shape;
  Deformation deformation;
  double amplitude = 1; ///< of the deformation
  int dim() const { return element::dimension(shape); }
  int cells_per_cube() const; ///< or square
};

/// "cartesian" and "hexahedra": equal cubes; "graded", "sheared", "deformed": hexahedra as above; "nearly-sheared",
/// "nearly-deformed": the same by so little (1e-9, 1e-8) that solutions are those on cubes, while kernels take the
/// cells for what they are; "quadrilaterals", "triangles" (two in each square), "tetrahedra" (six in each cube),
/// "prisms" (two), "pyramids" (six): affine cells; "curved-SHAPE" for each of the shapes: isoparametric cells.
const std::vector<Geometry>& geometries();
std::vector<std::string> geometry_names();
/// InternalError when there is none of that name.
const Geometry& find_geometry(const std::string& name);

/// The point of the box that a point of its deformation comes from, up to the square of the amplitude.
std::vector<double> undeformed(const Geometry& geometry, std::span<const double> x);

/// The square or cube with n cells, or so many groups of cells that fill a small square or cube, along each edge.
/// `degree`: that of curved cells.
mesh::Mesh make_cube(int n, const Geometry& geometry, int degree);

} // namespace rafter::bench
