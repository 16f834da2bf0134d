// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/base/aligned.hpp>
#include <rafter/space/layout.hpp>

namespace rafter::space {

/// Says where the dofs of the batches of one block are in the local vector.
struct BlockDofs {
  ElementLayout layout;
  /// First entry of each run, shape (batch, run, cell); padding repeats the last active cell.
  base::RawVector<std::int32_t> run_starts;
  /// Offsets into layout.permutations, shape (batch, run, cell); empty where runs have one dof each.
  base::RawVector<std::int32_t> run_permutations;
  /// First entry of the interior run, shape (batch).
  base::AlignedVector<std::int32_t> interior_starts;
  /// Number of the batch's pattern, from 1, where all cells are active and see the entities of each run in the same
  /// orientation, so that its runs are gathered whole; 0 where cells differ or the block has too many patterns. Shape
  /// (batch).
  base::AlignedVector<std::int32_t> pattern_numbers;
  /// Offsets into layout.arrangements, shape (pattern, run).
  std::vector<std::int32_t> patterns;
  /// The entries first .. last - 1 of the local vector that this batch touches first, shape (batch, 2); the interior
  /// run is the last part of the range.
  base::AlignedVector<std::int32_t> first_touch;
  /// First entry of each run of a patch, shape (batch, run, patch); 0 in batches without patches.
  base::AlignedVector<std::int32_t> patch_starts;
  /// Number of the pattern of a batch of patches, from 1, shape (batch); 0: it is gathered cell by cell. Offsets of the
  /// patterns into PatchLayout::arrangements, shape (pattern, run).
  std::vector<std::int32_t> patch_numbers, patch_patterns;
};

/// Says where the dofs of any cells of one group are in the local vector. Their batches and their order need not be
/// those of the discretisation; they are the cells behind facets, for instance. Cells of a batch may then lie in
/// several interior runs.
struct ListDofs {
  std::int32_t group = 0;
  int cells_per_batch = 8;
  std::vector<std::int32_t> cells; ///< numbers in the group, shape (batch, cell)
  ElementLayout layout;
  /// They mean what those of BlockDofs mean; shape (batch, run, cell).
  base::AlignedVector<std::int32_t> run_starts, run_permutations;
  /// First entry of a cell's interior dofs, and the distance from one to the next; shape (batch, cell), empty without.
  base::AlignedVector<std::int32_t> interior_starts, interior_strides;
};

} // namespace rafter::space
