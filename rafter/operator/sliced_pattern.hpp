// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/aligned.hpp>
#include <rafter/operator/cell_unknowns.hpp>
#include <rafter/operator/coupling.hpp>

/// Where the entries of an assembled matrix stand.
namespace rafter::op {

/// Blocks of coupling.block_size() rows and columns in slices, as schedule::matrix_product takes them. Rows of a window
/// go into slices by their length, the longest first (SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske, Bishop, SIAM J.
/// Sci. Comput. 36 (2014) C401, doi:10.1137/130930352), and within a slice by their number. The result depends on the
/// system, the coupling and the height alone. Slices of height 1 are compressed rows (CSR): entries stand one by one,
/// whatever the size of blocks, and rows in their own order.
struct SlicedPattern {
  SlicedPattern(const CellUnknowns& unknowns, const Incidences& incidences, const Coupling& coupling, std::int64_t size,
                int slice_height, device::Device& device);

  int block = 1, height = 8;
  std::int32_t num_rows = 0;                       ///< of blocks
  std::int64_t num_blocks = 0;                     ///< without what fills rows up
  std::vector<std::int64_t> starts;                ///< as matrix_product, where they have 32 bits
  base::AlignedVector<std::int32_t> rows, columns; ///< as matrix_product
  std::vector<std::int32_t> lengths;               ///< shape (row)
  std::vector<std::int32_t> places;                ///< slice * height + lane, shape (row)
  std::vector<std::size_t> first_places;           ///< of the first entry of the row, shape (row)

  /// Number of the block column of a local unknown among those of the row of another one of its cell, shape (pair of
  /// CellUnknowns); not_coupled where they share no entry.
  std::vector<std::uint16_t> slots;
  static constexpr std::uint16_t not_coupled = 0xffff;

  std::int64_t num_slices() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  /// Blocks with what fills rows up.
  std::int64_t num_stored() const { return starts.back() * height; }

  /// Place of an entry of the matrix among all, shape (start, row of the block, column of the block, lane): that of row
  /// `row` (0 .. block num_rows - 1), its first block column, and the first column of that. The k-th is k
  /// block_stride() further, the next column of a block `height`.
  std::size_t first_place(std::int32_t row) const {
    if (block == 1) return first_places[static_cast<std::size_t>(row)];
    return first_places[static_cast<std::size_t>(row / block)] +
           static_cast<std::size_t>(row % block) * static_cast<std::size_t>(block * height);
  }
  std::size_t block_stride() const {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(block * height);
  }

private:
  using Columns = std::vector<std::int32_t>; ///< of some rows, one after the other
  void place_rows();
  void fill_columns(const std::vector<Columns>& columns, const std::vector<std::int64_t>& ranges,
                    device::Device& device);
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
