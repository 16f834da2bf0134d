// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/function_space.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/mesh/point_placement.hpp>
#include <rafter/space/index_tables.hpp>
#include <rafter/space/layout.hpp>
#include <rafter/space/numbering.hpp>
#include <rafter/space/run_permutations.hpp>

namespace rafter::space {
namespace {

/// Places in the batches are numbered block by block, the cells of a batch one after the other.
using Places = std::vector<base::RawVector<std::uint32_t>>;

/// Inverts the cell lists of the batches, in which every cell must occur exactly once.
Places make_places(const mesh::Mesh& mesh, const mesh::CellBatches& batches) {
  constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  Places places(mesh.groups.size());
  for (std::size_t g = 0; g < places.size(); ++g)
    places[g].assign(static_cast<std::size_t>(mesh.groups[g].num_cells()), none);
  std::int64_t num_cells = 0, first = 0;
  for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
    const mesh::CellBlock& block = batches.blocks[b];
    auto& of_group = places.at(static_cast<std::size_t>(block.group));
    num_cells += block.num_cells;
    base::Parts(block.num_cells).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
      for (auto i = begin; i < end; ++i)
        of_group.at(static_cast<std::size_t>(block.cells[static_cast<std::size_t>(i)])) =
            static_cast<std::uint32_t>(first + i);
    });
    first += std::int64_t{block.num_batches} * batches.cells_per_batch;
  }
  if (first > none)
    throw base::InputError(fmt::format("batches of {} cells; one process numbers at most {}", first, none));
  if (num_cells != mesh.num_cells())
    throw base::InternalError(fmt::format("{} cells are in batches; the mesh has {}", num_cells, mesh.num_cells()));
  for (std::size_t g = 0; g < places.size(); ++g) // batches hold as many cells as there are, so that none is in two
    if (std::ranges::find(places[g], none) != places[g].end())
      throw base::InternalError(fmt::format("a cell of group {} lies in no batch", g));
  return places;
}

} // namespace

FunctionSpace::FunctionSpace() : index_tables_(std::make_shared<IndexTableCache>()) {}
FunctionSpace::~FunctionSpace() = default;

std::shared_ptr<const FunctionSpace> FunctionSpace::make(std::shared_ptr<const Discretisation> discretisation,
                                                         const SpaceOptions& options) {
  if (options.components < 0)
    throw base::InputError(fmt::format("field '{}': {} components; give 1 or more, or leave the key out for a scalar",
                                       options.name, options.components));
  const std::shared_ptr<FunctionSpace> space(new FunctionSpace);
  space->name = options.name;
  space->family = element::name(options.family);
  space->degree = options.degree;
  space->components = options.components;
  const auto& mesh = discretisation->mesh();
  const auto& batches = discretisation->batches();
  space->gdim = mesh.gdim;
  space->is_simplex = std::ranges::all_of(mesh.groups, [](const auto& g) { return element::is_simplex(g.shape); });
  space->element_family_ = options.family;
  space->is_broken_ = options.is_broken;

  std::vector<ElementLayout> layouts;
  for (const mesh::CellBlock& block : batches.blocks) {
    auto element = element::make_element(options.family, block.shape, options.degree);
    layouts.push_back(options.is_broken ? make_broken_layout(std::move(element)) : make_layout(std::move(element)));
  }
  space->places_ = make_places(mesh, batches);
  Numbering numbering = number_dofs(mesh, batches, std::move(layouts), space->num_components());
  space->blocks_ = std::move(numbering.blocks);
  space->index_map_ = std::move(numbering.index_map);
  space->interface_begin_ = numbering.interface_begin;
  if (mesh.distribution != nullptr)
    space->exchange_ = std::make_unique<const comm::GhostExchange>(mesh.communicator(), space->index_map_);
  for (const mesh::CellGroup& group : mesh.groups)
    space->node_placements_.emplace_back(group.shape, group.degree, mesh::lagrange_points(options.degree));
  space->discretisation_ = std::move(discretisation);
  return space;
}

std::shared_ptr<const element::Element> FunctionSpace::element(element::Shape shape) const {
  return element::make_element(element_family_, shape, degree);
}

FunctionSpace::Position FunctionSpace::position(std::int32_t group, std::int32_t cell) const {
  if (group < 0 || static_cast<std::size_t>(group) >= places_.size() || cell < 0 ||
      static_cast<std::size_t>(cell) >= places_[static_cast<std::size_t>(group)].size())
    throw base::InternalError(fmt::format("space '{}' has no cell {} of group {}", name, cell, group));
  std::int64_t place = places_[static_cast<std::size_t>(group)][static_cast<std::size_t>(cell)];
  const std::int64_t width = batches().cells_per_batch;
  std::int32_t block = 0;
  for (const auto& of_block : batches().blocks) {
    if (const auto length = of_block.num_batches * width; place >= length)
      place -= length;
    else
      break;
    ++block;
  }
  return {.block = block, .batch = static_cast<std::int32_t>(place / width), .cell = static_cast<int>(place % width)};
}

void FunctionSpace::cell_dofs(int block, std::int32_t batch, int cell, std::span<std::int32_t> entries) const {
  const BlockDofs& dofs = blocks_[static_cast<std::size_t>(block)];
  const ElementLayout& layout = dofs.layout;
  const auto cells_per_batch = static_cast<std::size_t>(batches().cells_per_batch);
  const auto num_local_dofs = static_cast<std::size_t>(layout.element->num_dofs());
  const int num_c = num_components();
  if (entries.size() != num_local_dofs * static_cast<std::size_t>(num_c))
    throw base::InternalError(fmt::format("cell dofs: room for {} entries, not {}", entries.size(),
                                          num_local_dofs * static_cast<std::size_t>(num_c)));
  const int* dof = layout.run_dofs.data();
  std::size_t at =
      static_cast<std::size_t>(batch) * layout.run_dims.size() * cells_per_batch + static_cast<std::size_t>(cell);
  for (const int length : layout.run_lengths) {
    const std::int32_t* permutation = permutation_of(dofs, at);
    for (int k = 0; k < length; ++k, ++dof)
      for (int c = 0; c < num_c; ++c)
        entries[static_cast<std::size_t>(c) * num_local_dofs + static_cast<std::size_t>(*dof)] =
            dofs.run_starts[at] + permutation[k] * num_c + c;
    at += cells_per_batch;
  }
  const int active = batches().num_active(block, batch);
  std::int32_t entry = dofs.interior_starts[static_cast<std::size_t>(batch)] + std::min(cell, active - 1);
  for (const int i : layout.interior_dofs)
    for (int c = 0; c < num_c; ++c, entry += active)
      entries[static_cast<std::size_t>(c) * num_local_dofs + static_cast<std::size_t>(i)] = entry;
}

ListDofs FunctionSpace::make_list_dofs(std::int32_t group, std::span<const std::int32_t> cells,
                                       int cells_per_batch) const {
  ListDofs list{.group = group, .cells_per_batch = cells_per_batch, .cells = {cells.begin(), cells.end()}};
  if (cells.empty()) return list;
  if (cells.size() % static_cast<std::size_t>(cells_per_batch) != 0)
    throw base::InternalError(fmt::format("{} cells are no batches of {}", cells.size(), cells_per_batch));
  // Blocks of one group have the same layout, so that any of its cells serves to find it.
  list.layout = blocks_[static_cast<std::size_t>(position(group, cells.front()).block)].layout;
  const std::size_t num_runs = list.layout.run_dims.size(), num_slots = cells.size();
  const auto width = static_cast<std::size_t>(cells_per_batch),
             cell_width = static_cast<std::size_t>(batches().cells_per_batch);
  list.run_starts.resize(num_slots * num_runs);
  const bool is_permuted = has_permutations(list.layout), has_interior = !list.layout.interior_dofs.empty();
  if (is_permuted) list.run_permutations.resize(num_slots * num_runs);
  if (has_interior) {
    list.interior_starts.resize(num_slots);
    list.interior_strides.resize(num_slots);
  }
  for (std::size_t slot = 0; slot < num_slots; ++slot) {
    const Position at = position(group, cells[slot]);
    const BlockDofs& dofs = blocks_[static_cast<std::size_t>(at.block)];
    const auto batch = static_cast<std::size_t>(at.batch);
    for (std::size_t run = 0; run < num_runs; ++run) {
      const std::size_t from = (batch * num_runs + run) * cell_width + static_cast<std::size_t>(at.cell);
      const std::size_t to = (slot / width * num_runs + run) * width + slot % width;
      list.run_starts[to] = dofs.run_starts[from];
      if (is_permuted) list.run_permutations[to] = dofs.run_permutations[from];
    }
    if (!has_interior) continue;
    list.interior_starts[slot] = dofs.interior_starts[batch] + at.cell;
    list.interior_strides[slot] = batches().num_active(at.block, at.batch);
  }
  return list;
}

std::shared_ptr<const ListDofs> FunctionSpace::list_dofs(std::int32_t group, std::span<const std::int32_t> cells,
                                                         int cells_per_batch) const {
  return index_tables_->list(group, cells, cells_per_batch,
                             [&] { return make_list_dofs(group, cells, cells_per_batch); });
}

std::shared_ptr<const IndexTables> FunctionSpace::index_tables(int block,
                                                               const std::shared_ptr<device::Device>& device) const {
  const std::shared_ptr<const BlockDofs> dofs(shared_from_this(), &blocks_[static_cast<std::size_t>(block)]);
  return index_tables_->get(dofs, num_components(), device);
}

std::shared_ptr<const IndexTables> FunctionSpace::index_tables(const std::shared_ptr<const ListDofs>& list,
                                                               const std::shared_ptr<device::Device>& device) const {
  return index_tables_->get(list, device);
}

void FunctionSpace::node_points(std::int32_t group, std::int32_t cell, std::span<const int> dofs,
                                std::span<double> points) const {
  const auto g = static_cast<std::size_t>(group);
  const auto& placement = node_placements_[g];
  placement.place(mesh::cell_geometry(mesh(), g, static_cast<std::size_t>(cell), placement.is_oriented()), dofs,
                  points);
}

std::vector<double> FunctionSpace::cell_node_points(std::int32_t group, std::int32_t cell) const {
  const auto g = static_cast<std::size_t>(group);
  const auto& placement = node_placements_[g];
  std::vector<double> points(static_cast<std::size_t>(placement.num_points() * mesh().gdim));
  placement.place(mesh::cell_geometry(mesh(), g, static_cast<std::size_t>(cell), placement.is_oriented()), points);
  return points;
}

std::size_t FunctionSpace::index_bytes() const {
  std::size_t bytes = 0;
  for (const BlockDofs& block : blocks_)
    bytes +=
        (block.run_starts.size() + block.run_permutations.size() + block.interior_starts.size() +
         block.first_touch.size() + block.pattern_numbers.size() + block.patterns.size() + block.patch_starts.size() +
         block.patch_numbers.size() + block.patch_patterns.size() + block.layout.permutations.size()) *
        sizeof(std::int32_t);
  return bytes;
}

} // namespace rafter::space
