// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/aligned.hpp>
#include <rafter/operator/generate/cell_unknowns.hpp>
#include <rafter/operator/generate/coupling.hpp>

/// A sliced pattern says where the entries of an assembled matrix stand.
namespace rafter::op {

/// The pattern of a matrix of blocks of coupling.block_size() rows and columns in slices, as schedule::matrix_product
/// takes them. Rows of a window go into slices by their length, the longest first (SELL-C-sigma: Kreutzer, Hager,
/// Wellein, Fehske, Bishop, SIAM J. Sci. Comput. 36 (2014) C401, doi:10.1137/130930352), and within a slice by their
/// number. The result depends on the system, the coupling and the height alone. Slices of height 1 are compressed rows
/// (CSR): block rows are in their own order, and their columns ascend. The entries of a block row are those of its
/// first row in all blocks, then those of the second one, and so on.
struct SlicedPattern {
  /// `unknowns`: groups of coupling.block_size() unknowns. `size`: of the vectors of the system.
  SlicedPattern(const CellUnknowns& unknowns, const Coupling& coupling, std::int64_t size, int slice_height,
                device::Device& device);

  int block = 1, height = 8;
  std::int32_t num_rows = 0;        ///< number of block rows
  std::int64_t num_blocks = 0;      ///< number of blocks without padding
  std::vector<std::int64_t> starts; ///< number of columns of the slices before each slice, shape (slice + 1)
  /// Block rows, shape (slice, row); block columns, shape (start, row); see schedule::matrix_product.
  base::AlignedVector<std::int32_t> rows, columns;
  std::vector<std::size_t> first_places; ///< place of the first entry of each block row, shape (row)
  /// Number of the block on the diagonal among those of its row, shape (row); not_coupled where there is none.
  std::vector<std::uint16_t> diagonals;

  static constexpr std::uint16_t not_coupled = 0xffff;
  /// Calls visit(slots). Each pair of groups of unknowns of a cell, numbered as in CellUnknowns, has a slot: the number
  /// of the block column of the second group among those of the row of the first one, or the largest number of the type
  /// where the groups share no entry. `slots` points to the slot of pair `first`, and the next pairs follow. Slots have
  /// 8 bits where all rows are short enough, else 16.
  template <class Visit> void with_slots(std::size_t first, const Visit& visit) const {
    if (slots_.empty())
      visit(short_slots_.data() + first);
    else
      visit(slots_.data() + first);
  }
  bool has_short_slots() const { return slots_.empty(); }

  std::int64_t num_slices() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  /// Blocks with what fills rows up.
  std::int64_t num_stored() const { return starts.back() * height; }

  /// Distances between the places of entries of a block row, the first of which is at first_places: from a block to the
  /// next one, and within a block from a row to the next one and from a column to the next one.
  std::size_t block_stride() const {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(height > 1 ? block * height : 1);
  }
  std::size_t row_stride(std::int32_t row) const {
    const auto distance =
        height > 1 ? height : starts[static_cast<std::size_t>(row) + 1] - starts[static_cast<std::size_t>(row)];
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(distance);
  }
  std::size_t column_stride() const { return static_cast<std::size_t>(height); }

private:
  template <class Slot> class Builder;
  /// Finds rows and columns. Returns false where a row has more columns than a slot counts.
  template <class Slot>
  bool build(const CellUnknowns& unknowns, const Coupling& coupling, device::Device& device,
             base::UninitialisedVector<Slot>& slots);

  base::UninitialisedVector<std::uint8_t> short_slots_; ///< one of both is empty
  base::UninitialisedVector<std::uint16_t> slots_;
};

} // namespace rafter::op
