// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/chunk_bounds.hpp>

namespace rafter::op {
namespace {

/// Brings a table to the device, so that runs, which may be on several threads, need not.
space::IndexTables::Integers on_device(const std::shared_ptr<device::Device>& device,
                                       base::AlignedVector<std::int32_t> values) {
  space::IndexTables::Integers result(device, std::move(values));
  static_cast<void>(result.device_read());
  return result;
}

} // namespace

ChunkStages with_bounds(const std::vector<std::vector<BlockChunk>>& chunks,
                        const std::function<bool(std::size_t kernel)>& reads_bounds,
                        const std::shared_ptr<device::Device>& device) {
  ChunkStages result;
  base::AlignedVector<std::int32_t> bounds;
  for (const auto& stage : chunks) {
    auto& runs = result.stages.emplace_back();
    for (const auto& chunk : stage) {
      if (!reads_bounds(chunk.piece)) {
        runs.push_back(chunk);
        continue;
      }
      const auto begin = static_cast<std::int32_t>(bounds.size()), end = begin + 2;
      bounds.insert(bounds.end(), {chunk.batch_begin, chunk.batch_end});
      const bool goes_on = !runs.empty() && runs.back().piece == chunk.piece;
      if (goes_on)
        runs.back().batch_end = end;
      else
        runs.push_back({chunk.piece, begin, end});
    }
  }
  result.bounds = on_device(device, std::move(bounds));
  return result;
}

space::IndexTables::Integers bounds_of(const TouchedRanges& touched, const std::shared_ptr<device::Device>& device) {
  base::AlignedVector<std::int32_t> bounds;
  for (const auto& part : touched.parts) bounds.insert(bounds.end(), {part.batch_begin, part.batch_end});
  return on_device(device, std::move(bounds));
}

} // namespace rafter::op
