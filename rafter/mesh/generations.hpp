// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/subdivision.hpp>

/// Keeps the meshes that a mesh was refined from, and where the children of their cells are, for multigrid.
namespace rafter::mesh {

/// Place of one child of each cell of a group: it is cell start + parent * stride of a group of the refined mesh.
struct ChildPlace {
  int group = 0, stride = 0;
  std::int32_t start = 0;
  std::int32_t cell(std::int32_t parent) const { return start + parent * stride; }
};

/// One refinement of a mesh.
struct Refinement {
  std::shared_ptr<const Mesh> coarse; ///< the mesh that was refined
  /// Places of the children of the cells of `coarse`, shape (group)(child), in the order of Subdivision::children.
  std::vector<std::vector<ChildPlace>> places;
  /// The inner diagonal of each tetrahedron, shape (group)(cell); empty for groups of other shapes.
  std::vector<std::vector<std::uint8_t>> diagonals;
  Axes axes{}; ///< axes of the reference cells of `coarse` along which its cells were halved

  bool is_partial() const { return !axes.has_all(coarse->tdim); } ///< cells were halved along some axes alone
  int diagonal(int group, std::int32_t cell) const {
    const auto& of_group = diagonals[static_cast<std::size_t>(group)];
    return of_group.empty() ? 0 : of_group[static_cast<std::size_t>(cell)];
  }
  /// Returns the division of a cell of `coarse`.
  Halving halving(int group, std::int32_t cell) const { return {axes, diagonal(group, cell)}; }
  const Subdivision& of_cell(int group, std::int32_t cell) const {
    return subdivision(coarse->groups[static_cast<std::size_t>(group)].shape, halving(group, cell));
  }
};

/// Meshes of which each is the refinement of the one before it.
struct Generations {
  std::vector<std::shared_ptr<const Mesh>> meshes; ///< coarse to fine, at least one
  std::vector<Refinement> refinements;             ///< refinements[i] makes meshes[i + 1] of meshes[i]

  const std::shared_ptr<const Mesh>& finest() const { return meshes.back(); }
};

/// Refines a mesh as Mesh::refined does and keeps all generations, that of the mesh included. Throws the same errors.
Generations refined_generations(std::shared_ptr<const Mesh> mesh, int times);
/// Refines it once for each entry, along these axes of the reference cells of all cells. Throws InputError, too, for
/// shapes that are not halved along such axes alone (can_be_halved), and where neighbours divide a common edge
/// differently: their axes must be the same ones.
Generations refined_generations(std::shared_ptr<const Mesh> mesh, std::span<const Axes> steps);

/// The axes along which boxes are halved, from a generation to the one before.
enum class BoxCoarsening : std::uint8_t {
  all_axes,
  /// Boxes of intervals, quadrilaterals and hexahedra are halved along the axes along which cells are less than twice
  /// as long as along that of the shortest edges, until cells are no longer stretched; those of prisms along both axes
  /// of the triangles, or the third. Others are halved along all axes.
  short_edges
};

/// Makes the box of make_box, refined `times` times, by refining one with half as many cells along some axes, and so on
/// while these numbers are even (of stretched cells: some of them). The cells of the box are those that make_box gives
/// it, in another order. Boxes of pyramids, whose children are no pyramids alone, and mixed ones have no coarser
/// generation. Throws the errors of make_box and Mesh::refined.
Generations box_generations(const BoxOptions& options, int times = 0,
                            BoxCoarsening coarsening = BoxCoarsening::short_edges);

/// Number of axes along which the box itself is halved to make the generation before it; 0: there is none.
int num_halved_axes(const BoxOptions& options, BoxCoarsening coarsening = BoxCoarsening::short_edges);

/// Identifies the facets of each pair on all generations, as Mesh::periodic does. Those with a cell from side to side,
/// and all before them, are left out. Throws the errors of Mesh::periodic.
Generations periodic_generations(const Generations& generations, const std::vector<PeriodicPair>& pairs);

} // namespace rafter::mesh
