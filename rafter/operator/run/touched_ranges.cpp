// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/touched_ranges.hpp>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/space/block_dofs.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/layout.hpp>

namespace rafter::op {
namespace {

/// Number of unknowns of the cells of a part, where shared ones count for every cell.
constexpr std::int64_t entries_per_part = 8192;
/// Number of doubles in a cache line. Vectors begin at one.
constexpr std::int64_t line_length = 8;

using Ranges = std::vector<std::pair<std::int32_t, EntryRange>>;

std::int64_t entries_per_batch(const GeneratedBlock& block) {
  std::int64_t result = 0;
  for (const auto* space : block.spaces)
    result += std::int64_t{block.cells.cells_per_batch} * space->num_components() *
              space->element(block.cells.shape)->num_dofs();
  return result;
}

/// Cuts chunks into parts, stage by stage.
void add_parts(const GeneratedForm& form, TouchedRanges& result) {
  for (const auto& stage : chunk_stages(form)) {
    auto& chunks = result.stages.emplace_back();
    for (const auto& [block, begin, end] : stage) {
      const std::int64_t per_batch = entries_per_batch(form.blocks[block]);
      const auto length = static_cast<std::int32_t>(std::max<std::int64_t>(1, entries_per_part / per_batch));
      const auto first = static_cast<std::int32_t>(result.parts.size());
      for (std::int32_t b = begin; b < end; b += length) result.parts.push_back({block, b, std::min(end, b + length)});
      chunks.emplace_back(first, static_cast<std::int32_t>(result.parts.size()) - 1);
    }
  }
}

/// Finds the first and the last part that touches each entry.
class Touches {
public:
  explicit Touches(const GeneratedForm& form) : form_(form) {
    first.assign(static_cast<std::size_t>(form.system.size()), -1);
    last = first;
  }
  std::vector<std::int32_t> first, last; ///< shape (entry); -1: no part touches it

  void touch(const ChunkPart& part, std::int32_t number) {
    const GeneratedBlock& block = form_.blocks[part.block];
    for (std::size_t i = 0; i < block.spaces.size(); ++i)
      for (std::size_t field = 0; field < form_.system.spaces.size(); ++field)
        if (form_.system.spaces[field].get() == block.spaces[i]) touch(part, block, i, field, number);
  }

private:
  void touch(const ChunkPart& part, const GeneratedBlock& block, std::size_t i, std::size_t field,
             std::int32_t number) {
    for (std::int32_t batch = part.batch_begin; batch < part.batch_end; ++batch)
      if (block.cell_block >= 0)
        touch_cells(block, field, static_cast<std::size_t>(batch), number);
      else
        touch_facets(block, i, field, static_cast<std::size_t>(batch), number);
  }
  void touch_range(std::int64_t begin, std::int64_t end, std::int32_t number) {
    for (auto e = static_cast<std::size_t>(begin); e < static_cast<std::size_t>(end); ++e) {
      if (first[e] < 0) first[e] = number;
      last[e] = number;
    }
  }
  /// Touches the runs of shared entities, whose `starts` have shape (run, cell).
  void touch_runs(const space::ElementLayout& layout, const std::int32_t* starts, int cells_per_batch,
                  std::size_t field, std::int32_t number) {
    const std::int64_t components = form_.system.spaces[field]->num_components(), offset = form_.system.offset(field);
    for (const int length : layout.run_lengths)
      for (int cell = 0; cell < cells_per_batch; ++cell, ++starts)
        touch_range(offset + *starts, offset + *starts + length * components, number);
  }
  void touch_cells(const GeneratedBlock& block, std::size_t field, std::size_t batch, std::int32_t number) {
    const auto& dofs = form_.system.spaces[field]->block(block.cell_block);
    const auto cells_per_batch = static_cast<std::size_t>(block.cells.cells_per_batch);
    touch_runs(dofs.layout, dofs.run_starts.data() + batch * dofs.layout.run_lengths.size() * cells_per_batch,
               block.cells.cells_per_batch, field, number);
    const std::int64_t offset = form_.system.offset(field);
    touch_range(offset + dofs.interior_starts[batch], offset + dofs.first_touch[2 * batch + 1], number);
  }
  void touch_facets(const GeneratedBlock& block, std::size_t i, std::size_t field, std::size_t batch,
                    std::int32_t number) {
    const auto& dofs = *block.facet_dofs[i];
    const auto cells_per_batch = static_cast<std::size_t>(block.cells.cells_per_batch);
    touch_runs(dofs.layout, dofs.run_starts.data() + batch * dofs.layout.run_lengths.size() * cells_per_batch,
               block.cells.cells_per_batch, field, number);
    const std::int64_t offset = form_.system.offset(field);
    const auto num_interior =
        static_cast<std::int64_t>(dofs.layout.interior_dofs.size()) * form_.system.spaces[field]->num_components();
    for (std::size_t slot = batch * cells_per_batch; slot < (batch + 1) * cells_per_batch; ++slot)
      for (std::int64_t k = 0; k < num_interior; ++k) {
        const std::int64_t entry = offset + dofs.interior_starts[slot] + k * dofs.interior_strides[slot];
        touch_range(entry, entry + 1, number);
      }
  }
  const GeneratedForm& form_;
};

/// Appends a range, or lengthens the last one where it continues that.
void append(Ranges& ranges, std::int32_t part, EntryRange range) {
  if (!ranges.empty() && ranges.back().first == part && ranges.back().second.end == range.begin)
    ranges.back().second.end = range.end;
  else
    ranges.emplace_back(part, range);
}

/// Adds parts of their own, in a last stage, for entries that no kernel touches.
void add_untouched(TouchedRanges& result, Touches& touches) {
  std::vector<std::pair<std::int32_t, std::int32_t>> chunks;
  std::int64_t room = 0; // number of entries that the newest part can still take
  for (std::size_t e = 0; e < touches.first.size(); ++e) {
    if (touches.first[e] >= 0) continue;
    if (room-- == 0) {
      room = entries_per_part - 1;
      const auto part = static_cast<std::int32_t>(result.parts.size());
      result.parts.push_back({});
      chunks.emplace_back(part, part);
    }
    touches.first[e] = touches.last[e] = static_cast<std::int32_t>(result.parts.size()) - 1;
  }
  if (!chunks.empty()) result.stages.push_back(std::move(chunks));
}

/// Finds the ranges of entries that each part is the last to touch.
class LastRanges {
public:
  LastRanges(const TouchedRanges& parts, std::span<const std::int32_t> last)
      : last_(last), places_(parts.parts.size()) {
    for (std::size_t s = 0; s < parts.stages.size(); ++s)
      for (std::size_t c = 0; c < parts.stages[s].size(); ++c)
        for (std::int32_t p = parts.stages[s][c].first; p <= parts.stages[s][c].second; ++p)
          places_[static_cast<std::size_t>(p)] = {s, c};
  }

  Ranges find() {
    const auto size = static_cast<std::int64_t>(last_.size());
    for (std::int64_t begin = 0; begin < size; begin += line_length)
      finish({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(std::min(size, begin + line_length))});
    return std::move(ranges_);
  }

private:
  struct Place {
    std::size_t stage = 0, chunk = 0;
  };

  /// Gives a range to the part that runs last of those that touch it. Parts are numbered in the order in which they
  /// run, but for chunks of one stage: where the last to touch a range are two of those, neither knows that the other
  /// is done, and the range is divided.
  void finish(EntryRange range) {
    const auto entries =
        last_.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.end - range.begin));
    const std::int32_t latest = *std::max_element(entries.begin(), entries.end());
    const Place place = places_[static_cast<std::size_t>(latest)];
    const bool is_alone = std::all_of(entries.begin(), entries.end(), [&](std::int32_t part) {
      const Place other = places_[static_cast<std::size_t>(part)];
      return other.stage != place.stage || other.chunk == place.chunk;
    });
    if (is_alone) return append(ranges_, latest, range);
    const std::int32_t middle = range.begin + (range.end - range.begin) / 2;
    finish({range.begin, middle});
    finish({middle, range.end});
  }

  std::span<const std::int32_t> last_;
  std::vector<Place> places_;
  Ranges ranges_;
};

} // namespace

Grouped<std::int32_t> TouchedRanges::by_part(const Grouped<EntryRange>& ranges,
                                             std::span<const std::int32_t> entries) const {
  std::vector<std::pair<std::int32_t, std::int32_t>> found;
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (const auto& range : ranges[part])
      for (auto e = std::lower_bound(entries.begin(), entries.end(), range.begin); e != entries.end() && *e < range.end;
           ++e)
        found.emplace_back(static_cast<std::int32_t>(part), static_cast<std::int32_t>(e - entries.begin()));
  return {parts.size(), found};
}

TouchedRanges make_touched_ranges(const GeneratedForm& form) {
  TouchedRanges result;
  add_parts(form, result);
  Touches touches(form);
  for (std::size_t part = 0; part < result.parts.size(); ++part)
    touches.touch(result.parts[part], static_cast<std::int32_t>(part));
  add_untouched(result, touches);
  Ranges before;
  for (std::size_t e = 0; e < touches.first.size(); ++e)
    append(before, touches.first[e], {static_cast<std::int32_t>(e), static_cast<std::int32_t>(e) + 1});
  result.before = {result.parts.size(), before};
  result.after = {result.parts.size(), LastRanges(result, touches.last).find()};
  return result;
}

} // namespace rafter::op
