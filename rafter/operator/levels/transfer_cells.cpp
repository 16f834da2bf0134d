// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/transfer_cells.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <rafter/base/parallel.hpp>
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

  // --- both spaces on one discretisation ----------------------------------------------------------------------------

  void take_blocks() {
    const auto& batches = coarse_.batches();
    result_.stages = batches.stages;
    for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
      const auto& block = batches.blocks[b];
      auto& kind = add_kind(batches.cells_per_batch, block.num_cells);
      kind.coarse = on_block(coarse_, static_cast<int>(b));
      kind.coarse.mask = coarse_masks_.free(runs_of(kind.coarse, kind));
      auto& fine = kind.children.emplace_back(on_block(fine_, static_cast<int>(b)));
      fine.mask = fine_masks_.owned(runs_of(fine, kind));
      kind.nodes_of_children.emplace_back(fine.element->nodes().begin(), fine.element->nodes().end());
    }
  }
  TransferField on_block(const space::FunctionSpace& space, int block) const {
    const auto& layout = space.block(block).layout;
    TransferField result;
    result.element = layout.element;
    result.layout = &layout;
    result.tables = space.index_tables(block, device_);
    result.run_starts = space.block(block).run_starts;
    result.run_permutations = space.block(block).run_permutations;
    return result;
  }
  static BatchedRuns runs_of(const TransferField& field, const TransferCells& cells) {
    return {.layout = field.layout,
            .starts = field.run_starts,
            .cells_per_batch = cells.cells_per_batch,
            .num_cells = cells.num_cells};
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
    kind.coarse.mask = coarse_masks_.free(runs_of(kind.coarse, kind));
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
      kind.children[k].mask = fine_masks_.owned(runs_of(kind.children[k], kind));
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
    result.run_starts = dofs->run_starts;
    result.run_permutations = dofs->run_permutations;
    result.dofs = std::move(dofs);
    return result;
  }

  const TransferSpecification& of_;
  const space::FunctionSpace &coarse_, &fine_;
  std::shared_ptr<device::Device> device_;
  RunMasks coarse_masks_, fine_masks_;
  TransferStages result_;
};

/// Makes the lists of what the cells of some batches own, from their masks.
class OwnedLists {
public:
  OwnedLists(const TransferCells& cells, const kernel::ChildNodes& nodes, int vector_width)
      : cells_(cells), nodes_(nodes), width_(static_cast<std::size_t>(vector_width)),
        num_subbatches_(static_cast<std::size_t>(cells.cells_per_batch) / width_) {
    for (const auto& child : cells.children) has_mask_by_component_ |= child.mask.components > 1;
    for (const auto& of_child : nodes_.places)
      for (const int node : of_child) num_nodes_ = std::max(num_nodes_, static_cast<std::size_t>(node + 1));
  }

  std::vector<std::int32_t> ends, places, entries; ///< shape (sub-batch), (number), (number)

  void add_batch(std::size_t batch) {
    for (std::size_t subbatch = 0; subbatch < num_subbatches_; ++subbatch) {
      numbers_.clear();
      for (std::size_t k = 0; k < cells_.children.size(); ++k) add_child(k, batch, subbatch * width_);
      std::ranges::sort(numbers_); // entries that follow each other are written one after the other
      for (const auto& number : numbers_) {
        entries.push_back(number.entry);
        places.push_back(number.place);
      }
      ends.push_back(static_cast<std::int32_t>(entries.size()));
    }
  }

private:
  struct Number {
    std::int32_t entry = 0, place = 0;
    auto operator<=>(const Number&) const = default;
  };
  /// A run of a cell: its place in the tables of the child, and its dofs among those of the layout.
  struct Run {
    std::size_t place = 0, first_dof = 0, num_dofs = 0;
  };

  void add_child(std::size_t k, std::size_t batch, std::size_t first_cell) {
    const auto& child = cells_.children[k];
    const auto& lengths = child.layout->run_lengths;
    const auto cells = static_cast<std::size_t>(cells_.cells_per_batch);
    const auto components = static_cast<std::size_t>(child.mask.components);
    std::size_t first_dof = 0;
    for (std::size_t run = 0; run < lengths.size(); first_dof += static_cast<std::size_t>(lengths[run++]))
      for (std::size_t lane = 0; lane < width_; ++lane) {
        const std::size_t line = batch * lengths.size() + run, cell = first_cell + lane;
        for (std::size_t c = 0; c < components; ++c)
          if (child.mask.factors[(line * components + c) * cells + cell] != 0)
            add_run(k, {line * cells + cell, first_dof, static_cast<std::size_t>(lengths[run])}, lane, c);
      }
  }
  void add_run(std::size_t k, const Run& run, std::size_t lane, std::size_t component) {
    const auto& child = cells_.children[k];
    const auto components = static_cast<std::size_t>(cells_.components);
    const bool is_turned = !child.run_permutations.empty();
    const auto permutation = is_turned ? static_cast<std::size_t>(child.run_permutations[run.place]) : 0;
    for (std::size_t i = 0; i < run.num_dofs; ++i) {
      const auto position = is_turned ? static_cast<std::size_t>(child.layout->permutations[permutation + i]) : i;
      const auto dof = static_cast<std::size_t>(child.layout->run_dofs[run.first_dof + i]);
      const auto node = static_cast<std::size_t>(nodes_.places[k][dof]);
      for (std::size_t c = 0; c < (has_mask_by_component_ ? components : 1); ++c)
        if (child.mask.components == 1 || c == component)
          numbers_.push_back({child.run_starts[run.place] + static_cast<std::int32_t>(position * components + c),
                              static_cast<std::int32_t>((c * num_nodes_ + node) * width_ + lane)});
    }
  }

  const TransferCells& cells_;
  const kernel::ChildNodes& nodes_;
  std::size_t width_, num_subbatches_, num_nodes_ = 0;
  bool has_mask_by_component_ = false; ///< numbers are those of components, and else of dofs with all components
  std::vector<Number> numbers_;        ///< those of a sub-batch
};

/// Makes the lists of all batches, on several threads.
OwnedNumbers owned_numbers(const TransferCells& cells, int vector_width,
                           const std::shared_ptr<device::Device>& device) {
  constexpr std::int64_t least_batches = 64;
  const auto nodes = kernel::distinct_nodes(cells.input(kernel::TransferDirection::prolongation));
  const base::Parts batches(cells.num_batches(), least_batches);
  std::vector<OwnedLists> parts(static_cast<std::size_t>(batches.count()), OwnedLists(cells, nodes, vector_width));
  batches.run([&](std::int64_t begin, std::int64_t end, std::int64_t number) {
    for (auto batch = begin; batch < end; ++batch)
      parts[static_cast<std::size_t>(number)].add_batch(static_cast<std::size_t>(batch));
  });
  std::size_t num_lists = 1, num_entries = 0;
  for (const auto& part : parts) {
    num_lists += part.ends.size();
    num_entries += part.entries.size();
  }
  base::AlignedVector<std::int32_t> begins{0}, places, entries;
  begins.reserve(num_lists);
  places.reserve(num_entries);
  entries.reserve(num_entries);
  for (const auto& part : parts) {
    const auto before = static_cast<std::int32_t>(entries.size());
    for (const auto end : part.ends) begins.push_back(before + end);
    places.insert(places.end(), part.places.begin(), part.places.end());
    entries.insert(entries.end(), part.entries.begin(), part.entries.end());
  }
  return {{device, std::move(begins)}, {device, std::move(places)}, {device, std::move(entries)}};
}

} // namespace

kernel::TransferInput TransferCells::input(kernel::TransferDirection direction) const {
  kernel::TransferInput result{.direction = direction,
                               .components = components,
                               .coarse = coarse.element,
                               .children = {},
                               .masks = {.coarse = coarse.mask.components}};
  for (std::size_t k = 0; k < children.size(); ++k) {
    result.children.push_back({children[k].element, nodes_of_children[k]});
    result.masks.children.push_back(children[k].mask.components);
  }
  return result;
}

const OwnedNumbers& TransferCells::owned(int vector_width, const std::shared_ptr<device::Device>& device) const {
  const auto [place, is_new] = owned_.try_emplace(vector_width);
  if (is_new) place->second = owned_numbers(*this, vector_width, device);
  return place->second;
}

const device::Array<float>& TransferField::factors_on(const std::shared_ptr<device::Device>& device) const {
  if (factors_.size() == 0) factors_ = device::Array<float>(device, mask.factors);
  return factors_;
}

void TransferCells::forget_masks() {
  coarse.mask = RunMask{.components = coarse.mask.components, .factors = {}};
  for (auto& child : children) child.mask = RunMask{.components = child.mask.components, .factors = {}};
}

TransferStages transfer_stages(const TransferSpecification& specification, std::size_t field,
                               const std::shared_ptr<device::Device>& device) {
  return StageBuilder(specification, field, device).run();
}

} // namespace rafter::op
