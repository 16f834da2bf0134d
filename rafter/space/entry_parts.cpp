// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/entry_parts.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/distribution.hpp>

namespace rafter::space {
namespace {

constexpr std::int32_t of_owned = 0, of_interface = 1, first_of_ghosts = 2;

std::span<const std::int32_t> entities_of(const mesh::Mesh& mesh, std::size_t group, int dim) {
  if (dim == 0) return mesh.groups[group].vertices;
  const auto& topology = mesh.topology().groups[group];
  return dim == 1 ? topology.edges : topology.faces;
}

} // namespace

EntryParts::EntryParts(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::span<const ElementLayout> layouts,
                       int num_components)
    : distribution_(mesh.distribution.get()) {
  if (!is_distributed()) return;
  find_runs(mesh, batches, layouts, num_components);
  find_parts();
}

/// Finds the runs that several processes have, and the number of entries that this process alone has.
void EntryParts::find_runs(const mesh::Mesh& mesh, const mesh::CellBatches& batches,
                           std::span<const ElementLayout> layouts, int num_components) {
  const auto& topology = mesh.topology();
  parts_[0].assign(static_cast<std::size_t>(topology.num_vertices), -1);
  parts_[1].assign(static_cast<std::size_t>(topology.num_edges), -1);
  parts_[2].assign(static_cast<std::size_t>(topology.num_faces), -1);
  std::int64_t num_alone = 0;
  for (std::size_t b = 0; b < layouts.size(); ++b) {
    const auto& block = batches.blocks[b];
    const auto& layout = layouts[b];
    num_alone += static_cast<std::int64_t>(layout.interior_dofs.size()) * num_components * block.num_cells;
    for (std::size_t r = 0; r < layout.run_dims.size(); ++r) {
      const int dim = layout.run_dims[r];
      const auto entities = entities_of(mesh, static_cast<std::size_t>(block.group), dim);
      const auto per_cell = static_cast<std::size_t>(element::num_entities(block.shape, dim));
      const std::int32_t num_entries = layout.run_lengths[r] * num_components;
      for (std::int32_t i = 0; i < block.num_cells; ++i) {
        const auto place = static_cast<std::size_t>(block.cells[static_cast<std::size_t>(i)]) * per_cell +
                           static_cast<std::size_t>(layout.run_entities[r]);
        const auto entity = topology.representative(dim, entities[place]);
        auto& part = parts_[static_cast<std::size_t>(dim)][static_cast<std::size_t>(entity)];
        if (part >= 0) continue;
        part = of_owned;
        const auto ranks = distribution_->ranks_of(dim, block.group, place);
        if (ranks.empty())
          num_alone += num_entries;
        else
          shared_.push_back(
              {dim,
               distribution_->entities[static_cast<std::size_t>(dim)][static_cast<std::size_t>(block.group)][place],
               entity, num_entries, ranks});
      }
    }
  }
  begins_.push_back(num_alone);
  std::ranges::sort(shared_, {}, [](const SharedRun& run) { return std::tuple(run.dim, run.number); });
}

void EntryParts::find_parts() {
  std::set<int> owners;
  for (const auto& run : shared_)
    if (run.ranks.front() != distribution_->rank()) owners.insert(run.ranks.front());
  owners_.assign(owners.begin(), owners.end());
  std::vector<std::int64_t> sizes(first_of_ghosts + owners_.size(), 0);
  for (const auto& run : shared_) {
    auto& part = parts_[static_cast<std::size_t>(run.dim)][static_cast<std::size_t>(run.entity)];
    const int owner = run.ranks.front();
    part =
        owner == distribution_->rank()
            ? of_interface
            : first_of_ghosts + static_cast<std::int32_t>(std::ranges::lower_bound(owners_, owner) - owners_.begin());
    sizes[static_cast<std::size_t>(part)] += run.num_entries;
  }
  for (std::size_t part = of_interface; part < sizes.size(); ++part) begins_.push_back(begins_.back() + sizes[part]);
}

comm::IndexMap EntryParts::index_map(const EntityStarts& starts, std::int64_t num_local) const {
  if (!is_distributed()) return comm::IndexMap(num_local);
  const auto& process = *distribution_->communicator;
  const int me = process.rank();
  const std::int64_t num_owned = begins_[first_of_ghosts];
  const auto counts = process.gather(num_owned);
  const std::int64_t begin = std::accumulate(counts.begin(), counts.begin() + me, std::int64_t{0});
  const auto start_of = [&](const SharedRun& run) {
    return std::int64_t{starts[static_cast<std::size_t>(run.dim)][static_cast<std::size_t>(run.entity)]};
  };

  // Owners send the number of each run and its first global entry.
  std::vector<std::vector<std::int64_t>> sent(counts.size()), received(counts.size());
  for (const auto& run : shared_) {
    const int owner = run.ranks.front();
    if (owner != me)
      received[static_cast<std::size_t>(owner)].resize(received[static_cast<std::size_t>(owner)].size() + 2);
    for (const int rank : run.ranks)
      if (owner == me && rank != me)
        sent[static_cast<std::size_t>(rank)].insert(sent[static_cast<std::size_t>(rank)].end(),
                                                    {run.number, begin + start_of(run)});
  }
  std::vector<comm::Outgoing> outgoing;
  std::vector<comm::Incoming> incoming;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (!sent[rank].empty()) outgoing.push_back({static_cast<int>(rank), std::as_bytes(std::span(sent[rank]))});
    if (!received[rank].empty())
      incoming.push_back({static_cast<int>(rank), std::as_writable_bytes(std::span(received[rank]))});
  }
  process.start(outgoing, incoming)->finish();

  std::vector<std::int64_t> ghosts(static_cast<std::size_t>(num_entries() - num_owned));
  std::vector<int> ghost_owners(ghosts.size());
  std::vector<std::size_t> next(counts.size(), 0);
  for (const auto& run : shared_) {
    const int owner = run.ranks.front();
    if (owner == me) continue;
    auto& at = next[static_cast<std::size_t>(owner)];
    const auto number = received[static_cast<std::size_t>(owner)][at++],
               first = received[static_cast<std::size_t>(owner)][at++];
    if (number != run.number)
      throw base::InternalError(
          fmt::format("processes {} and {} do not agree on the entities that they share", me, owner));
    for (std::int32_t k = 0; k < run.num_entries; ++k) {
      const auto ghost = static_cast<std::size_t>(start_of(run) - num_owned + k);
      ghosts[ghost] = first + k;
      ghost_owners[ghost] = owner;
    }
  }
  return {begin, begin + num_owned, std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), std::move(ghosts),
          std::move(ghost_owners)};
}

} // namespace rafter::space
