// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/operator/form_kernels.hpp>

/// Lists the unknowns of every cell, for set-up that goes from cells to a matrix.
namespace rafter::op {

/// The system of the broken twins of a system's spaces (space::make_broken). Its vectors are cell vectors: each cell
/// has unknowns of its own.
System make_broken(const System& system);

/// Numbers the unknowns of all cells. These numbers are called places: they run over cells in the order of blocks,
/// batches and lanes, and within a cell over (field, component, local dof).
struct CellUnknowns {
  explicit CellUnknowns(const System& system);

  struct CellRange {
    std::int64_t first = 0, num_cells = 0; ///< place of the first unknown of the block; number of its cells
    int length = 0;                        ///< number of unknowns of a cell
    std::size_t first_pair = 0;            ///< number of the first pair of unknowns, see first_pair()
    /// Component of each local unknown among the components of the system, shape (local unknown).
    std::vector<int> components;
  };
  std::vector<CellRange> blocks;
  std::vector<std::int32_t> entries; ///< entry of each unknown in the vectors of the system, shape (place)

  int most_per_cell() const;
  /// Pairs of unknowns of one cell are numbered place after place, and for one place by the local number of the other
  /// unknown. Returns the number of the first pair of the unknown at this place, which is in this block.
  static std::size_t first_pair(const CellRange& block, std::int64_t place) {
    return block.first_pair + static_cast<std::size_t>((place - block.first) * block.length);
  }
  std::size_t num_pairs = 0;
  /// Returns the block of the cell whose first unknown is at this place.
  const CellRange& block_of(std::int64_t place) const;

private:
  void fill(const System& system, std::int32_t block);
};

/// Lists for every entry of the system the cells that have it.
struct Incidences {
  Incidences(const CellUnknowns& unknowns, std::int64_t size);
  struct Item {
    std::int32_t place = 0, cell = 0; ///< place of the unknown; place of the first unknown of its cell
  };
  std::span<const Item> of(std::int32_t entry) const {
    const auto begin = static_cast<std::size_t>(starts[static_cast<std::size_t>(entry)]);
    return std::span(items).subspan(begin,
                                    static_cast<std::size_t>(starts[static_cast<std::size_t>(entry) + 1]) - begin);
  }
  std::vector<std::int32_t> starts; ///< position of the first item of each entry, shape (entry + 1)
  std::vector<Item> items;          ///< ordered by entry, those of one entry by ascending place
};

} // namespace rafter::op
