// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/numbering.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/space/entry_parts.hpp>
#include <rafter/space/patch_layout.hpp>
#include <rafter/space/patch_numbering.hpp>
#include <rafter/space/patterns.hpp>
#include <rafter/space/run_permutations.hpp>

namespace rafter::space {
namespace {

std::int64_t dofs_of(const ElementLayout& layout, element::Shape kind) {
  const element::Shape shape = layout.element->shape();
  for (std::size_t r = 0; r < layout.run_dims.size(); ++r)
    if (element::entity_shape(shape, layout.run_dims[r], layout.run_entities[r]) == kind) return layout.run_lengths[r];
  return 0;
}

/// Returns the number of dofs on a face of this shape, and adds twice the number of such faces of the group to
/// `twice_faces`: cells see each interior face twice, and exterior ones are added once more.
std::int64_t num_face_dofs(const mesh::Mesh& mesh, std::int32_t group, const ElementLayout& layout, element::Shape kind,
                           std::int64_t& twice_faces) {
  const auto& cells = mesh.groups[static_cast<std::size_t>(group)];
  for (int f = 0; f < element::num_entities(cells.shape, 2); ++f)
    if (element::entity_shape(cells.shape, 2, f) == kind) twice_faces += cells.num_cells();
  for (const auto& facet : mesh.surface().exterior_facets)
    if (facet.group == group && element::facet_shape(cells.shape, facet.facet) == kind) ++twice_faces;
  return dofs_of(layout, kind);
}

/// Counts the scalar dofs of the whole mesh, from numbers of entities alone.
std::int64_t count_dofs(const mesh::Mesh& mesh, const mesh::CellBatches& batches,
                        const std::vector<ElementLayout>& layouts) {
  std::int64_t count = 0, per_vertex = 0, per_edge = 0;
  for (std::size_t b = 0; b < layouts.size(); ++b) {
    count += static_cast<std::int64_t>(layouts[b].interior_dofs.size()) * batches.blocks[b].num_cells;
    per_vertex = std::max(per_vertex, dofs_of(layouts[b], element::Shape::point));
    per_edge = std::max(per_edge, dofs_of(layouts[b], element::Shape::interval));
  }
  count += per_vertex * mesh.num_distinct_vertices();
  if (mesh.tdim > 1 && per_edge > 0) count += per_edge * mesh.topology().num_representatives(1);
  if (mesh.tdim < 3) return count;
  for (const element::Shape kind : {element::Shape::triangle, element::Shape::quadrilateral}) {
    std::int64_t twice_faces = 0, per_face = 0;
    std::vector<bool> is_done(mesh.groups.size());
    for (std::size_t b = 0; b < layouts.size(); ++b) {
      const std::int32_t group = batches.blocks[b].group;
      if (is_done[static_cast<std::size_t>(group)]) continue;
      is_done[static_cast<std::size_t>(group)] = true;
      per_face = std::max(per_face, num_face_dofs(mesh, group, layouts[b], kind, twice_faces));
    }
    count += per_face * (twice_faces / 2);
  }
  return count;
}

/// Bytes of the cells' index tables and of one vector, known before anything is allocated. The tables of patches are
/// small beside them.
double needed_bytes(const mesh::CellBatches& batches, const std::vector<ElementLayout>& layouts, std::int64_t count) {
  double bytes = 8.0 * static_cast<double>(count);
  for (std::size_t b = 0; b < layouts.size(); ++b)
    bytes += 8.0 * batches.blocks[b].num_batches * static_cast<double>(layouts[b].num_runs) * batches.cells_per_batch;
  return bytes;
}

void require_fits(const mesh::Mesh& mesh, const mesh::CellBatches& batches, const std::vector<ElementLayout>& layouts,
                  int num_components, const EntryParts& parts) {
  const std::int64_t count =
      parts.is_distributed() ? parts.num_entries() : count_dofs(mesh, batches, layouts) * num_components;
  if (count > std::numeric_limits<std::int32_t>::max())
    throw base::InputError(fmt::format("function space on '{}' has {} degrees of freedom ({} cells, degree {}, {} "
                                       "component(s)); one process numbers at most {}: lower the degree or refine less",
                                       mesh.source, count, mesh.num_cells(),
                                       layouts.empty() ? 0 : layouts[0].element->degree(), num_components,
                                       std::numeric_limits<std::int32_t>::max()));
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const double needed = needed_bytes(batches, layouts, count);
  if (memory > 0 && needed > memory)
    throw base::InputError(fmt::format("function space on '{}' with {} degrees of freedom needs {:.1f} GB for its "
                                       "indices and one vector; this machine has {:.1f} GB",
                                       mesh.source, count, needed * 1e-9, memory * 1e-9));
}

/// Says where the entity numbers, orientation codes and starts of one run of a block are.
struct RunSource {
  const std::int32_t* entities;        ///< number of the run's local entity, from cell 0 on
  const std::int32_t* representatives; ///< representatives by entity; null: each entity is its own
  const std::uint8_t* codes;           ///< orientation codes, in the way of `entities`; null: all are 0
  const std::int32_t* parts;           ///< parts of the vector by representative; null: all are 0
  std::size_t stride;                  ///< distance from cell to cell in `entities` and `codes`
  std::vector<std::int32_t>* starts;
  std::int32_t num_dofs, num_entries; ///< number of dofs of the run, and with all components
  const std::int32_t* offsets;        ///< offsets of permutations, by orientation code
  const std::int32_t* arrangements;   ///< offsets of arrangements, by orientation code

  /// Number of the representative that has the run of a cell; `entity` is an index of `entities`.
  std::size_t representative(std::size_t entity) const {
    const std::int32_t number = entities[entity];
    return static_cast<std::size_t>(representatives == nullptr ? number : representatives[number]);
  }
  /// Says whether entities are their own representatives and all entries are in one part of the vector.
  bool is_plain() const { return representatives == nullptr && parts == nullptr; }
  /// First entry of that run.
  std::int32_t& start(std::size_t entity) const { return (*starts)[representative(entity)]; }
  std::size_t part(std::size_t entity) const {
    return parts == nullptr ? 0 : static_cast<std::size_t>(parts[representative(entity)]);
  }
};

/// Says whether edges or faces have dofs, so that they must be numbered.
bool has_runs_beside_vertices(const ElementLayout& layout) {
  return std::ranges::any_of(layout.run_dims, [](int dim) { return dim > 0; });
}

RunSource make_source(const mesh::Mesh& mesh, std::int32_t group, const ElementLayout& layout, std::size_t run,
                      EntityStarts& starts, int num_components, const EntryParts& parts) {
  const auto g = static_cast<std::size_t>(group);
  const int dim = layout.run_dims[run];
  const auto entity = static_cast<std::size_t>(layout.run_entities[run]);
  const std::int32_t* numbers = mesh.groups[g].vertices.data();
  const std::uint8_t* codes = nullptr;
  const auto* representatives = &mesh.surface().vertex_representatives;
  if (dim > 0) {
    const auto& topology = mesh.topology();
    const auto& of_group = topology.groups[g];
    numbers = (dim == 1 ? of_group.edges : of_group.faces).data();
    codes = (dim == 1 ? of_group.edge_orientations : of_group.face_orientations).data() + entity;
    representatives = &topology.representatives[static_cast<std::size_t>(dim)];
  }
  return {.entities = numbers + entity,
          .representatives = representatives->empty() ? nullptr : representatives->data(),
          .codes = codes,
          .parts = parts.parts_of(dim),
          .stride = static_cast<std::size_t>(element::num_entities(mesh.groups[g].shape, dim)),
          .starts = &starts[static_cast<std::size_t>(dim)],
          .num_dofs = layout.run_lengths[run],
          .num_entries = layout.run_lengths[run] * num_components,
          .offsets = layout.permutation_offsets[run].data(),
          .arrangements = layout.arrangement_offsets[run].data()};
}

/// Gives PatchNumbering the runs of the cells of a block.
struct RunsOfCells {
  std::span<const RunSource> sources;
  const std::int32_t* permutations;

  PatchNumbering::Run operator()(int run, std::int32_t cell) const {
    const RunSource& source = sources[static_cast<std::size_t>(run)];
    const std::size_t entity = static_cast<std::size_t>(cell) * source.stride;
    const auto permutation = source.offsets[source.codes == nullptr ? 0 : source.codes[entity]];
    return {source.start(entity), permutations + permutation, source.num_dofs};
  }
};

/// The next free entry of each part of the vector is known by the number of the part.
using Nexts = std::vector<std::int32_t>;

/// Numbers one chunk after the other, or those of a stage at the same time: they share no entity.
class Numberer {
public:
  Numberer(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::vector<ElementLayout> layouts,
           int num_components, const EntryParts& parts)
      : batches_(batches), num_components_(num_components), parts_(parts), blocks_(layouts.size()),
        sources_(layouts.size()), patterns_(layouts.size()), patches_(layouts.size()) {
    starts_[0].assign(static_cast<std::size_t>(mesh.num_vertices), -1);
    if (std::ranges::any_of(layouts, has_runs_beside_vertices)) {
      starts_[1].assign(static_cast<std::size_t>(mesh.topology().num_edges), -1);
      starts_[2].assign(static_cast<std::size_t>(mesh.topology().num_faces), -1);
    }
    for (std::size_t b = 0; b < layouts.size(); ++b) {
      blocks_[b].layout = std::move(layouts[b]);
      allocate(b);
      for (std::size_t r = 0; r < blocks_[b].layout.run_dims.size(); ++r)
        sources_[b].push_back(
            make_source(mesh, batches.blocks[b].group, blocks_[b].layout, r, starts_, num_components, parts));
      if (!batches.blocks[b].are_patches.empty()) begin_patches(b);
    }
  }

  void number_all() {
    Nexts nexts;
    for (const auto begin : parts_.begins()) nexts.push_back(static_cast<std::int32_t>(begin));
    if (base::num_loop_threads() == 1)
      for (const auto& stage : batches_.stages)
        for (const auto& chunk : stage) number(chunk, nexts);
    else
      number_on_threads(nexts);
    num_entries_ = nexts.front();
    for (const auto& stage : batches_.stages)
      for (const auto& chunk : stage) find_patterns(chunk);
  }

  Numbering finish() && {
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      if (std::ranges::count(blocks_[b].interior_starts, -1) > 0)
        throw base::InternalError(fmt::format("batches of block {} belong to no stage", b));
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      blocks_[b].patterns = std::move(patterns_[b]).take();
      if (patches_[b] != nullptr) std::move(*patches_[b]).finish(blocks_[b]);
    }
    auto index_map = parts_.index_map(starts_, num_entries_);
    const auto interface_begin = parts_.is_distributed() ? parts_.begins()[1] : index_map.num_owned();
    return {.blocks = std::move(blocks_), .index_map = std::move(index_map), .interface_begin = interface_begin};
  }

private:
  static constexpr std::int32_t unseen = -1, counted = -2; ///< starts of entities without entries
  static constexpr std::int32_t uniform = -1;              ///< stands for the number of a pattern until it is found

  /// Gives the chunks of a stage their entries at the same time, the same ones as one after the other: what each is the
  /// first to touch is counted before.
  void number_on_threads(Nexts& nexts) {
    std::vector<Nexts> of_chunks;
    for (const auto& stage : batches_.stages) {
      std::vector<Nexts> counts(stage.size(), Nexts(nexts.size(), 0));
      base::run_parallel(static_cast<std::int64_t>(stage.size()), [&](std::int64_t c) {
        count(stage[static_cast<std::size_t>(c)], counts[static_cast<std::size_t>(c)]);
      });
      std::ranges::move(counts, std::back_inserter(of_chunks));
    }
    for (auto& of_chunk : of_chunks)
      for (std::size_t part = 0; part < nexts.size(); ++part) nexts[part] += std::exchange(of_chunk[part], nexts[part]);
    auto* first = of_chunks.data();
    for (const auto& stage : batches_.stages) {
      base::run_parallel(static_cast<std::int64_t>(stage.size()),
                         [&](std::int64_t c) { number(stage[static_cast<std::size_t>(c)], first[c]); });
      first += stage.size();
    }
  }

  /// Adds the numbers of entries that a chunk is the first to touch.
  void count(const mesh::Chunk& chunk, Nexts& counts) {
    const auto b = static_cast<std::size_t>(chunk.block);
    const auto cells_per_batch = static_cast<std::size_t>(batches_.cells_per_batch);
    const auto num_interior = static_cast<std::int32_t>(blocks_[b].layout.interior_dofs.size()) * num_components_;
    for (std::int32_t batch = chunk.batch_begin; batch < chunk.batch_end; ++batch) {
      const int active = batches_.num_active(chunk.block, batch);
      const std::int32_t* cells = batches_.blocks[b].cells.data() + static_cast<std::size_t>(batch) * cells_per_batch;
      counts.front() += num_interior * active;
      for (const RunSource& source : sources_[b])
        for (int cell = 0; cell < active; ++cell) {
          const std::size_t entity = static_cast<std::size_t>(cells[cell]) * source.stride;
          std::int32_t& start = source.start(entity);
          if (start != unseen) continue;
          start = counted;
          counts[source.part(entity)] += source.num_entries;
        }
    }
  }

  void number(const mesh::Chunk& chunk, Nexts& nexts) {
    for (std::int32_t batch = chunk.batch_begin; batch < chunk.batch_end; ++batch) number(chunk.block, batch, nexts);
  }
  void number(std::int32_t block, std::int32_t batch, Nexts& nexts) {
    const auto b = static_cast<std::size_t>(block);
    const auto i = static_cast<std::size_t>(batch);
    BlockDofs& dofs = blocks_[b];
    if (block < 0 || batch < 0 || b >= blocks_.size() || i >= dofs.interior_starts.size() ||
        dofs.interior_starts[i] >= 0)
      throw base::InternalError(fmt::format("batch {} of block {} does not exist or is visited twice", batch, block));
    const int active = batches_.num_active(block, batch);
    std::int32_t& next = nexts.front(); // next entry of part 0, which no other process has: interiors belong to it
    dofs.first_touch[2 * i] = next;
    if (has_patches(b, i)) dofs.patch_numbers[i] = patches_[b]->number(i, next, run_of(b)) ? uniform : 0;
    const bool is_uniform = number_runs(b, i, active, nexts);
    if (is_uniform && active == batches_.cells_per_batch) dofs.pattern_numbers[i] = uniform;
    dofs.interior_starts[i] = next;
    next += static_cast<std::int32_t>(dofs.layout.interior_dofs.size()) * num_components_ * active;
    dofs.first_touch[2 * i + 1] = next;
  }

  void begin_patches(std::size_t b) {
    auto layout = make_patch_layout(blocks_[b].layout, batches_.patch_width);
    if (layout == nullptr) return;
    blocks_[b].patch_numbers.resize(static_cast<std::size_t>(batches_.blocks[b].num_batches));
    patches_[b] = std::make_unique<PatchNumbering>(std::move(layout), batches_.blocks[b], batches_.cells_per_batch,
                                                   num_components_);
  }
  /// Says whether a batch consists of patches that are numbered as such.
  bool has_patches(std::size_t b, std::size_t batch) const {
    return patches_[b] != nullptr && batches_.blocks[b].are_patches[batch] != 0;
  }
  RunsOfCells run_of(std::size_t b) const { return {sources_[b], blocks_[b].layout.permutations.data()}; }
  void allocate(std::size_t b) {
    const auto num_batches = static_cast<std::size_t>(batches_.blocks[b].num_batches);
    const std::size_t num_starts = num_batches * static_cast<std::size_t>(blocks_[b].layout.num_runs) *
                                   static_cast<std::size_t>(batches_.cells_per_batch);
    blocks_[b].run_starts.resize(num_starts);
    if (has_permutations(blocks_[b].layout)) blocks_[b].run_permutations.resize(num_starts);
    blocks_[b].interior_starts.assign(num_batches, -1);
    blocks_[b].pattern_numbers.resize(num_batches);
    blocks_[b].first_touch.resize(2 * num_batches);
  }

  /// Returns true if the permutations of each run are the same in all cells.
  bool number_runs(std::size_t b, std::size_t batch, int active, Nexts& nexts) {
    const auto cells_per_batch = static_cast<std::size_t>(batches_.cells_per_batch);
    const std::int32_t* cells = batches_.blocks[b].cells.data() + batch * cells_per_batch;
    std::size_t at = batch * sources_[b].size() * cells_per_batch;
    bool is_uniform = true;
    const bool is_permuted = has_permutations(blocks_[b].layout);
    for (const RunSource& source : sources_[b]) {
      std::int32_t* starts = blocks_[b].run_starts.data() + at;
      at += cells_per_batch;
      if (!is_permuted && source.is_plain()) {
        number_plain_run(source, std::span(cells, static_cast<std::size_t>(active)), nexts.front(), starts);
        std::fill(starts + active, starts + cells_per_batch, starts[active - 1]);
        continue;
      }
      std::int32_t* permutations = is_permuted ? blocks_[b].run_permutations.data() + (at - cells_per_batch) : nullptr;
      for (std::size_t cell = 0; cell < static_cast<std::size_t>(active); ++cell) {
        const std::size_t entity = static_cast<std::size_t>(cells[cell]) * source.stride;
        std::int32_t& start = source.start(entity);
        if (start < 0) {
          auto& next = nexts[source.part(entity)];
          start = std::exchange(next, next + source.num_entries);
        }
        starts[cell] = start;
        if (!is_permuted) continue;
        permutations[cell] = source.offsets[source.codes == nullptr ? 0 : source.codes[entity]];
        is_uniform = is_uniform && permutations[cell] == permutations[0];
      }
      std::fill(starts + active, starts + cells_per_batch, starts[active - 1]);
      if (is_permuted) std::fill(permutations + active, permutations + cells_per_batch, permutations[active - 1]);
    }
    return is_uniform;
  }
  /// Numbers a run of entities that are their own representatives, on a whole mesh.
  static void number_plain_run(const RunSource& source, std::span<const std::int32_t> cells, std::int32_t& next,
                               std::int32_t* starts) {
    auto* of_entities = source.starts->data();
    for (const auto cell : cells) {
      auto& start = of_entities[source.entities[static_cast<std::size_t>(cell) * source.stride]];
      if (start < 0) start = std::exchange(next, next + source.num_entries);
      *starts++ = start;
    }
  }
  void find_patterns(const mesh::Chunk& chunk) {
    const auto b = static_cast<std::size_t>(chunk.block);
    for (auto batch = static_cast<std::size_t>(chunk.batch_begin); batch < static_cast<std::size_t>(chunk.batch_end);
         ++batch) {
      if (auto& number = blocks_[b].pattern_numbers[batch]; number == uniform) number = pattern_number(b, batch);
      if (!has_patches(b, batch)) continue;
      auto& number = blocks_[b].patch_numbers[batch];
      number = patches_[b]->pattern(batch, number == uniform, run_of(b));
    }
  }
  /// Returns the number of the pattern of a batch whose cells are all like its first one.
  std::int32_t pattern_number(std::size_t b, std::size_t batch) {
    const auto cell =
        static_cast<std::size_t>(batches_.blocks[b].cells[batch * static_cast<std::size_t>(batches_.cells_per_batch)]);
    pattern_.clear();
    for (const RunSource& source : sources_[b])
      pattern_.push_back(source.arrangements[source.codes == nullptr ? 0 : source.codes[cell * source.stride]]);
    return patterns_[b].number(pattern_);
  }

  const mesh::CellBatches& batches_;
  int num_components_;
  const EntryParts& parts_;
  std::int32_t num_entries_ = 0; ///< number of entries of part 0
  EntityStarts starts_;
  std::vector<std::int32_t> pattern_; ///< pattern of the batch that is numbered
  std::vector<BlockDofs> blocks_;
  std::vector<std::vector<RunSource>> sources_;          ///< shape (block, run)
  std::vector<Patterns> patterns_;                       ///< shape (block)
  std::vector<std::unique_ptr<PatchNumbering>> patches_; ///< shape (block); null: the block has no patches
};

} // namespace

Numbering number_dofs(const mesh::Mesh& mesh, const mesh::CellBatches& batches, std::vector<ElementLayout> layouts,
                      int num_components) {
  const EntryParts parts(mesh, batches, layouts, num_components);
  comm::agree(*mesh.communicator(), [&] { require_fits(mesh, batches, layouts, num_components, parts); });
  Numberer numberer(mesh, batches, std::move(layouts), num_components, parts);
  numberer.number_all();
  return std::move(numberer).finish();
}

} // namespace rafter::space
