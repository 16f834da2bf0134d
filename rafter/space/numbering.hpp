// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include <rafter/space/function_space.hpp>

/// First-touch numbering of the dofs of a mesh in the order of its batches, within each part of the local vector
/// (entry_parts.hpp).
namespace rafter::space {

struct Numbering {
  std::vector<BlockDofs> blocks; ///< as CellBatches::blocks
  comm::IndexMap index_map;
  std::int64_t interface_begin = 0; ///< first owned entry that other processes have, too; their number where none is
};

/// Layouts must be given, one per block. Entries of a batch: its new shared entities run by run (vertices, edges,
/// faces), lanes inner, then the cell interiors. Run by run and not cell by cell: a batch is a compact cluster of
/// cells, so the faces on one side of it lie side by side, which is what a neighbouring batch reads; and the one-dof
/// runs of vertices fill whole cache lines. On a part of a mesh the call is collective. Throws InputError when 32-bit
/// entries or the memory of the machine do not suffice.
Numbering number_dofs(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::vector<ElementLayout> layouts,
                      int num_components);

} // namespace rafter::space
