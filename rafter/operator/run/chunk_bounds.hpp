// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/run/touched_ranges.hpp>
#include <rafter/space/index_tables.hpp>

namespace rafter::op {

/// The work of a run in stages, and the table that its kernels read where their groups take a chunk each
/// (schedule::role::chunk_bounds).
struct ChunkStages {
  /// Shape (stage, run of a kernel). Runs of kernels that read the table are over its entries, others over batches.
  std::vector<std::vector<BlockChunk>> stages;
  space::IndexTables::Integers bounds; ///< first batch of a chunk and that behind its last one, shape (chunk, 2)
};
/// Puts the chunks of a stage that belong to a kernel which reads their bounds into one run, so that a launch takes all
/// of them.
ChunkStages with_bounds(const std::vector<std::vector<BlockChunk>>& chunks,
                        const std::function<bool(std::size_t kernel)>& reads_bounds,
                        const std::shared_ptr<device::Device>& device);

/// The table for kernels that run part by part.
space::IndexTables::Integers bounds_of(const TouchedRanges& touched, const std::shared_ptr<device::Device>& device);
/// The entries of that table for a part.
inline std::pair<std::int32_t, std::int32_t> bounds_of_part(std::int32_t part) { return {2 * part, 2 * part + 2}; }

} // namespace rafter::op
