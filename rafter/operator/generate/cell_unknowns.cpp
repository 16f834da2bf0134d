// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/cell_unknowns.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <rafter/space/cell_vectors.hpp>
#include <rafter/space/run_permutations.hpp>

namespace rafter::op {

System make_broken(const System& system) { return make_broken(Systems(system)).test; }

Systems make_broken(const Systems& systems) {
  std::map<const space::FunctionSpace*, std::shared_ptr<const space::FunctionSpace>> twins;
  const auto of = [&](const System& system) {
    std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
    for (const auto& space : system.spaces) {
      auto& twin = twins[space.get()];
      if (twin == nullptr) twin = space::make_broken(*space);
      spaces.push_back(twin);
    }
    return make_system(std::move(spaces));
  };
  auto test = of(systems.test);
  if (systems.test.spaces == systems.trial.spaces) return {std::move(test)};
  return {std::move(test), of(systems.trial)};
}

std::vector<std::int64_t> thread_ranges(std::int64_t count, const device::Device& device) {
  const std::int64_t parts = std::max(1, device.num_threads());
  std::vector<std::int64_t> result;
  for (std::int64_t p = 0; p <= parts; ++p) result.push_back(count * p / parts);
  return result;
}

CellUnknowns::CellUnknowns(const System& system, device::Device& device, int size) : group_size(size) {
  const auto& batches = *system.batches;
  std::size_t num_places = 0;
  for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
    CellRange block{
        .first = static_cast<std::int64_t>(num_places), .num_cells = batches.blocks[b].num_cells, .components = {}};
    int component = 0;
    for (const auto& space : system.spaces) {
      const int num_dofs = space->block(static_cast<int>(b)).layout.element->num_dofs();
      for (int c = 0; c < space->num_components(); c += group_size, component += group_size)
        block.components.insert(block.components.end(), static_cast<std::size_t>(num_dofs), component);
    }
    block.length = static_cast<int>(block.components.size());
    block.first_pair = num_pairs;
    num_pairs += static_cast<std::size_t>(block.num_cells) * block.components.size() * block.components.size();
    num_places += static_cast<std::size_t>(block.num_cells) * block.components.size();
    blocks.push_back(std::move(block));
  }
  entries.resize(num_places);
  for (std::size_t b = 0; b < batches.blocks.size(); ++b)
    for_each_range(
        thread_ranges(batches.blocks[b].num_batches, device), device, [&](std::int64_t begin, std::int64_t end) {
          fill(system, static_cast<std::int32_t>(b), static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end));
        });
}

namespace {

/// Writes the entries of one field in the cells of a batch, or the numbers of its groups.
struct BatchWriter {
  const space::BlockDofs& dofs;
  std::int32_t offset = 0; ///< offset of the field in the vectors of the system
  int num_components = 1, group_size = 1;
  std::size_t cells_per_batch = 8;
  std::size_t length = 0; ///< distance from cell to cell

  void write(std::int32_t batch, int num_active, std::int32_t* to) const {
    const auto& layout = dofs.layout;
    const auto num_dofs = static_cast<std::size_t>(layout.element->num_dofs());
    const int num_groups = num_components / group_size;
    const int* dof = layout.run_dofs.data();
    std::size_t at = static_cast<std::size_t>(batch) * layout.run_dims.size() * cells_per_batch;
    for (const int run_length : layout.run_lengths) {
      for (std::size_t cell = 0; cell < static_cast<std::size_t>(num_active); ++cell) {
        const std::int32_t entry = offset + dofs.run_starts[at + cell];
        const std::int32_t start = group_size == 1 ? entry : entry / group_size;
        const std::int32_t* permutation = space::permutation_of(dofs, at + cell);
        for (int k = 0; k < run_length; ++k)
          for (int g = 0; g < num_groups; ++g)
            to[cell * length + static_cast<std::size_t>(g) * num_dofs + static_cast<std::size_t>(dof[k])] =
                start + permutation[k] * num_groups + g;
      }
      dof += run_length;
      at += cells_per_batch;
    }
    write_interior(dofs.interior_starts[static_cast<std::size_t>(batch)], num_active, to);
  }

  /// Components of interiors are no neighbours: groups are single unknowns where there are any.
  void write_interior(std::int32_t start, int num_active, std::int32_t* to) const {
    const auto num_dofs = static_cast<std::size_t>(dofs.layout.element->num_dofs());
    std::int32_t entry = offset + start;
    for (const int i : dofs.layout.interior_dofs)
      for (int c = 0; c < num_components; ++c, entry += num_active)
        for (int cell = 0; cell < num_active; ++cell)
          to[static_cast<std::size_t>(cell) * length + static_cast<std::size_t>(c) * num_dofs +
             static_cast<std::size_t>(i)] = entry + cell;
  }
};

} // namespace

void CellUnknowns::fill(const System& system, std::int32_t block, std::int32_t batch_begin, std::int32_t batch_end) {
  const auto& batches = *system.batches;
  const auto& range = blocks[static_cast<std::size_t>(block)];
  const auto length = static_cast<std::size_t>(range.length),
             cells_per_batch = static_cast<std::size_t>(batches.cells_per_batch);
  std::size_t field_offset = 0;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    const auto& space = *system.spaces[f];
    const BatchWriter writer{.dofs = space.block(block),
                             .offset = static_cast<std::int32_t>(system.offset(f)),
                             .num_components = space.num_components(),
                             .group_size = group_size,
                             .cells_per_batch = cells_per_batch,
                             .length = length};
    auto* to =
        entries.data() + range.first + field_offset + static_cast<std::size_t>(batch_begin) * cells_per_batch * length;
    for (std::int32_t batch = batch_begin; batch < batch_end; ++batch, to += cells_per_batch * length)
      writer.write(batch, batches.num_active(block, batch), to);
    field_offset += static_cast<std::size_t>(writer.dofs.layout.element->num_dofs()) *
                    static_cast<std::size_t>(space.num_components() / group_size);
  }
}

int CellUnknowns::most_per_cell() const {
  int result = 0;
  for (const auto& block : blocks) result = std::max(result, block.length);
  return result;
}

Incidences::Incidences(const CellUnknowns& unknowns, std::int32_t begin, std::int32_t end)
    : begin_(begin), ends_(static_cast<std::size_t>(end - begin), 0) {
  const auto row_of = [begin](std::int32_t entry) { return static_cast<std::uint32_t>(entry - begin); };
  const auto num_rows = static_cast<std::uint32_t>(end - begin);
  for (const auto entry : unknowns.entries)
    if (const auto row = row_of(entry); row < num_rows) ++ends_[row];
  std::size_t size = 0;
  for (auto& end_of_row : ends_) size += std::exchange(end_of_row, size); // its begin, until the places stand there
  places_.resize(size);
  for (std::size_t place = 0; place < unknowns.entries.size(); ++place)
    if (const auto row = row_of(unknowns.entries[place]); row < num_rows)
      places_[ends_[row]++] = static_cast<std::int32_t>(place);
}

} // namespace rafter::op
