// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/sliced_pattern.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::op {
namespace {

/// Number of rows that are sorted together: few enough that their part of the vector stays in the nearest cache.
constexpr std::int32_t window = 512;

/// The local groups that couple with each local group of unknowns of the cells of a block are its columns.
struct LocalColumns {
  LocalColumns(const CellUnknowns& unknowns, const Coupling& coupling, std::size_t block)
      : length(static_cast<std::size_t>(unknowns.blocks[block].length)),
        columns(coupling.local_columns(block, unknowns.group_size)),
        is_dense(std::ranges::all_of(columns, [this](const auto& of_row) { return of_row.size() == length; })) {}
  std::size_t length;
  std::vector<std::vector<std::int32_t>> columns; ///< shape (local group, column)
  bool is_dense;                                  ///< all with all
};

/// Finds the columns of rows, one after the other, and where the unknowns of cells stand among them.
template <class Slot> class ColumnFinder {
public:
  /// Finds the columns of rows begin .. end - 1 of the pattern. They come in ascending order, or else in that in which
  /// the cells of a row have them, which takes less time.
  ColumnFinder(const CellUnknowns& unknowns, const std::vector<LocalColumns>& local_columns, std::span<Slot> slots,
               std::int32_t num_rows, std::int32_t begin, std::int32_t end, bool is_ascending)
      : unknowns_(unknowns), local_columns_(local_columns), incidences_(unknowns, begin, end), slots_(slots),
        is_ascending_(is_ascending), marks_(static_cast<std::size_t>(num_rows), no_row),
        common_length_(common_length(local_columns)),
        most_per_cell_(static_cast<std::size_t>(unknowns.most_per_cell())) {}

  static constexpr Slot not_coupled = std::numeric_limits<Slot>::max();
  /// False once a row had more columns than a slot counts.
  bool has_counted_all() const { return has_counted_all_; }

  /// Appends the columns of a row and returns the number of the row itself among them.
  std::uint16_t append(std::int32_t row, std::vector<std::int32_t>& columns) {
    switch (common_length_) { // lengths that the compiler knows make loops over a cell straight
    case 3:
      return append_row<3>(row, columns);
    case 4:
      return append_row<4>(row, columns);
    case 6:
      return append_row<6>(row, columns);
    case 8:
      return append_row<8>(row, columns);
    case 10:
      return append_row<10>(row, columns);
    default:
      return append_row<0>(row, columns);
    }
  }

private:
  /// A cell of a row.
  struct Cell {
    const std::int32_t* entries;       ///< shape (local group)
    Slot* slots;                       ///< numbers of the pairs of the row with the cell's groups, shape (local group)
    const LocalColumns* local_columns; ///< null: the cell is dense and of common_length_
    std::size_t local;                 ///< group of the row
  };

  /// Returns the number of groups of a cell where it is the same for all cells and all groups couple; else 0.
  static std::size_t common_length(const std::vector<LocalColumns>& blocks) {
    const bool is_common = std::ranges::all_of(
        blocks, [&](const LocalColumns& block) { return block.is_dense && block.length == blocks.front().length; });
    return is_common && !blocks.empty() ? blocks.front().length : 0;
  }

  /// `length`: of all cells, which are dense; 0: they differ.
  template <std::size_t length> std::uint16_t append_row(std::int32_t row, std::vector<std::int32_t>& columns) {
    const auto places = incidences_.of(row);
    if (const auto room = places.size() * most_per_cell_ + rank_step; found_.size() < room) {
      found_.resize(room);
      ranks_.resize(room);
    }
    const std::size_t num_columns = find<length>(row, places);
    has_counted_all_ = has_counted_all_ && num_columns <= not_coupled;
    if (num_columns >= SlicedPattern::not_coupled)
      throw base::InputError(fmt::format("a matrix has at most {} columns in a row, this one would have {}: apply the "
                                         "operator without a matrix (another mapping than assembled)",
                                         SlicedPattern::not_coupled - 1, num_columns));
    if (is_ascending_) sort<length>(row, places, num_columns);
    columns.insert(columns.end(), found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(num_columns));
    const auto own = marks_[static_cast<std::size_t>(row)];
    return own >> slot_bits == static_cast<std::uint64_t>(row) ? static_cast<std::uint16_t>(own)
                                                               : SlicedPattern::not_coupled;
  }

  template <std::size_t length, class Visit>
  void for_each_cell(std::span<const std::int32_t> places, const Visit& visit) const {
    // The cells of a row stand anywhere, and so do those of the next rows, which are asked for meanwhile.
    constexpr std::size_t ahead = 32;
    const auto all = incidences_.all();
    auto next = static_cast<std::size_t>(places.data() - all.data()) + ahead;
    for (const auto place : places) {
      const auto later = static_cast<std::size_t>(all[std::min(next++, all.size() - 1)]);
      __builtin_prefetch(unknowns_.entries.data() + later);
      if constexpr (length > 0) {
        __builtin_prefetch(slots_.data() + later * length, 1);
        const auto number = static_cast<std::size_t>(place);
        visit(Cell{unknowns_.entries.data() + number / length * length, slots_.data() + number * length, nullptr, 0});
      } else {
        const auto b = unknowns_.block_of(place);
        const auto& block = unknowns_.blocks[b];
        const auto local = static_cast<std::size_t>(place - block.first) % static_cast<std::size_t>(block.length);
        visit(Cell{unknowns_.entries.data() + (static_cast<std::size_t>(place) - local),
                   slots_.data() + CellUnknowns::first_pair(block, place), &local_columns_[b], local});
      }
    }
  }

  template <std::size_t length, class Visit> static void visit_columns(const Cell& cell, const Visit& visit) {
    if constexpr (length > 0)
      for (std::size_t k = 0; k < length; ++k) visit(k);
    else if (cell.local_columns->is_dense)
      for (std::size_t k = 0; k < cell.local_columns->length; ++k) visit(k);
    else
      for (const auto k : cell.local_columns->columns[cell.local]) visit(static_cast<std::size_t>(k));
  }

  /// Numbers the columns of a row as they appear and returns how many there are. It has no branches, because no
  /// processor can predict which of them are new.
  template <std::size_t length> std::size_t find(std::int32_t row, std::span<const std::int32_t> places) {
    const auto marked_row = static_cast<std::uint64_t>(row) << slot_bits;
    std::uint64_t count = 0;
    for_each_cell<length>(places, [&count, marked_row, found = found_.data(), marks = marks_.data()](const Cell& cell) {
      if (length == 0 && !cell.local_columns->is_dense)
        std::fill_n(cell.slots, cell.local_columns->length, not_coupled);
      visit_columns<length>(cell, [&](std::size_t k) {
        const std::int32_t column = cell.entries[k];
        const std::uint64_t mark = marks[column], keep = (mark ^ marked_row) >> slot_bits == 0 ? ~std::uint64_t{0} : 0,
                            number = (mark & keep) | ((marked_row | count) & ~keep);
        marks[column] = number;
        found[count] = column;
        cell.slots[k] = static_cast<Slot>(number);
        count += keep + 1;
      });
    });
    return count;
  }

  /// Puts the columns in ascending order.
  template <std::size_t length>
  void sort(std::int32_t row, std::span<const std::int32_t> places, std::size_t num_columns) {
    rank(num_columns);
    const auto marked_row = static_cast<std::uint64_t>(row) << slot_bits;
    for (std::size_t k = 0; k < num_columns; ++k) marks_[static_cast<std::size_t>(found_[k])] = marked_row | ranks_[k];
    sorted_.resize(num_columns);
    for (std::size_t k = 0; k < num_columns; ++k) sorted_[ranks_[k]] = found_[k];
    std::ranges::copy(sorted_, found_.begin());
    for_each_cell<length>(places, [marks = marks_.data()](const Cell& cell) {
      visit_columns<length>(cell, [&](std::size_t k) { cell.slots[k] = static_cast<Slot>(marks[cell.entries[k]]); });
    });
  }

  /// Finds the position of each column in ascending order. If there are few, smaller ones are counted, which takes no
  /// branches, either.
  void rank(std::size_t length) {
    constexpr std::size_t few = 96;
    if (length > few) return rank_by_sorting(length);
    for (std::size_t k = length; k % rank_step != 0; ++k) found_[k] = 0;
    for (std::size_t first = 0; first < length; first += rank_step) {
      std::array<std::int32_t, rank_step> columns, ranks{};
      std::copy_n(found_.data() + first, rank_step, columns.data());
      for (std::size_t i = 0; i < length; ++i)
        for (std::size_t k = 0; k < rank_step; ++k) ranks[k] += found_[i] < columns[k] ? 1 : 0;
      std::ranges::copy(ranks, ranks_.data() + first);
    }
  }
  void rank_by_sorting(std::size_t length) {
    order_.resize(length);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return found_[static_cast<std::size_t>(a)] < found_[static_cast<std::size_t>(b)];
    });
    for (std::size_t k = 0; k < length; ++k)
      ranks_[static_cast<std::size_t>(order_[k])] = static_cast<std::uint32_t>(k);
  }

  static constexpr int slot_bits = 16;
  static constexpr std::size_t rank_step = 8;
  static constexpr std::uint64_t no_row = ~std::uint64_t{0};
  const CellUnknowns& unknowns_;
  const std::vector<LocalColumns>& local_columns_;
  Incidences incidences_;
  std::span<Slot> slots_;
  bool is_ascending_, has_counted_all_ = true;
  /// The row where a column was met last, and in its lower slot_bits bits the number of the column among those of that
  /// row; shape (column).
  base::AlignedVector<std::uint64_t> marks_;
  std::size_t common_length_; ///< see append_row
  std::size_t most_per_cell_;
  std::vector<std::int32_t> found_;          ///< columns of the row, as they appeared
  std::vector<std::uint32_t> ranks_;         ///< ranks of columns in ascending order, shape (number)
  std::vector<std::int32_t> order_, sorted_; ///< work arrays
};

} // namespace

/// Fills a pattern with the rows of a thread.
template <class Slot> class SlicedPattern::Builder {
public:
  Builder(SlicedPattern& pattern, std::span<Slot> slots, std::int32_t begin, std::int32_t end)
      : to_(pattern), slots_(slots), begin_(begin), end_(end) {}

  /// Starts and places count from those of the first row on.
  void run(const CellUnknowns& unknowns, const std::vector<LocalColumns>& local_columns) {
    if (begin_ == end_) return;
    ColumnFinder<Slot> finder(unknowns, local_columns, slots_, to_.num_rows, begin_, end_, to_.height == 1);
    for (std::int32_t first = begin_, last = begin_; first < end_; first = last) {
      last = end_ - first > window ? first + window : end_;
      find_window(finder, first, last);
      has_counted_all_ = finder.has_counted_all();
      if (!has_counted_all_) return;
      order_window(first, last);
      for (std::int32_t slice = 0; slice < last - first; slice += to_.height)
        add_slice(first + slice, first + std::min(last - first, slice + to_.height));
      if (first == begin_) reserve_columns(last);
    }
  }

  /// False where a row had more columns than a slot counts: the rows are not complete.
  bool has_counted_all() const { return has_counted_all_; }
  std::int64_t num_columns() const { return start_; }
  std::int64_t num_blocks() const { return num_blocks_; }

  /// Moves the rows behind `before` columns of the rows of other threads.
  void place(std::int64_t before) {
    const auto rows_per_slice = static_cast<std::size_t>(to_.height);
    const std::size_t columns_before = static_cast<std::size_t>(before) * rows_per_slice;
    std::ranges::copy(columns_, to_.columns.begin() + static_cast<std::ptrdiff_t>(columns_before));
    const auto step = columns_before * static_cast<std::size_t>(to_.block * to_.block);
    for (auto row = static_cast<std::size_t>(begin_); row < static_cast<std::size_t>(end_); ++row)
      to_.first_places[row] += step;
    for (auto slice = static_cast<std::size_t>(begin_) / rows_per_slice;
         slice * rows_per_slice < static_cast<std::size_t>(end_); ++slice)
      to_.starts[slice + 1] += before;
  }
  base::AlignedVector<std::int32_t> take_columns() { return std::move(columns_); }

private:
  /// Reserves memory for as many columns per row as the rows up to here have, and some more.
  void reserve_columns(std::int32_t row) {
    constexpr double room = 1.2;
    columns_.reserve(
        static_cast<std::size_t>(room * static_cast<double>(columns_.size()) * (end_ - begin_) / (row - begin_)));
  }

  void find_window(ColumnFinder<Slot>& finder, std::int32_t first, std::int32_t last) {
    found_.clear();
    starts_.assign(1, 0);
    for (std::int32_t row = first; row < last; ++row) {
      to_.diagonals[static_cast<std::size_t>(row)] = finder.append(row, found_);
      starts_.push_back(found_.size());
    }
    num_blocks_ += static_cast<std::int64_t>(found_.size());
  }
  std::size_t length(std::int32_t row_of_window) const {
    const auto row = static_cast<std::size_t>(row_of_window);
    return starts_[row + 1] - starts_[row];
  }

  /// Orders the rows of a window by length, the longest first, and those of one length by number.
  void order_window(std::int32_t first, std::int32_t last) {
    auto* to = to_.rows.data() + first;
    if (to_.height == 1) return std::iota(to, to + (last - first), first);
    std::size_t longest = 0;
    for (std::int32_t row = 0; row < last - first; ++row) longest = std::max(longest, length(row));
    places_.assign(longest + 2, 0);
    for (std::int32_t row = 0; row < last - first; ++row) ++places_[longest - length(row) + 1];
    std::partial_sum(places_.begin(), places_.end(), places_.begin());
    for (std::int32_t row = 0; row < last - first; ++row) to[places_[longest - length(row)]++] = first + row;
  }

  void add_slice(std::int32_t begin, std::int32_t end) {
    const auto rows_per_slice = static_cast<std::size_t>(to_.height),
               slice = static_cast<std::size_t>(begin) / rows_per_slice;
    auto* of_slice = to_.rows.data() + begin;
    const std::int32_t first_row = begin / window * window;
    const std::size_t most = length(*of_slice - first_row); // of the first, which is the longest
    std::sort(of_slice, of_slice + (end - begin));
    std::fill(of_slice + (end - begin), of_slice + rows_per_slice, *of_slice);
    const auto place = static_cast<std::size_t>(start_) * rows_per_slice;
    columns_.resize(place + most * rows_per_slice);
    auto* to = columns_.data() + place;
    for (std::size_t i = 0; i < rows_per_slice; ++i) {
      const std::int32_t row = of_slice[i] - first_row;
      const auto num_columns = length(row);
      const auto* from = found_.data() + starts_[static_cast<std::size_t>(row)];
      // Padding repeats what the row reads anyhow, so that no value of another row becomes part of its sum.
      const std::int32_t last = num_columns == 0 ? of_slice[i] : from[num_columns - 1];
      for (std::size_t k = 0; k < num_columns; ++k) to[k * rows_per_slice + i] = from[k];
      for (std::size_t k = num_columns; k < most; ++k) to[k * rows_per_slice + i] = last;
    }
    const std::size_t first_place = place * static_cast<std::size_t>(to_.block * to_.block);
    for (std::size_t i = 0; i < static_cast<std::size_t>(end - begin); ++i)
      to_.first_places[static_cast<std::size_t>(of_slice[i])] = first_place + i;
    start_ += static_cast<std::int64_t>(most);
    to_.starts[slice + 1] = start_;
  }

  SlicedPattern& to_;
  std::span<Slot> slots_;
  std::int32_t begin_, end_;
  bool has_counted_all_ = true;
  std::int64_t start_ = 0, num_blocks_ = 0;
  base::AlignedVector<std::int32_t> columns_; ///< columns of the slices, as those of the pattern
  std::vector<std::int32_t> found_;           ///< columns of the rows of a window, one after the other
  std::vector<std::size_t> starts_;           ///< starts of the columns of the rows of a window, shape (row + 1)
  std::vector<std::size_t> places_;           ///< work array
};

SlicedPattern::SlicedPattern(const CellUnknowns& unknowns, const Coupling& coupling, std::int64_t size,
                             int slice_height, device::Device& device)
    : block(unknowns.group_size), height(slice_height), num_rows(static_cast<std::int32_t>(size / block)),
      first_places(static_cast<std::size_t>(num_rows)), diagonals(first_places.size()) {
  if (build(unknowns, coupling, device, short_slots_)) return;
  short_slots_ = {};
  build(unknowns, coupling, device, slots_);
}

template <class Slot>
bool SlicedPattern::build(const CellUnknowns& unknowns, const Coupling& coupling, device::Device& device,
                          base::UninitialisedVector<Slot>& slots) {
  slots.resize(unknowns.num_pairs);
  const std::int64_t num_slices = (num_rows + height - 1) / height;
  starts.assign(static_cast<std::size_t>(num_slices) + 1, 0);
  rows.resize(static_cast<std::size_t>(num_slices * height));
  std::vector<LocalColumns> local_columns;
  for (std::size_t b = 0; b < unknowns.blocks.size(); ++b) local_columns.emplace_back(unknowns, coupling, b);
  auto ranges = thread_ranges((num_rows + window - 1) / window, device);
  for (auto& bound : ranges) bound = std::min(bound * window, std::int64_t{num_rows});
  std::vector<Builder<Slot>> builders;
  for (std::size_t r = 0; r + 1 < ranges.size(); ++r)
    builders.emplace_back(*this, slots, static_cast<std::int32_t>(ranges[r]), static_cast<std::int32_t>(ranges[r + 1]));
  const auto for_each_builder = [&](const auto& body) {
    device.parallel_for(static_cast<std::int64_t>(builders.size()),
                        [&](std::int64_t b) { body(builders[static_cast<std::size_t>(b)]); });
  };
  for_each_builder([&](Builder<Slot>& builder) { builder.run(unknowns, local_columns); });
  if (!std::ranges::all_of(builders, &Builder<Slot>::has_counted_all)) return false;
  std::vector<std::int64_t> before{0}; // columns of the slices of each thread
  for (const auto& builder : builders) {
    before.push_back(before.back() + builder.num_columns());
    num_blocks += builder.num_blocks();
  }
  if (builders.size() == 1) {
    columns = builders.front().take_columns();
    return true;
  }
  columns.resize(static_cast<std::size_t>(before.back() * height));
  for_each_builder(
      [&](Builder<Slot>& builder) { builder.place(before[static_cast<std::size_t>(&builder - builders.data())]); });
  return true;
}

} // namespace rafter::op
