// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/operator/form_kernels.hpp>

/// The unknowns of every cell, for set-up that goes from cells to a matrix.
namespace rafter::op {

/// The system of the broken twins of a system's spaces (space::make_broken): its vectors are cell vectors.
System make_broken(const System& system);

/// Places of unknowns of cells: cell after cell in the order of blocks, batches and lanes; in a cell (field, component,
/// local dof).
struct CellUnknowns {
  explicit CellUnknowns(const System& system);

  struct CellRange {
    std::int64_t first = 0, num_cells = 0; ///< place of the first unknown
    int length = 0;                        ///< unknowns of a cell
    std::size_t first_pair = 0;
    std::vector<int> components; ///< of the system, shape (local unknown)
  };
  std::vector<CellRange> blocks;
  std::vector<std::int32_t> entries; ///< of the vectors of the system, shape (place)

  int most_per_cell() const;
  /// Pairs of unknowns of one cell are numbered place after place, by the local number of the other one: that of the
  /// first with the unknown at a place of this block.
  static std::size_t first_pair(const CellRange& block, std::int64_t place) {
    return block.first_pair + static_cast<std::size_t>((place - block.first) * block.length);
  }
  std::size_t num_pairs = 0;
  /// The block of a cell that begins at this place.
  const CellRange& block_of(std::int64_t place) const;

private:
  void fill(const System& system, std::int32_t block);
};

/// For every entry of the system the cells that have it.
struct Incidences {
  Incidences(const CellUnknowns& unknowns, std::int64_t size);
  struct Item {
    std::int32_t place = 0, cell = 0; ///< of the unknown and of the first unknown of its cell
  };
  std::span<const Item> of(std::int32_t entry) const {
    const auto begin = static_cast<std::size_t>(starts[static_cast<std::size_t>(entry)]);
    return std::span(items).subspan(begin,
                                    static_cast<std::size_t>(starts[static_cast<std::size_t>(entry) + 1]) - begin);
  }
  std::vector<std::int32_t> starts;
  std::vector<Item> items; ///< ascending places
};

} // namespace rafter::op
