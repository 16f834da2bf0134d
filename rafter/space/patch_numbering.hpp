// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include <rafter/space/function_space.hpp>
#include <rafter/space/patterns.hpp>

namespace rafter::space {

/// Numbers the shared dofs of batches of patches. Those that a patch is the first to touch get consecutive entries run
/// by run, in the order of its lattice. Patches that touch them later may see them in another orientation.
///
/// Functions take `run_of(run, cell)`, which returns the Run of a cell.
class PatchNumbering {
public:
  /// A run of a cell.
  struct Run {
    std::int32_t& start;             ///< first entry; below 0: it is not numbered yet
    const std::int32_t* permutation; ///< canonical position of the k-th dof
    int length;                      ///< number of dofs
  };

  PatchNumbering(std::unique_ptr<PatchLayout> layout, const mesh::CellBlock& block, int cells_per_batch,
                 int num_components);

  /// Numbers the dofs of a batch that are not numbered, from `next` on. Returns whether each of its patches sees the
  /// dofs of each run one after the other in the vector, as one that is the first to touch them does. Different threads
  /// may number batches without a common dof at the same time.
  template <class RunOf> bool number(std::size_t batch, std::int32_t& next, const RunOf& run_of) {
    bool is_straight = true;
    for_runs([&](std::size_t run, auto cell_runs, std::size_t) {
      for (std::size_t patch = 0; patch < num_patches_; ++patch) {
        std::int32_t least = std::numeric_limits<std::int32_t>::max(), following = -1;
        for (const auto& cell_run : cell_runs) {
          const Run of_cell = run_of(cell_run.run, cell_of(batch, cell_run, patch));
          if (of_cell.start < 0) of_cell.start = std::exchange(next, next + of_cell.length * num_components_);
          for (int k = 0; k < of_cell.length; ++k) {
            const auto entry = of_cell.start + of_cell.permutation[k] * num_components_;
            is_straight = is_straight && (following < 0 || entry == following);
            following = entry + num_components_;
            least = std::min(least, entry);
          }
        }
        starts_[(batch * layout_->run_lengths.size() + run) * num_patches_ + patch] = least;
      }
    });
    return is_straight;
  }

  /// Returns the number of the pattern of a numbered batch, which number() has said to be straight or not; 0 where
  /// cells outside of patches numbered a part of a run before, or the patches of the batch see their runs in different
  /// orientations.
  template <class RunOf> std::int32_t pattern(std::size_t batch, bool is_straight, const RunOf& run_of) {
    if (is_straight) return patterns_.number(straight_pattern_);
    std::vector<std::int32_t> pattern;
    bool is_uniform = true;
    for_runs([&](std::size_t run, auto cell_runs, std::size_t first_dof) {
      for (std::size_t patch = 0; patch < num_patches_; ++patch) {
        entries_.clear();
        for (const auto& cell_run : cell_runs) {
          const Run of_cell = run_of(cell_run.run, cell_of(batch, cell_run, patch));
          for (int k = 0; k < of_cell.length; ++k)
            entries_.push_back(of_cell.start + of_cell.permutation[k] * num_components_);
        }
        const auto seen =
            arrangement(first_dof, starts_[(batch * layout_->run_lengths.size() + run) * num_patches_ + patch]);
        if (patch == 0) pattern.push_back(seen);
        is_uniform = is_uniform && seen >= 0 && seen == pattern.back();
      }
    });
    return is_uniform ? patterns_.number(pattern) : 0;
  }

  /// Moves the layout, the starts and the patterns into `dofs`.
  void finish(BlockDofs& dofs) &&;

private:
  /// Calls visit(run, runs of cells, first dof) for each run of a patch.
  template <class Visit> void for_runs(const Visit& visit) const {
    std::size_t first_cell_run = 0, first_dof = 0;
    for (std::size_t run = 0; run < layout_->run_lengths.size(); ++run) {
      const auto num_cell_runs = static_cast<std::size_t>(layout_->num_cell_runs[run]);
      visit(run, std::span<const PatchLayout::CellRun>(layout_->cell_runs).subspan(first_cell_run, num_cell_runs),
            first_dof);
      first_cell_run += num_cell_runs;
      first_dof += static_cast<std::size_t>(layout_->run_lengths[run]);
    }
  }
  std::int32_t cell_of(std::size_t batch, const PatchLayout::CellRun& cell_run, std::size_t patch) const {
    return block_.cells[batch * cells_per_batch_ + static_cast<std::size_t>(cell_run.child) * num_patches_ + patch];
  }
  std::int32_t arrangement(std::size_t first, std::int32_t start);

  std::unique_ptr<PatchLayout> layout_;
  const mesh::CellBlock& block_;
  std::size_t cells_per_batch_, num_patches_; ///< number of cells and of patches in a batch
  int num_components_;
  base::AlignedVector<std::int32_t> starts_; ///< see BlockDofs::patch_starts
  /// Offsets of arrangements in other orientations, by first dof of the run and nodes.
  std::map<std::pair<std::size_t, std::vector<std::int32_t>>, std::int32_t> arrangements_;
  Patterns patterns_;
  std::vector<std::int32_t> straight_pattern_; ///< pattern of batches that number() says to be straight
  std::vector<std::int32_t> entries_;          ///< entries of the dofs of the run of which the pattern is looked for
};

} // namespace rafter::space
