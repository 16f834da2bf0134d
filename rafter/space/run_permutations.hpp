// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>

#include <rafter/space/block_dofs.hpp>

/// Reads the permutations of runs, which spaces whose runs all have one dof do not keep.
namespace rafter::space {

/// Says whether runs have several dofs, which cells may see in different orders. Tables of permutation offsets
/// (BlockDofs::run_permutations and that of ListDofs) are empty otherwise.
inline bool has_permutations(const ElementLayout& layout) { return layout.permutations.size() > 1; }

/// The canonical positions of the dofs of a run in a cell; `run` is its place in the tables of shape (batch, run,
/// cell).
inline const std::int32_t* permutation_of(const BlockDofs& dofs, std::size_t run) {
  return dofs.layout.permutations.data() + (has_permutations(dofs.layout) ? dofs.run_permutations[run] : 0);
}

} // namespace rafter::space
