// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <rafter/mesh/generations.hpp>

/// Data that the steps of one refinement share: the numbers of the vertices of the children.
namespace rafter::mesh {

/// Largest number of vertices of a refined cell (hexahedron: 8 + 12 + 6 + 1).
inline constexpr int max_refined_vertices = 27;

/// Vertex numbers of a mesh that is refined along some axes: its vertices and the centres of edges, quadrilateral faces
/// and cells, as far as these are halved. Above one dimension a centre has its number between those of the vertices
/// around it, so that children see their edges and faces as their parent does.
class RefinedVertices {
public:
  /// Throws InputError for edges that one cell halves and another does not.
  RefinedVertices(const Mesh& mesh, Axes axes);
  std::int32_t total() const { return total_; }
  /// Number in the refined mesh of a vertex of the mesh.
  std::int32_t of_vertex(std::int32_t vertex) const {
    return of_vertices_.empty() ? vertex : of_vertices_[static_cast<std::size_t>(vertex)];
  }
  Axes axes() const { return axes_; }

  /// Numbers in the refined mesh of the vertices subdivision(shape, axes).vertices of one cell; the entries beyond them
  /// are unused.
  std::array<std::int32_t, max_refined_vertices> of_cell(int group, std::int32_t cell) const;

private:
  std::int32_t number(int group, std::int32_t cell, const EntityCentre& centre) const;
  std::int64_t number_edges(std::int64_t next);
  std::int64_t number_faces(std::int64_t next);
  /// Gives centres numbers between those of the vertices around them.
  void order_between();

  const Mesh& mesh_;
  Axes axes_;
  std::vector<std::int32_t>
      of_vertices_; ///< numbers of the vertices of the mesh, shape (vertex); empty: they keep theirs
  std::vector<std::int32_t> edge_centres_; ///< vertex in the centre of each edge, shape (edge); -1: it is not halved
  std::vector<std::int32_t> face_centres_; ///< the same of faces, shape (face); -1 on triangles, too
  /// Vertex in the centre of each cell, shape (group)(cell); empty for shapes without.
  std::vector<std::vector<std::int32_t>> cell_centres_;
  std::int32_t total_ = 0;
};

/// Fills points and nodes of `fine`, whose cells are complete. The map of a child is that of its parent, interpolated
/// in the child's nodes. This is exact, except inside pyramids with a rational map; there it is exact on the faces.
void refine_geometry(const Mesh& coarse, const RefinedVertices& vertices, const Refinement& refinement, Mesh& fine);

/// Tagged facets of the refined mesh: all children of each tagged facet.
std::vector<TaggedFacet> refined_facets(const Mesh& coarse, const RefinedVertices& vertices);

/// Periodic facets of the refined mesh: all children of each, with vertices matched as on the parents.
std::vector<PeriodicFacet> refined_periodic_facets(const Mesh& coarse, const RefinedVertices& vertices);

} // namespace rafter::mesh
