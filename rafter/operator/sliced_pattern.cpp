// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/sliced_pattern.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::op {
namespace {

/// Number of rows that are sorted together: few enough that their part of the vector stays in the nearest cache.
constexpr std::int32_t window = 512;

/// Finds the block columns of rows, one after the other, and where the unknowns of cells stand among them.
class ColumnFinder {
public:
  ColumnFinder(const CellUnknowns& unknowns, const Incidences& incidences, const Coupling& coupling, int block,
               std::int32_t num_columns, std::span<std::uint16_t> slots)
      : unknowns_(unknowns), incidences_(incidences), block_(block), slots_(slots),
        marks_(static_cast<std::size_t>(num_columns), no_row) {
    for (std::size_t b = 0; b < unknowns.blocks.size(); ++b) local_columns_.push_back(coupling.local_columns(b));
  }

  /// Appends the columns of a row in ascending order and returns their number.
  std::int32_t append(std::int32_t row, std::vector<std::int32_t>& columns) {
    find_cells(row);
    const std::size_t length = block_ == 1 ? find<true>(row) : find<false>(row);
    if (length >= SlicedPattern::not_coupled)
      throw base::InputError(fmt::format("a matrix has at most {} columns in a row, this one would have {}: apply the "
                                         "operator without a matrix (another mapping than assembled)",
                                         SlicedPattern::not_coupled - 1, length));
    rank(std::span(found_).first(length));
    const auto begin = columns.size();
    columns.resize(begin + length);
    for (std::size_t k = 0; k < length; ++k) columns[begin + ranks_[k]] = found_[k];
    const auto* number = numbers_.data();
    for (const auto& cell : cells_)
      for (const auto local : cell.columns) cell.slots[local] = ranks_[*number++];
    return static_cast<std::int32_t>(length);
  }

private:
  /// A cell that has an unknown of the row.
  struct Cell {
    std::span<const std::int32_t> columns; ///< local unknowns that couple with the unknown of the row
    const std::int32_t* entries;           ///< entries of the cell's unknowns, shape (local unknown)
    std::uint16_t* slots;                  ///< slots of the pairs of the row's unknown, shape (local unknown)
  };

  void find_cells(std::int32_t row) {
    cells_.clear();
    std::size_t num_pairs = 0;
    for (std::int32_t i = 0; i < block_; ++i)
      for (const auto& item : incidences_.of(row * block_ + i)) {
        const auto& block = unknowns_.block_of(item.cell);
        const auto& local_columns = local_columns_[static_cast<std::size_t>(&block - unknowns_.blocks.data())];
        const auto& columns = local_columns[static_cast<std::size_t>(item.place - item.cell)];
        cells_.push_back({columns, unknowns_.entries.data() + item.cell,
                          slots_.data() + CellUnknowns::first_pair(block, item.place)});
        num_pairs += columns.size();
      }
    if (numbers_.size() >= num_pairs) return;
    found_.resize(num_pairs + 1);
    numbers_.resize(num_pairs);
  }

  /// Numbers the columns of a row as they appear and returns how many there are. It has no branches, because no
  /// processor can predict which pairs are new.
  template <bool has_single_entries> std::size_t find(std::int32_t row) {
    const auto marked_row = static_cast<std::uint64_t>(row);
    std::uint64_t count = 0;
    auto* number = numbers_.data();
    for (const auto& cell : cells_)
      for (const auto local : cell.columns) {
        const std::int32_t column = has_single_entries ? cell.entries[local] : cell.entries[local] / block_;
        auto& mark = marks_[static_cast<std::size_t>(column)];
        const std::uint64_t is_new = (mark >> number_bits) != marked_row ? 1 : 0, keep = is_new - 1;
        mark = (mark & keep) | ((marked_row << number_bits | count) & ~keep);
        found_[count] = column;
        *number++ = static_cast<std::uint32_t>(mark);
        count += is_new;
      }
    return count;
  }

  /// Finds the position of each column in ascending order. Where there are few, smaller ones are counted, which takes
  /// no branches, either.
  void rank(std::span<const std::int32_t> found) {
    constexpr std::size_t few = 96;
    ranks_.assign(found.size(), 0);
    if (found.size() <= few) {
      for (std::size_t i = 0; i < found.size(); ++i)
        for (std::size_t k = 0; k < found.size(); ++k) ranks_[k] += found[i] < found[k] ? 1 : 0;
      return;
    }
    order_.resize(found.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return found[static_cast<std::size_t>(a)] < found[static_cast<std::size_t>(b)];
    });
    for (std::size_t k = 0; k < found.size(); ++k)
      ranks_[static_cast<std::size_t>(order_[k])] = static_cast<std::uint16_t>(k);
  }

  static constexpr int number_bits = 32;
  static constexpr std::uint64_t no_row = ~std::uint64_t{0};
  const CellUnknowns& unknowns_;
  const Incidences& incidences_;
  std::int32_t block_;
  std::span<std::uint16_t> slots_;
  std::vector<std::vector<std::vector<std::int32_t>>> local_columns_; ///< shape (block, local unknown, column)
  /// The row where a column was met last, and in its lower number_bits bits the number of the column among those of
  /// that row as they appeared; shape (column).
  std::vector<std::uint64_t> marks_;
  std::vector<Cell> cells_;            ///< cells of the row
  std::vector<std::int32_t> found_;    ///< columns of the row, as they appeared
  std::vector<std::uint32_t> numbers_; ///< number of the column of each pair, in the order in which pairs are visited
  std::vector<std::uint16_t> ranks_;   ///< position of each column in ascending order, shape (number)
  std::vector<std::int32_t> order_;    ///< work array
};

} // namespace

std::vector<std::int64_t> thread_ranges(std::int64_t count, const device::Device& device) {
  const std::int64_t parts = std::max(1, device.num_threads());
  std::vector<std::int64_t> result;
  for (std::int64_t p = 0; p <= parts; ++p) result.push_back(count * p / parts);
  return result;
}

SlicedPattern::SlicedPattern(const CellUnknowns& unknowns, const Incidences& incidences, const Coupling& coupling,
                             std::int64_t size, int slice_height, device::Device& device)
    : block(slice_height > 1 ? coupling.block_size() : 1), height(slice_height),
      num_rows(static_cast<std::int32_t>(size / block)), lengths(static_cast<std::size_t>(num_rows)),
      places(static_cast<std::size_t>(num_rows)), first_places(places.size()), slots(unknowns.num_pairs, not_coupled) {
  const auto ranges = thread_ranges(num_rows, device);
  std::vector<Columns> found(ranges.size() - 1);
  device.parallel_for(static_cast<std::int64_t>(found.size()), [&](std::int64_t r) {
    const auto range = static_cast<std::size_t>(r);
    ColumnFinder finder(unknowns, incidences, coupling, block, num_rows, slots);
    for (std::int64_t row = ranges[range]; row < ranges[range + 1]; ++row)
      lengths[static_cast<std::size_t>(row)] = finder.append(static_cast<std::int32_t>(row), found[range]);
  });
  for (const auto length : lengths) num_blocks += length;
  place_rows();
  fill_columns(found, ranges, device);
}

void SlicedPattern::place_rows() {
  const auto rows_per_slice = static_cast<std::size_t>(height);
  rows.resize((static_cast<std::size_t>(num_rows) + rows_per_slice - 1) / rows_per_slice * rows_per_slice);
  std::iota(rows.begin(), rows.begin() + num_rows, 0);
  for (std::int64_t begin = 0; begin < num_rows && height > 1; begin += window) // `begin` passes the last row
    std::stable_sort(rows.begin() + begin, rows.begin() + std::min<std::int64_t>(num_rows, begin + window),
                     [this](std::int32_t a, std::int32_t b) {
                       return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
                     });
  starts.assign(1, 0);
  std::int64_t start = 0;
  for (std::size_t first = 0; first < rows.size(); first += rows_per_slice) {
    const auto slice = rows.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end =
        rows.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(first + rows_per_slice), num_rows);
    start += lengths[static_cast<std::size_t>(*slice)]; // the first row is the longest one
    starts.push_back(start);
    std::sort(slice, end);
    std::fill(end, slice + height, *slice);
    const auto first_place = static_cast<std::size_t>(starts[starts.size() - 2]) * block_stride();
    for (auto row = slice; row != end; ++row) {
      places[static_cast<std::size_t>(*row)] = static_cast<std::int32_t>(row - rows.begin());
      first_places[static_cast<std::size_t>(*row)] = first_place + static_cast<std::size_t>(row - slice);
    }
  }
}

void SlicedPattern::fill_columns(const std::vector<Columns>& found, const std::vector<std::int64_t>& ranges,
                                 device::Device& device) {
  columns.resize(static_cast<std::size_t>(num_stored()), 0);
  const auto rows_per_slice = static_cast<std::size_t>(height);
  device.parallel_for(static_cast<std::int64_t>(found.size()), [&](std::int64_t r) {
    const auto range = static_cast<std::size_t>(r);
    const auto* next = found[range].data();
    for (auto row = static_cast<std::size_t>(ranges[range]); row < static_cast<std::size_t>(ranges[range + 1]); ++row) {
      const auto slice = static_cast<std::size_t>(places[row] / height),
                 lane = static_cast<std::size_t>(places[row] % height);
      const auto length = static_cast<std::size_t>(lengths[row]);
      // Padding repeats what the row reads anyhow, so that no value of another row becomes part of its sum.
      for (auto place = static_cast<std::size_t>(starts[slice]), k = std::size_t{0};
           place < static_cast<std::size_t>(starts[slice + 1]); ++place, ++k)
        columns[place * rows_per_slice + lane] =
            length == 0 ? static_cast<std::int32_t>(row) : next[std::min(k, length - 1)];
      next += length;
    }
  });
}

} // namespace rafter::op
