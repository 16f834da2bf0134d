// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <rafter/kernel/transfer.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/operator/generate/run_mask.hpp>
#include <rafter/operator/levels/transfer.hpp>
#include <rafter/space/index_tables.hpp>

/// Divides the cells of a transfer into kinds, of which each has kernels of its own.
namespace rafter::op {

/// One field on the cells of a list: where its dofs are, and their mask.
struct TransferField {
  std::shared_ptr<const element::Element> element;
  const space::ElementLayout* layout = nullptr; ///< belongs to the space, or to `dofs`
  std::shared_ptr<const space::ListDofs> dofs;  ///< null for the cells of a block
  std::shared_ptr<const space::IndexTables> tables;
  /// Where the shared dofs are, as those of space::BlockDofs and ListDofs.
  std::span<const std::int32_t> run_starts, run_permutations;
  RunMask mask; ///< without components there is none

  /// The factors on a device. They are made on first use, and belong to this object.
  const device::Array<float>& factors_on(const std::shared_ptr<device::Device>& device) const;

private:
  mutable device::Array<float> factors_;
};

/// What cells own in the fine vector, by sub-batches: see schedule::role::owned_begins.
struct OwnedNumbers {
  device::Array<std::int32_t> begins, places, entries;
};

/// Coarse cells of one kind, and the fine cells that lie in them: the cells themselves, or their children.
struct TransferCells {
  int components = 1;
  int cells_per_batch = 8;
  std::int64_t num_cells = 0;
  TransferField coarse;
  std::vector<TransferField> children;                ///< shape (child)
  std::vector<std::vector<double>> nodes_of_children; ///< kernel::ChildCell::nodes, shape (child)

  bool has_lists() const { return coarse.dofs != nullptr; }
  std::int64_t num_batches() const { return (num_cells + cells_per_batch - 1) / cells_per_batch; }
  /// The program of these cells in a direction.
  kernel::TransferInput input(kernel::TransferDirection direction) const;
  /// What sub-batches of so many cells own. They are made on first use, and belong to this object.
  const OwnedNumbers& owned(int vector_width, const std::shared_ptr<device::Device>& device) const;
  /// Frees what lists and factors are made of, when all kernels have theirs.
  void forget_masks();

private:
  mutable std::map<int, OwnedNumbers> owned_; ///< by width
};

/// All cells of a transfer of one field. `stages` are those of mesh::make_stages: chunk.block is a number of `kinds`.
struct TransferStages {
  std::vector<TransferCells> kinds;
  std::vector<std::vector<mesh::Chunk>> stages;
};
/// Makes the cells of a transfer of field number `field`. An entity of the fine space belongs to the first cell that
/// has it, in the order of kinds, batches, children, entities and cells of a batch. Throws InputError for constraints
/// on a part of an entity.
TransferStages transfer_stages(const TransferSpecification& specification, std::size_t field,
                               const std::shared_ptr<device::Device>& device);

} // namespace rafter::op
