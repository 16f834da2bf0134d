// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include <rafter/element/cell.hpp>

namespace rafter::mesh {

/// Geometry numbers of MFEM, in order: point, segment, triangle, square, tetrahedron, cube, prism, pyramid.
inline constexpr std::array mfem_shapes{
    element::Shape::point,       element::Shape::interval,   element::Shape::triangle, element::Shape::quadrilateral,
    element::Shape::tetrahedron, element::Shape::hexahedron, element::Shape::prism,    element::Shape::pyramid};

/// Cells of all shapes in the order of the file, on which MFEM's numbering of edges and faces depends.
struct MfemCells {
  std::vector<element::Shape> shapes;
  std::vector<std::int32_t> tags;
  std::vector<std::size_t> starts;    ///< first entry of each cell in `vertices`, shape (cell)
  std::vector<std::int32_t> vertices; ///< vertices of the cells, in MFEM's order of corners, which is also Gmsh's
  std::size_t size() const { return shapes.size(); }
  std::span<const std::int32_t> of(std::size_t cell) const {
    return std::span(vertices).subspan(starts[cell], static_cast<std::size_t>(element::num_vertices(shapes[cell])));
  }
};

/// Numbers of the nodal degrees of freedom of each cell, in the order of gmsh_lattice.
struct MfemDofs {
  std::int64_t count = 0;
  std::vector<std::vector<std::int32_t>> cells;
};

/// Dofs of MFEM's H1 spaces: vertices, then edges, faces and cells, each in the order of first appearance. Edges run
/// from the lower to the higher vertex number; the order of corners on a face is that of the first cell that has it.
/// `is_legacy` means the collection "Cubic", which numbers the inner dofs of hexahedra in the order of the corners
/// instead of lexicographically.
MfemDofs mfem_h1_dofs(const MfemCells& cells, int dim, std::int32_t num_vertices, int degree, bool is_legacy);

/// Dofs of MFEM's L2 spaces: cell after cell, lexicographic (x fastest) in each.
MfemDofs mfem_l2_dofs(const MfemCells& cells, int degree);

} // namespace rafter::mesh
