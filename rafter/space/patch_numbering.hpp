// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include <rafter/space/function_space.hpp>
#include <rafter/space/patterns.hpp>

namespace rafter::space {

/// Numbers the shared dofs of batches of patches. Those that a patch is the first to touch get consecutive entries run
/// by run, in the order of its lattice. Patches that touch them later may see them in another orientation.
class PatchNumbering {
public:
  /// A run of a cell.
  struct Run {
    std::int32_t& start;             ///< first entry; below 0: it is not numbered yet
    const std::int32_t* permutation; ///< canonical position of the k-th dof
    int length;                      ///< number of dofs
  };
  using RunOf = std::function<Run(int run, std::int32_t cell)>;

  PatchNumbering(std::unique_ptr<PatchLayout> layout, const mesh::CellBlock& block, int cells_per_batch,
                 int num_components, RunOf run_of);
  /// Numbers the dofs of a batch that are not numbered, from `next` on. Returns the number of the batch's pattern; 0
  /// where cells outside of patches numbered a part of a run before, or the patches of the batch see their runs in
  /// different orientations.
  std::int32_t number(std::size_t batch, std::int32_t& next);
  /// Moves the layout, the starts and the patterns into `dofs`.
  void finish(BlockDofs& dofs) &&;

private:
  std::int32_t start_of_run(std::span<const PatchLayout::PatchRun> pieces, std::span<const std::int32_t> cells,
                            std::size_t patch, std::int32_t& next);
  std::int32_t arrangement(std::size_t first, std::int32_t start);

  std::unique_ptr<PatchLayout> layout_;
  const mesh::CellBlock& block_;
  std::size_t cells_per_batch_, num_patches_; ///< number of cells and of patches in a batch
  int num_components_;
  RunOf run_of_;
  base::AlignedVector<std::int32_t> starts_; ///< see BlockDofs::patch_starts
  /// Offsets of arrangements in other orientations, by first dof of the run and nodes.
  std::map<std::pair<std::size_t, std::vector<std::int32_t>>, std::int32_t> arrangements_;
  Patterns patterns_;
  std::vector<std::int32_t> entries_; ///< entries of the dofs of the run that is being numbered
};

} // namespace rafter::space
