// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/chunk_stages.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/colouring.hpp>

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

/// Returns for each chunk the others that have a vertex of its cells, ascending; identified vertices are one.
Graph find_conflicts(const Mesh& mesh, std::span<const BatchedBlock> blocks, const std::vector<Chunk>& chunks,
                     int cells_per_batch) {
  IntersectionGraph conflicts(mesh.num_vertices);
  const auto& surface = mesh.surface();
  for (const auto& chunk : chunks) {
    const auto& block = blocks[chunk.block];
    const auto& group = mesh.groups[block.group];
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    const auto begin = static_cast<std::size_t>(chunk.batch_begin) * cells_per_batch;
    const auto end = static_cast<std::size_t>(chunk.batch_end) * cells_per_batch;
    conflicts.begin_set();
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t v = 0; v < num_vertices; ++v)
        conflicts.add(surface.vertex_representative(group.vertices[block.cells[i] * num_vertices + v]));
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
                                            const BatchOptions& options) {
  const std::vector<Chunk> chunks = cut_into_chunks(blocks, options.batches_per_chunk);
  const Graph conflicts = find_conflicts(mesh, blocks, chunks, options.cells_per_batch);
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
    throw base::InputError(fmt::format("batches of {} cells; accepted: powers of two from 1 to {} lanes",
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
