// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/aligned.hpp>
#include <rafter/operator/cell_unknowns.hpp>
#include <rafter/operator/coupling.hpp>

/// Finds where the entries of an assembled matrix are stored.
namespace rafter::op {

/// The pattern of a matrix of blocks of coupling.block_size() rows and columns in slices, as schedule::matrix_product
/// takes them. Rows of a window go into slices by their length, the longest first (SELL-C-sigma: Kreutzer, Hager,
/// Wellein, Fehske, Bishop, SIAM J. Sci. Comput. 36 (2014) C401, doi:10.1137/130930352), and within a slice by their
/// number. The result depends on the system, the coupling and the height alone. Slices of height 1 are compressed rows
/// (CSR): entries are stored one by one, whatever the size of blocks, and rows are in their own order.
struct SlicedPattern {
  SlicedPattern(const CellUnknowns& unknowns, const Incidences& incidences, const Coupling& coupling, std::int64_t size,
                int slice_height, device::Device& device);

  int block = 1, height = 8;
  std::int32_t num_rows = 0;        ///< number of block rows
  std::int64_t num_blocks = 0;      ///< number of blocks without padding
  std::vector<std::int64_t> starts; ///< number of columns of the slices before each slice, shape (slice + 1)
  /// Block rows, shape (slice, lane); block columns, shape (start, lane); see schedule::matrix_product.
  base::AlignedVector<std::int32_t> rows, columns;
  std::vector<std::int32_t> lengths;     ///< number of blocks of each row, shape (row)
  std::vector<std::int32_t> places;      ///< slice * height + lane of each row, shape (row)
  std::vector<std::size_t> first_places; ///< place of the first entry of each row, shape (row)

  /// For each pair of unknowns of a cell, numbered as in CellUnknowns: the number of the block column of the second
  /// unknown among those of the row of the first one; not_coupled where they share no entry.
  std::vector<std::uint16_t> slots;
  static constexpr std::uint16_t not_coupled = 0xffff;

  std::int64_t num_slices() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  /// Number of blocks, padding included.
  std::int64_t num_stored() const { return starts.back() * height; }

  /// Place of an entry among all entries of the matrix, shape (start, row of the block, column of the block, lane). The
  /// entry is in row `row` (0 .. block * num_rows - 1), in its first block column, and in the first column of that
  /// block. The k-th block column is k * block_stride() further, the next column of a block `height` further.
  std::size_t first_place(std::int32_t row) const {
    if (block == 1) return first_places[static_cast<std::size_t>(row)];
    return first_places[static_cast<std::size_t>(row / block)] +
           static_cast<std::size_t>(row % block) * static_cast<std::size_t>(block * height);
  }
  std::size_t block_stride() const {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(block * height);
  }

private:
  using Columns = std::vector<std::int32_t>; ///< columns of some rows, one row after the other
  void place_rows();
  void fill_columns(const std::vector<Columns>& columns, const std::vector<std::int64_t>& ranges,
                    device::Device& device);
};

/// Bounds of `count` items in as many ranges as the device has threads, shape (range + 1).
std::vector<std::int64_t> thread_ranges(std::int64_t count, const device::Device& device);
/// Calls body(begin, end) for each range, on the threads of the device.
template <class Body>
void for_each_range(const std::vector<std::int64_t>& ranges, device::Device& device, const Body& body) {
  device.parallel_for(static_cast<std::int64_t>(ranges.size()) - 1, [&](std::int64_t r) {
    body(ranges[static_cast<std::size_t>(r)], ranges[static_cast<std::size_t>(r) + 1]);
  });
}

} // namespace rafter::op
