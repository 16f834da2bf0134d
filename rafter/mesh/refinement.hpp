// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/subdivision.hpp>

/// What the steps of one uniform refinement share: where each child goes and how its vertices are numbered.
namespace rafter::mesh {

/// Most refined vertices of a cell (hexahedron: 8 + 12 + 6 + 1).
inline constexpr int max_refined_vertices = 27;

/// Vertex numbers of the refined mesh: the old vertices keep theirs; the centres of edges, quadrilateral faces and
/// cells follow.
class RefinedVertices {
public:
  explicit RefinedVertices(const Mesh& mesh);
  std::int32_t total() const { return total_; }

  /// Numbers of subdivision(shape).vertices of one cell; returns as many as the shape has.
  std::array<std::int32_t, max_refined_vertices> of_cell(int group, std::int32_t cell) const;

private:
  std::int32_t number(int group, std::int32_t cell, const EntityCentre& centre) const;

  const Mesh& mesh_;
  std::vector<std::int32_t> face_centres_;              ///< shape (face); -1 on triangles
  std::vector<std::vector<std::int32_t>> cell_centres_; ///< shape (group)(cell); empty without centres
  std::int32_t total_ = 0;
};

/// Where one child of each cell of a group goes: cell start + parent * stride of a group of the refined mesh.
struct ChildPlace {
  int group = 0, stride = 0;
  std::int32_t start = 0;
  std::int32_t cell(std::int32_t parent) const { return start + parent * stride; }
};

/// Places of all children and the inner diagonals of tetrahedra.
struct RefinementPlan {
  std::vector<std::vector<ChildPlace>> places;      ///< shape (group)(child)
  std::vector<std::vector<std::uint8_t>> diagonals; ///< shape (group)(cell), empty unless tetrahedra
  const Subdivision& of_cell(const Mesh& mesh, int group, std::int32_t cell) const {
    return subdivision(mesh.groups[group].shape, diagonals[group].empty() ? 0 : diagonals[group][cell]);
  }
};

/// Fills points and nodes of `fine`, whose cells are complete. The map of a child is the map of its parent,
/// interpolated in the child's nodes: exact on all shapes but where a pyramid's is rational, and exact there on its
/// faces.
void refine_geometry(const Mesh& coarse, const RefinedVertices& vertices, const RefinementPlan& plan, Mesh& fine);

/// Tagged facets of the refined mesh: the children of each tagged facet, one after the other.
std::vector<TaggedFacet> refined_facets(const Mesh& coarse, const RefinedVertices& vertices);

/// Periodic facets of the refined mesh: the children of each, vertices matched as on their parents.
std::vector<PeriodicFacet> refined_periodic_facets(const Mesh& coarse, const RefinedVertices& vertices);

} // namespace rafter::mesh
