// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

namespace rafter::element {
class Element;
}

namespace rafter::space {

struct PatchLayout;

/// The gather pattern of an element on a shape, which is the same for every batch.
struct ElementLayout {
  std::shared_ptr<const element::Element> element;
  int num_runs = 0;          ///< number of shared entities with dofs (vertices, then edges, then faces; not the cell)
  std::vector<int> run_dims; ///< dimension of the entity, shape (run)
  std::vector<int> run_entities;  ///< local number of the entity, shape (run)
  std::vector<int> run_lengths;   ///< number of dofs (without components), shape (run)
  std::vector<int> run_dofs;      ///< local dofs of the runs one after the other, each in the cell's order
  std::vector<int> interior_dofs; ///< local dofs of the cell interior
  /// permutations[offset + k] is the canonical position of the k-th dof of a run. The offset comes from a batch's
  /// permutation table; permutation_offsets[r][o] is that of run r in orientation o. The identity of each run length
  /// has an offset, too.
  std::vector<std::int32_t> permutations;
  std::vector<std::vector<std::int32_t>> permutation_offsets; ///< shape (run, orientation code)
  /// arrangements[offset + i] is the local dof at canonical position i, the inverse of permutations. Runs follow each
  /// other, each with its different permutations; arrangement_offsets[r][o] is the offset of run r in orientation o.
  std::vector<int> arrangements;
  std::vector<std::vector<std::int32_t>> arrangement_offsets; ///< shape (run, orientation code)
  /// Gather pattern of batches of patches; null: there are none, or they are not used.
  std::shared_ptr<const PatchLayout> patch;
};
inline auto members(const ElementLayout& value) {
  const auto& [element, num_runs, run_dims, run_entities, run_lengths, run_dofs, interior_dofs, permutations,
               permutation_offsets, arrangements, arrangement_offsets, patch] = value;
  return std::tie(element, num_runs, run_dims, run_entities, run_lengths, run_dofs, interior_dofs, permutations,
                  permutation_offsets, arrangements, arrangement_offsets, patch);
}

/// The gather pattern of a patch (mesh/patches.hpp), for the dofs that its cells share with one another or with other
/// cells. The dofs on a corner, an edge, a face and in the interior of the patch are runs like those of one large cell,
/// and each such run consists of runs of its cells. Dofs are numbered on the lattice of all nodes of
/// the patch, first axis fastest.
struct PatchLayout {
  struct CellRun {
    int child = 0, run = 0; ///< a cell of the patch that has the dofs, and the number of the run in that cell
  };
  int num_nodes = 0;        ///< number of nodes of the lattice
  std::vector<int> corners; ///< node at which each child begins, shape (child)
  /// Node of each dof of a cell, counted from the node where the cell begins, in the order of ElementLayout::run_dofs.
  std::vector<int> places;
  std::vector<int> run_lengths;   ///< number of dofs (without components), shape (run)
  std::vector<int> num_cell_runs; ///< number of runs of cells that make up each run, shape (run)
  std::vector<CellRun> cell_runs; ///< these runs of cells, one run of the patch after the other
  /// Nodes, in the way of ElementLayout::arrangements; those of the runs as cells see them come first.
  std::vector<int> arrangements;
};
inline auto members(const PatchLayout::CellRun& value) {
  const auto& [child, run] = value;
  return std::tie(child, run);
}
inline auto members(const PatchLayout& value) {
  const auto& [num_nodes, corners, places, run_lengths, num_cell_runs, cell_runs, arrangements] = value;
  return std::tie(num_nodes, corners, places, run_lengths, num_cell_runs, cell_runs, arrangements);
}

/// Makes the gather pattern of an element. Permutations that are equal as lists share one place in the table, so two
/// codes that act alike on an entity's dofs (all of them on a single dof) have the same offset, and an offset equal to
/// that of code 0 means identity.
ElementLayout make_layout(std::shared_ptr<const element::Element> element);

/// Makes the gather pattern of an element whose dofs no neighbour shares: all of them are interior, in local order.
ElementLayout make_broken_layout(std::shared_ptr<const element::Element> element);

/// Number of patches in a batch of so many cells; 0 where cells are gathered one by one.
int patches_per_batch(const ElementLayout& layout, int cells_per_batch);

} // namespace rafter::space
