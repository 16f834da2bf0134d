// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/space/function_space.hpp>

/// Numbers the dofs of a mesh in the order in which its batches first touch them, within each part of the local vector
/// (entry_parts.hpp).
namespace rafter::space {

/// Result of the numbering.
struct Numbering {
  std::vector<BlockDofs> blocks; ///< blocks in the order of CellBatches::blocks
  comm::IndexMap index_map;
  /// First owned entry that other processes have, too; the number of owned entries where there is none.
  std::int64_t interface_begin = 0;
};

/// Numbers the dofs. There must be one layout per block. The entries of a batch are its new shared entities run by run
/// (vertices, edges, faces), cells inner, then the cell interiors. They go run by run and not cell by cell, because a
/// batch is a compact cluster of cells, so the faces on one side of it lie side by side, which is what a neighbouring
/// batch reads; and the one-dof runs of vertices fill whole cache lines. On a part of a mesh all processes call it
/// together. Throws InputError when 32-bit entries or the memory of the machine do not suffice.
Numbering number_dofs(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::vector<ElementLayout> layouts,
                      int num_components);

} // namespace rafter::space
