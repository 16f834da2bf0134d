// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <rafter/operator/run/linear_operator.hpp>

/// Finds where work on vectors can be fused into a run of a form's kernels: the entries that each part of the loop over
/// cells is the first and the last to touch.
namespace rafter::op {

struct GeneratedForm;

/// Items in groups, each group in the order given.
template <class T> class Grouped {
public:
  Grouped() = default;
  /// Takes pairs of group and item.
  Grouped(std::size_t num_groups, std::span<const std::pair<std::int32_t, T>> items)
      : starts_(num_groups + 1, 0), items_(items.size()) {
    for (const auto& [group, item] : items) ++starts_[static_cast<std::size_t>(group) + 1];
    for (std::size_t g = 0; g < num_groups; ++g) starts_[g + 1] += starts_[g];
    auto next = starts_;
    for (const auto& [group, item] : items) items_[next[static_cast<std::size_t>(group)]++] = item;
  }
  std::span<const T> operator[](std::size_t group) const {
    return std::span(items_).subspan(starts_[group], starts_[group + 1] - starts_[group]);
  }

private:
  std::vector<std::size_t> starts_;
  std::vector<T> items_;
};

/// Some consecutive batches of a chunk: few enough that their unknowns, of all vectors that a solver works on, stay in
/// the second cache from the work before to the work after them. A part without batches has entries that no kernel
/// touches.
struct ChunkPart {
  std::size_t block = 0;
  std::int32_t batch_begin = 0, batch_end = 0;
};

/// The parts of the loop over cells, with the entries that each is the first and the last to touch.
struct TouchedRanges {
  std::vector<ChunkPart> parts; ///< parts in the order of stages, chunks and batches
  /// First and last part of each chunk, shape (stage, chunk). Stages run one after the other, chunks of a stage at the
  /// same time, and parts of a chunk in order.
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> stages;
  /// These are the entries that each part is the first to touch, and those that nothing touches after it. The latter go
  /// by cache lines: a line is done when all of its entries are, which costs no traffic and leaves longer ranges; where
  /// chunks that run at the same time are the last to touch entries of one line, the line is divided.
  Grouped<EntryRange> before, after;

  /// Groups positions in `entries`, which ascend, by the part that has these entries in its ranges.
  Grouped<std::int32_t> by_part(const Grouped<EntryRange>& ranges, std::span<const std::int32_t> entries) const;
};

TouchedRanges make_touched_ranges(const GeneratedForm& form);

} // namespace rafter::op
