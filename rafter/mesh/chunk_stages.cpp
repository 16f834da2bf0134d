// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/chunk_stages.hpp>

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::mesh {

namespace {

std::vector<Chunk> cut_into_chunks(std::span<const BatchedCells> blocks, int batches_per_chunk) {
  std::int64_t total = 0;
  for (const auto& block : blocks) total += block.num_batches;
  // Enough chunks for many threads in every stage, and long enough runs that their surface is small.
  if (batches_per_chunk == 0) batches_per_chunk = static_cast<int>(std::clamp<std::int64_t>(total / 64, 1, 64));
  std::vector<Chunk> chunks;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::int32_t begin = 0; begin < blocks[b].num_batches; begin += batches_per_chunk)
      chunks.push_back(
          {static_cast<std::int32_t>(b), begin, std::min(blocks[b].num_batches, begin + batches_per_chunk)});
  return chunks;
}

/// Calls visit(vertex) for the vertices of every cell of a chunk (repeatedly for shared ones).
template <class Visit>
void for_each_vertex(const Mesh& mesh, const BatchedCells& block, const Chunk& chunk, int lanes, Visit&& visit) {
  const auto& group = mesh.groups[block.group];
  const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
  const auto begin = static_cast<std::size_t>(chunk.batch_begin) * lanes;
  const auto end = static_cast<std::size_t>(chunk.batch_end) * lanes;
  for (std::size_t i = begin; i < end; ++i)
    for (std::size_t v = 0; v < num_vertices; ++v) visit(group.vertices[block.cells[i] * num_vertices + v]);
}

} // namespace

std::vector<std::int32_t> padded_to_batches(std::vector<std::int32_t> cells, int lanes) {
  const std::size_t batches = (cells.size() + lanes - 1) / lanes;
  if (!cells.empty()) cells.resize(batches * lanes, cells.back());
  return cells;
}

std::vector<std::vector<Chunk>> make_stages(const Mesh& mesh, std::span<const BatchedCells> blocks,
                                            const BatchOptions& options) {
  std::vector<std::vector<Chunk>> stages;
  std::vector<Chunk> waiting = cut_into_chunks(blocks, options.batches_per_chunk);
  // 64 colours at a time: bit s of used[v] says that a chunk of stage first + s touches vertex v.
  while (!waiting.empty()) {
    const std::size_t first = stages.size();
    std::vector<std::uint64_t> used(mesh.num_vertices, 0);
    std::vector<Chunk> left;
    for (const auto& chunk : waiting) {
      const auto& block = blocks[chunk.block];
      std::uint64_t taken = 0;
      for_each_vertex(mesh, block, chunk, options.lanes, [&](std::int32_t v) { taken |= used[v]; });
      const int colour = std::countr_one(taken);
      if (colour == 64) {
        left.push_back(chunk);
        continue;
      }
      for_each_vertex(mesh, block, chunk, options.lanes,
                      [&, bit = std::uint64_t{1} << colour](std::int32_t v) { used[v] |= bit; });
      if (first + colour >= stages.size()) stages.resize(first + colour + 1);
      stages[first + colour].push_back(chunk);
    }
    waiting = std::move(left);
  }
  return stages;
}

void require_valid(const BatchOptions& options) {
  if (options.lanes < 1 || options.lanes > 1024)
    throw base::InputError(fmt::format("batches of {} cells; accepted: 1 to 1024 lanes", options.lanes));
  if (options.batches_per_chunk < 0)
    throw base::InputError(
        fmt::format("{} batches per chunk; accepted: positive counts, or 0 to choose one from the mesh",
                    options.batches_per_chunk));
  if (!(options.affine_tolerance >= 0 && options.affine_tolerance < 1))
    throw base::InputError(fmt::format("affine_tolerance = {}; accepted: 0 to 1", options.affine_tolerance));
}

} // namespace rafter::mesh
