// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/base/uninitialised.hpp>
#include <rafter/device/device.hpp>
#include <rafter/operator/generate/system.hpp>

/// Lists the unknowns of every cell, for set-up that goes from cells to a matrix.
namespace rafter::op {

/// The system of the broken twins of a system's spaces (space::make_broken). Its vectors are cell vectors: each cell
/// has unknowns of its own.
System make_broken(const System& system);
/// The same for both sides of a form, whose twins are those of one space where they have one in common.
Systems make_broken(const Systems& systems);

/// Numbers the unknowns of all cells. These numbers are called places: they run over cells in the order of blocks,
/// batches and their cells, and within a cell over (field, component, local dof). Instead of single unknowns, groups of
/// `group_size` neighbours may be numbered (Coupling::block_size): the entry of a group is that of its first unknown
/// divided by the size.
struct CellUnknowns {
  CellUnknowns(const System& system, device::Device& device, int group_size = 1);

  struct CellRange {
    std::int64_t first = 0, num_cells = 0; ///< place of the first unknown of the block; number of its cells
    int length = 0;                        ///< number of unknowns, or groups, of a cell
    std::size_t first_pair = 0;            ///< number of the first pair of unknowns, see first_pair()
    /// Component of each local unknown among the components of the system, shape (local unknown).
    std::vector<int> components;
  };
  std::vector<CellRange> blocks;
  base::UninitialisedVector<std::int32_t> entries; ///< entry of each unknown in the system's vectors, shape (place)
  int group_size = 1;

  int most_per_cell() const;
  /// Pairs of unknowns of one cell are numbered place after place, and for one place by the local number of the other
  /// unknown. Returns the number of the first pair of the unknown at this place, which is in this block.
  static std::size_t first_pair(const CellRange& block, std::int64_t place) {
    return block.first_pair + static_cast<std::size_t>((place - block.first) * block.length);
  }
  std::size_t num_pairs = 0;
  /// Returns the number of the block whose cells have this place.
  std::size_t block_of(std::int64_t place) const {
    std::size_t b = blocks.size() - 1;
    while (b > 0 && (blocks[b].first > place || blocks[b].num_cells == 0)) --b;
    return b;
  }

private:
  void fill(const System& system, std::int32_t block, std::int32_t batch_begin, std::int32_t batch_end);
};

/// Lists for every entry of a range the places where cells have it, in ascending order.
class Incidences {
public:
  Incidences(const CellUnknowns& unknowns, std::int32_t begin, std::int32_t end);
  std::span<const std::int32_t> of(std::int32_t entry) const {
    const auto row = static_cast<std::size_t>(entry - begin_);
    const std::size_t first = row == 0 ? 0 : ends_[row - 1];
    return std::span(places_).subspan(first, ends_[row] - first);
  }

  std::span<const std::int32_t> all() const { return places_; } ///< the places of all entries, one after the other

private:
  std::int32_t begin_;
  std::vector<std::size_t> ends_; ///< end of the places of each entry, shape (entry)
  base::UninitialisedVector<std::int32_t> places_;
};

/// Bounds of `count` items in as many ranges as the device has threads, shape (range + 1).
std::vector<std::int64_t> thread_ranges(std::int64_t count, const device::Device& device);
/// body(begin, end) for each range, on the device's threads.
template <class Body>
void for_each_range(const std::vector<std::int64_t>& ranges, device::Device& device, const Body& body) {
  device.parallel_for(static_cast<std::int64_t>(ranges.size()) - 1, [&](std::int64_t r) {
    body(ranges[static_cast<std::size_t>(r)], ranges[static_cast<std::size_t>(r) + 1]);
  });
}

} // namespace rafter::op
