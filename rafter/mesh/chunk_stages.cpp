// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/chunk_stages.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/colouring.hpp>
#include <rafter/mesh/patches.hpp>

namespace rafter::mesh {

namespace {

std::vector<Chunk> cut_into_chunks(std::span<const BatchedBlock> blocks, int batches_per_chunk) {
  std::int64_t total = 0;
  for (const auto& block : blocks) total += block.num_batches;
  // There should be enough chunks for many threads in every stage, and each should be long: vertices that chunks share
  // are read from memory once more.
  if (batches_per_chunk == 0) {
    const std::int64_t most = std::clamp<std::int64_t>(total / 256, 64, 512);
    batches_per_chunk = static_cast<int>(std::clamp<std::int64_t>(total / 64, 1, most));
  }
  std::vector<Chunk> chunks;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::int32_t begin = 0; begin < blocks[b].num_batches; begin += batches_per_chunk)
      chunks.push_back(
          {static_cast<std::int32_t>(b), begin, std::min(blocks[b].num_batches, begin + batches_per_chunk)});
  return chunks;
}

/// Finds the vertices of the cells of a batch. Those of a patch come once each.
class BatchVertices {
public:
  BatchVertices(const Mesh& mesh, int cells_per_batch, int patch_width)
      : mesh_(mesh), cells_per_batch_(static_cast<std::size_t>(cells_per_batch)),
        num_patches_(cells_per_batch_ / static_cast<std::size_t>(cells_per_patch(patch_width, mesh.tdim))),
        points_(patch_width > 1 ? patch_points(mesh.tdim, patch_width) : std::vector<PatchPoint>()) {}

  template <class Visit> void for_each(const BatchedBlock& block, std::int32_t batch, const Visit& visit) const {
    const auto& group = mesh_.groups[static_cast<std::size_t>(block.group)];
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    const auto cells = block.cells.subspan(static_cast<std::size_t>(batch) * cells_per_batch_, cells_per_batch_);
    const auto* vertices = group.vertices.data();
    if (block.are_patches.empty() || block.are_patches[static_cast<std::size_t>(batch)] == 0) {
      for (const auto cell : cells)
        for (std::size_t v = 0; v < num_vertices; ++v)
          visit(vertices[static_cast<std::size_t>(cell) * num_vertices + v]);
      return;
    }
    for (const auto& point : points_)
      for (std::size_t patch = 0; patch < num_patches_; ++patch) {
        const auto cell = cells[static_cast<std::size_t>(point.child) * num_patches_ + patch];
        visit(vertices[static_cast<std::size_t>(cell) * num_vertices + static_cast<std::size_t>(point.corner)]);
      }
  }

private:
  const Mesh& mesh_;
  std::size_t cells_per_batch_, num_patches_;
  std::vector<PatchPoint> points_; ///< vertices of a patch
};

/// Returns for each chunk the others that have a vertex of its cells, ascending; identified vertices are one.
Graph find_conflicts(const Mesh& mesh, std::span<const BatchedBlock> blocks, const std::vector<Chunk>& chunks,
                     const BatchVertices& vertices) {
  IntersectionGraph conflicts(mesh.num_vertices);
  const auto& representatives = mesh.surface().vertex_representatives;
  for (const auto& chunk : chunks) {
    conflicts.begin_set();
    for (std::int32_t batch = chunk.batch_begin; batch < chunk.batch_end; ++batch)
      vertices.for_each(blocks[static_cast<std::size_t>(chunk.block)], batch, [&](std::int32_t vertex) {
        conflicts.add(representatives.empty() ? vertex : representatives[static_cast<std::size_t>(vertex)]);
      });
  }
  return std::move(conflicts).finish();
}

} // namespace

std::vector<std::int32_t> padded_to_batches(std::vector<std::int32_t> cells, int cells_per_batch) {
  const std::size_t batches = (cells.size() + cells_per_batch - 1) / cells_per_batch;
  if (!cells.empty()) cells.resize(batches * cells_per_batch, cells.back());
  return cells;
}

std::vector<std::vector<Chunk>> make_stages(const Mesh& mesh, std::span<const BatchedBlock> blocks,
                                            const BatchOptions& options, int patch_width) {
  const std::vector<Chunk> chunks = cut_into_chunks(blocks, options.batches_per_chunk);
  const Graph conflicts =
      find_conflicts(mesh, blocks, chunks, BatchVertices(mesh, options.cells_per_batch, patch_width));
  std::vector<std::int32_t> num_batches;
  for (const auto& chunk : chunks) num_batches.push_back(chunk.batch_end - chunk.batch_begin);
  const auto colours = coloured(conflicts, num_batches);
  std::vector<std::vector<Chunk>> stages;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto stage = static_cast<std::size_t>(colours[i]);
    if (stage >= stages.size()) stages.resize(stage + 1);
    stages[stage].push_back(chunks[i]);
  }
  return stages;
}

void require_valid(const BatchOptions& options) {
  // Kernels take batches in sub-batches of as many cells as a register holds, which are powers of two.
  if (options.cells_per_batch < 1 || options.cells_per_batch > BatchOptions::most_cells_per_batch ||
      !std::has_single_bit(static_cast<unsigned>(options.cells_per_batch)))
    throw base::InputError(fmt::format("batches of {} cells; accepted: powers of two from 1 to {}",
                                       options.cells_per_batch, BatchOptions::most_cells_per_batch));
  if (options.patch_width < 1 || options.patch_width > 8)
    throw base::InputError(
        fmt::format("patches of {} cells along an axis; accepted: 1 (none) to 8", options.patch_width));
  if (options.batches_per_chunk < 0)
    throw base::InputError(
        fmt::format("{} batches per chunk; accepted: positive counts, or 0 to choose one from the mesh",
                    options.batches_per_chunk));
  if (!(options.affine_tolerance >= 0 && options.affine_tolerance < 1))
    throw base::InputError(fmt::format("affine_tolerance = {}; accepted: 0 to 1", options.affine_tolerance));
}

} // namespace rafter::mesh
