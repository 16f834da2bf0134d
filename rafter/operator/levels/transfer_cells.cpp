// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/transfer_cells.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <rafter/mesh/chunk_stages.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/mesh/subdivision.hpp>
#include <rafter/space/list_runs.hpp>

namespace rafter::op {
namespace {

/// Entries of a system vector that belong to a field, counted from the first one of the field.
std::vector<std::int32_t> entries_of(const System& system, std::size_t field,
                                     const std::vector<std::int32_t>& entries) {
  const auto [begin, end] = system.entries(field);
  std::vector<std::int32_t> result;
  for (const auto entry : entries)
    if (entry >= begin && entry < end) result.push_back(entry - begin);
  return result;
}

/// Coarse cells whose children are the same in reference coordinates.
struct ParentKind {
  std::int32_t group = 0;
  int diagonal = 0;
  auto operator<=>(const ParentKind&) const = default;
};

class StageBuilder {
public:
  StageBuilder(const TransferSpecification& of, std::size_t field, const std::shared_ptr<device::Device>& device)
      : of_(of), coarse_(*of.coarse.spaces[field]), fine_(*of.fine.spaces[field]), device_(device),
        coarse_masks_(coarse_, entries_of(of.coarse, field, of.constrained_coarse)),
        fine_masks_(fine_, entries_of(of.fine, field, of.constrained_fine)) {}

  TransferStages run() {
    if (of_.refinement == nullptr)
      take_blocks();
    else
      take_parents();
    return std::move(result_);
  }

private:
  TransferCells& add_kind(int cells_per_batch, std::int64_t num_cells) {
    auto& kind = result_.kinds.emplace_back();
    kind.components = coarse_.num_components();
    kind.cells_per_batch = cells_per_batch;
    kind.num_cells = num_cells;
    return kind;
  }

  void set_mask(TransferField& field, RunMask mask) const {
    field.mask_components = mask.components;
    field.factors = device::Array<float>(device_, std::move(mask.factors));
    (void)field.factors.device_read(); // so that runs need not bring them there
  }

  // --- both spaces on one discretisation ----------------------------------------------------------------------------

  void take_blocks() {
    const auto& batches = coarse_.batches();
    result_.stages = batches.stages;
    for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
      const auto& block = batches.blocks[b];
      auto& kind = add_kind(batches.cells_per_batch, block.num_cells);
      kind.coarse = on_block(coarse_, static_cast<int>(b));
      set_mask(kind.coarse, coarse_masks_.free(runs_of(coarse_, static_cast<int>(b))));
      auto& fine = kind.children.emplace_back(on_block(fine_, static_cast<int>(b)));
      set_mask(fine, fine_masks_.owned(runs_of(fine_, static_cast<int>(b))));
      kind.nodes_of_children.emplace_back(fine.element->nodes().begin(), fine.element->nodes().end());
    }
  }
  TransferField on_block(const space::FunctionSpace& space, int block) const {
    const auto& layout = space.block(block).layout;
    TransferField result;
    result.element = layout.element;
    result.layout = &layout;
    result.tables = space.index_tables(block, device_);
    return result;
  }
  static BatchedRuns runs_of(const space::FunctionSpace& space, int block) {
    const auto& dofs = space.block(block);
    return {.layout = &dofs.layout,
            .starts = dofs.run_starts,
            .cells_per_batch = space.batches().cells_per_batch,
            .num_cells = space.batches().blocks[static_cast<std::size_t>(block)].num_cells};
  }

  // --- parents and children -----------------------------------------------------------------------------------------

  /// Parents keep the order in which kernels visit them.
  void take_parents() {
    const mesh::BatchOptions options;
    std::map<ParentKind, std::vector<std::int32_t>> parents;
    for (const auto& block : coarse_.batches().blocks)
      for (std::int32_t i = 0; i < block.num_cells; ++i) {
        const auto cell = block.cells[static_cast<std::size_t>(i)];
        parents[{block.group, of_.refinement->diagonal(block.group, cell)}].push_back(cell);
      }
    std::vector<mesh::BatchedBlock> blocks;
    for (auto& [kind, cells] : parents) {
      const auto num_cells = std::ssize(cells);
      cells = mesh::padded_to_batches(std::move(cells), options.cells_per_batch);
      add_parents(kind, cells, num_cells, options.cells_per_batch);
      blocks.push_back({.group = kind.group,
                        .num_batches = static_cast<std::int32_t>(result_.kinds.back().num_batches()),
                        .cells = cells});
    }
    result_.stages = mesh::make_stages(coarse_.mesh(), blocks, options);
  }
  void add_parents(const ParentKind& parent, std::span<const std::int32_t> cells, std::int64_t num_cells,
                   int cells_per_batch) {
    auto& kind = add_kind(cells_per_batch, num_cells);
    kind.coarse = on_list(coarse_, coarse_.list_dofs(parent.group, cells, cells_per_batch));
    set_mask(kind.coarse, coarse_masks_.free(runs_of(*kind.coarse.dofs, num_cells)));
    const auto shape = coarse_.mesh().groups[static_cast<std::size_t>(parent.group)].shape;
    const auto& division = mesh::subdivision(shape, {of_.refinement->axes, parent.diagonal});
    for (const auto& child : division.children) {
      const auto element = fine_.element(child.shape);
      kind.nodes_of_children.push_back(mesh::map_to_parent(shape, division, child, element->nodes()));
      kind.children.emplace_back().element = element;
    }
    const auto nodes = kernel::distinct_nodes(kind.input(kernel::TransferDirection::prolongation));
    for (std::size_t k = 0; k < kind.children.size(); ++k) {
      const auto& place = of_.refinement->places[static_cast<std::size_t>(parent.group)][k];
      std::vector<std::int32_t> children;
      for (const auto cell : cells) children.push_back(place.cell(cell));
      const auto all = fine_.list_dofs(place.group, children, cells_per_batch);
      kind.children[k] = on_list(fine_, std::make_shared<const space::ListDofs>(with_places(*all, nodes.places[k])));
      set_mask(kind.children[k], fine_masks_.owned(runs_of(*kind.children[k].dofs, num_cells)));
    }
  }
  /// The list without the entities that stand in the list of an earlier child.
  static space::ListDofs with_places(const space::ListDofs& list, const std::vector<int>& places) {
    std::vector<bool> is_kept;
    const int* dof = list.layout.run_dofs.data();
    for (const int length : list.layout.run_lengths) {
      is_kept.push_back(places[static_cast<std::size_t>(*dof)] >= 0);
      dof += length;
    }
    return space::with_runs(list, is_kept);
  }
  TransferField on_list(const space::FunctionSpace& space, std::shared_ptr<const space::ListDofs> dofs) const {
    TransferField result;
    result.element = dofs->layout.element;
    result.layout = &dofs->layout;
    result.tables = space.index_tables(dofs, device_);
    result.dofs = std::move(dofs);
    return result;
  }
  static BatchedRuns runs_of(const space::ListDofs& dofs, std::int64_t num_cells) {
    return {.layout = &dofs.layout,
            .starts = dofs.run_starts,
            .cells_per_batch = dofs.cells_per_batch,
            .num_cells = num_cells};
  }

  const TransferSpecification& of_;
  const space::FunctionSpace &coarse_, &fine_;
  std::shared_ptr<device::Device> device_;
  RunMasks coarse_masks_, fine_masks_;
  TransferStages result_;
};

} // namespace

kernel::TransferInput TransferCells::input(kernel::TransferDirection direction) const {
  kernel::TransferInput result{.direction = direction,
                               .components = components,
                               .coarse = coarse.element,
                               .children = {},
                               .masks = {.coarse = coarse.mask_components}};
  for (std::size_t k = 0; k < children.size(); ++k) {
    result.children.push_back({children[k].element, nodes_of_children[k]});
    result.masks.children.push_back(children[k].mask_components);
  }
  return result;
}

TransferStages transfer_stages(const TransferSpecification& specification, std::size_t field,
                               const std::shared_ptr<device::Device>& device) {
  return StageBuilder(specification, field, device).run();
}

} // namespace rafter::op
