// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/cell_unknowns.hpp>

#include <algorithm>

#include <rafter/space/cell_vectors.hpp>

namespace rafter::op {

System make_broken(const System& system) {
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  for (const auto& space : system.spaces) spaces.push_back(space::make_broken(*space));
  return make_system(std::move(spaces));
}

CellUnknowns::CellUnknowns(const System& system) {
  const auto& batches = *system.batches;
  std::size_t size = 0;
  for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
    CellRange block{
        .first = static_cast<std::int64_t>(size), .num_cells = batches.blocks[b].num_cells, .components = {}};
    int component = 0;
    for (const auto& space : system.spaces) {
      const int num_dofs = space->block(static_cast<int>(b)).layout.element->num_dofs();
      for (int c = 0; c < space->num_components(); ++c, ++component)
        block.components.insert(block.components.end(), static_cast<std::size_t>(num_dofs), component);
    }
    block.length = static_cast<int>(block.components.size());
    block.first_pair = num_pairs;
    num_pairs += static_cast<std::size_t>(block.num_cells) * block.components.size() * block.components.size();
    size += static_cast<std::size_t>(block.num_cells) * block.components.size();
    blocks.push_back(std::move(block));
  }
  entries.resize(size);
  for (std::size_t b = 0; b < batches.blocks.size(); ++b) fill(system, static_cast<std::int32_t>(b));
}

void CellUnknowns::fill(const System& system, std::int32_t block) {
  const auto& batches = *system.batches;
  auto place = static_cast<std::size_t>(blocks[static_cast<std::size_t>(block)].first);
  for (std::int32_t batch = 0; batch < batches.blocks[static_cast<std::size_t>(block)].num_batches; ++batch)
    for (int lane = 0; lane < batches.num_active(block, batch); ++lane)
      for (std::size_t f = 0; f < system.spaces.size(); ++f) {
        const auto& space = *system.spaces[f];
        const auto length = static_cast<std::size_t>(space.block(block).layout.element->num_dofs()) *
                            static_cast<std::size_t>(space.num_components());
        const auto found = std::span(entries).subspan(place, length);
        space.cell_dofs(block, batch, lane, found);
        const auto offset = static_cast<std::int32_t>(system.offset(f));
        for (auto& entry : found) entry += offset;
        place += length;
      }
}

int CellUnknowns::most_per_cell() const {
  int result = 0;
  for (const auto& block : blocks) result = std::max(result, block.length);
  return result;
}

const CellUnknowns::CellRange& CellUnknowns::block_of(std::int64_t place) const {
  std::size_t b = blocks.size() - 1;
  while (b > 0 && (blocks[b].first > place || blocks[b].num_cells == 0)) --b;
  return blocks[b];
}

Incidences::Incidences(const CellUnknowns& unknowns, std::int64_t size) {
  starts.assign(static_cast<std::size_t>(size) + 1, 0);
  for (const auto entry : unknowns.entries) ++starts[static_cast<std::size_t>(entry) + 1];
  for (std::size_t e = 1; e < starts.size(); ++e) starts[e] += starts[e - 1];
  items.resize(unknowns.entries.size());
  auto next = starts;
  for (const auto& block : unknowns.blocks)
    for (std::int64_t c = 0; c < block.num_cells; ++c) {
      const auto cell = static_cast<std::int32_t>(block.first + c * block.length);
      for (std::int32_t place = cell; place < cell + block.length; ++place) {
        const auto entry = static_cast<std::size_t>(unknowns.entries[static_cast<std::size_t>(place)]);
        items[static_cast<std::size_t>(next[entry]++)] = {place, cell};
      }
    }
}

} // namespace rafter::op
