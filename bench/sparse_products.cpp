// SPDX-License-Identifier: BSD-3-Clause
#include <bench/sparse_products.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

#include <bench/measured.hpp>
#include <rafter/base/error.hpp>

namespace rafter::bench {
namespace {

using Integers = base::AlignedVector<std::int32_t>;
using Reals = base::AlignedVector<double>;

/// The arguments of these functions are the integers and then the reals of a Storage, x and y.
constexpr const char* rows_text = R"(
void product(void* const* arguments, long begin, long end) {
  const int *restrict starts = arguments[0], *restrict columns = arguments[1];
  const double *restrict entries = arguments[2], *restrict x = arguments[3];
  double* restrict y = arguments[4];
  for (long i = begin; i < end; ++i) {
    double sum = 0;
    for (long k = starts[i]; k < starts[i + 1]; ++k) sum += entries[k] * x[columns[k]];
    y[i] = sum;
  }
}
)";
constexpr const char* triangle_text = R"(
void product(void* const* arguments, long begin, long end) {
  const int *restrict starts = arguments[0], *restrict columns = arguments[1];
  const double *restrict diagonal = arguments[2], *restrict entries = arguments[3], *restrict x = arguments[4];
  double* restrict y = arguments[5];
  for (long i = begin; i < end; ++i) {
    const double own = x[i];
    double sum = diagonal[i] * own;
    for (long k = starts[i]; k < starts[i + 1]; ++k) {
      sum += entries[k] * x[columns[k]];
      y[columns[k]] += entries[k] * own;
    }
    y[i] = sum;
  }
}
)";
constexpr const char* parts_text = R"(
typedef double vec __attribute__((vector_size(32), may_alias));
static inline vec gather(const double* x, const int* at) { return (vec){x[at[0]], x[at[1]], x[at[2]], x[at[3]]}; }
static inline void add(double* y, const int* at, vec v) {
  y[at[0]] += v[0];
  y[at[1]] += v[1];
  y[at[2]] += v[2];
  y[at[3]] += v[3];
}
void product(void* const* arguments, long begin, long end) {
  const int *restrict first_rows = arguments[0], *restrict first_slices = arguments[1], *restrict starts = arguments[2],
            *restrict rows = arguments[3], *restrict columns = arguments[4];
  const double* restrict diagonal = arguments[5];
  const vec* restrict entries = arguments[6];
  const double* restrict x = arguments[7];
  double* restrict y = arguments[8];
  for (long part = begin; part < end; ++part) {
    for (long i = first_rows[part]; i < first_rows[part + 1]; ++i) y[i] = diagonal[i] * x[i];
    for (long slice = first_slices[part]; slice < first_slices[part + 1]; ++slice) {
      const int* row = rows + 8 * slice;
      const vec own_low = gather(x, row), own_high = gather(x, row + 4);
      vec low = {0}, high = {0};
      long k = starts[2 * slice];
      for (; k < starts[2 * slice + 1]; ++k) {
        const int* column = columns + 8 * k;
        low += entries[2 * k] * gather(x, column);
        high += entries[2 * k + 1] * gather(x, column + 4);
        add(y, column, entries[2 * k] * own_low);
        add(y, column + 4, entries[2 * k + 1] * own_high);
      }
      for (; k < starts[2 * slice + 2]; ++k) {
        low += entries[2 * k] * gather(x, columns + 8 * k);
        high += entries[2 * k + 1] * gather(x, columns + 8 * k + 4);
      }
      add(y, row, low);
      add(y, row + 4, high);
    }
  }
}
)";

/// A storage is what a product keeps of a matrix. Its batches are rows or parts; each thread has a range of them.
struct Storage {
  std::vector<Integers> integers;
  std::vector<Reals> reals;
  std::vector<std::int64_t> ranges; ///< shape (thread + 1)
};

std::vector<std::int64_t> equal_ranges(std::int64_t count, int threads) {
  std::vector<std::int64_t> result;
  for (int t = 0; t <= threads; ++t) result.push_back(count * t / threads);
  return result;
}

std::int32_t as_start(std::size_t number) {
  if (number > std::numeric_limits<std::int32_t>::max())
    throw base::InputError("bench sparse: a product written by hand counts its entries in 32 bits, and this matrix has "
                           "more: take a smaller mesh");
  return static_cast<std::int32_t>(number);
}

/// Visits the entries (column, value) of a row.
template <class Visit> void visit_row(const op::SparseMatrix& matrix, std::int64_t row, const Visit& visit) {
  for (auto k = matrix.row_offsets[static_cast<std::size_t>(row)];
       k < matrix.row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
    visit(matrix.columns[static_cast<std::size_t>(k)], matrix.values[static_cast<std::size_t>(k)]);
}

Storage rows_storage(const op::SparseMatrix& matrix, int threads) {
  Integers starts;
  for (const auto start : matrix.row_offsets) starts.push_back(as_start(static_cast<std::size_t>(start)));
  return {.integers = {std::move(starts), {matrix.columns.begin(), matrix.columns.end()}},
          .reals = {{matrix.values.begin(), matrix.values.end()}},
          .ranges = equal_ranges(matrix.num_rows(), threads)};
}

Storage triangle_storage(const op::SparseMatrix& matrix, int /*threads*/) {
  Integers starts{0}, columns;
  Reals diagonal(static_cast<std::size_t>(matrix.num_rows()), 0.0), entries;
  for (std::int64_t row = 0; row < matrix.num_rows(); ++row) {
    visit_row(matrix, row, [&](std::int32_t column, double value) {
      if (column == row) diagonal[static_cast<std::size_t>(row)] = value;
      if (column >= row) return;
      columns.push_back(column);
      entries.push_back(value);
    });
    starts.push_back(as_start(columns.size()));
  }
  return {.integers = {std::move(starts), std::move(columns)},
          .reals = {std::move(diagonal), std::move(entries)},
          .ranges = {0, matrix.num_rows()}};
}

/// Puts the rows of parts into slices.
class PartBuilder {
public:
  explicit PartBuilder(const op::SparseMatrix& matrix) : matrix_(matrix) {}

  Storage run(int threads) {
    constexpr std::int64_t rows_of_part = 1 << 14;
    const std::int64_t num_rows = matrix_.num_rows();
    Reals diagonal(static_cast<std::size_t>(num_rows), 0.0);
    for (std::int64_t row = 0; row < num_rows; ++row)
      visit_row(matrix_, row, [&](std::int32_t column, double value) {
        if (column == row) diagonal[static_cast<std::size_t>(row)] = value;
      });
    Integers first_rows{0}, first_slices{0};
    for (std::int64_t begin = 0; begin < num_rows; begin += rows_of_part) {
      const auto end = std::min(begin + rows_of_part, num_rows);
      for (auto first = begin; first < end; first += window)
        add_window(first, std::min(first + window, end), begin, end);
      first_rows.push_back(static_cast<std::int32_t>(end));
      first_slices.push_back(as_start(slice_rows_.size() / slice_height));
    }
    const auto num_parts = static_cast<std::int64_t>(first_rows.size()) - 1;
    return {.integers = {std::move(first_rows), std::move(first_slices), std::move(starts_), std::move(slice_rows_),
                         std::move(columns_)},
            .reals = {std::move(diagonal), std::move(entries_)},
            .ranges = equal_ranges(num_parts, threads)};
  }

private:
  using Entry = std::pair<std::int32_t, double>;
  struct Row {
    std::int32_t number = 0;
    std::vector<Entry> inner, outer; ///< entries left of the diagonal within the part; those of other parts
  };
  static constexpr std::size_t slice_height = 8;
  static constexpr std::int64_t window = 1 << 9; ///< rows that are sorted by their length

  void add_window(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) {
    rows_.assign(static_cast<std::size_t>(last - first), {});
    for (auto number = first; number < last; ++number) {
      auto& row = rows_[static_cast<std::size_t>(number - first)];
      row.number = static_cast<std::int32_t>(number);
      visit_row(matrix_, number, [&](std::int32_t column, double value) {
        if (column < begin || column >= end)
          row.outer.emplace_back(column, value);
        else if (column < number)
          row.inner.emplace_back(column, value);
      });
    }
    std::ranges::stable_sort(rows_, std::ranges::greater(),
                             [](const Row& row) { return std::pair(row.inner.size(), row.outer.size()); });
    for (std::size_t row = 0; row < rows_.size(); row += slice_height)
      add_slice(std::span(rows_).subspan(row, std::min(slice_height, rows_.size() - row)));
  }

  void add_slice(std::span<Row> rows) {
    std::ranges::sort(rows, {}, &Row::number);
    for (std::size_t l = 0; l < slice_height; ++l) slice_rows_.push_back(rows[l < rows.size() ? l : 0].number);
    add_columns(rows, &Row::inner);
    add_columns(rows, &Row::outer);
  }
  /// Fills rows up with zeros at their own place.
  void add_columns(std::span<const Row> rows, const std::vector<Entry> Row::*of) {
    std::size_t length = 0;
    for (const auto& row : rows) length = std::max(length, (row.*of).size());
    for (std::size_t k = 0; k < length; ++k)
      for (std::size_t l = 0; l < slice_height; ++l) {
        const auto& row = rows[l < rows.size() ? l : 0];
        const bool has_entry = l < rows.size() && k < (row.*of).size();
        const auto& [column, value] = has_entry ? (row.*of)[k] : Entry{row.number, 0.0};
        columns_.push_back(column);
        entries_.push_back(value);
      }
    starts_.push_back(as_start(columns_.size() / slice_height));
  }

  const op::SparseMatrix& matrix_;
  std::vector<Row> rows_; ///< the rows of the present window
  Integers starts_{0}, slice_rows_, columns_;
  Reals entries_;
};

Storage parts_storage(const op::SparseMatrix& matrix, int threads) { return PartBuilder(matrix).run(threads); }

/// A product is stored and computed by an implementation; they are in the order of sparse_products().
struct Implementation {
  const char* text;
  Storage (*storage)(const op::SparseMatrix& matrix, int threads);
};
constexpr Implementation implementations[] = {
    {rows_text, rows_storage}, {triangle_text, triangle_storage}, {parts_text, parts_storage}};

/// A compiled product with its arrays.
class Compiled {
public:
  Compiled(const char* text, Storage storage, const std::shared_ptr<device::Device>& device)
      : device_(device), kernel_(device->compile(text)->kernel("product")), ranges_(std::move(storage.ranges)) {
    for (auto& array : storage.integers) integers_.emplace_back(device, std::move(array));
    for (auto& array : storage.reals) reals_.emplace_back(device, std::move(array));
  }
  void run(const op::Vector& x, op::Vector& y) const {
    std::vector<device::Buffer*> arguments;
    for (const auto& array : integers_) arguments.push_back(array.device_read());
    for (const auto& array : reals_) arguments.push_back(array.device_read());
    arguments.push_back(x.device_read());
    arguments.push_back(y.device_overwrite());
    std::vector<device::Task> tasks;
    for (std::size_t r = 0; r + 1 < ranges_.size(); ++r)
      tasks.push_back({.kernel = kernel_.get(), .arguments = arguments, .begin = ranges_[r], .end = ranges_[r + 1]});
    device_->run(tasks)->wait();
  }
  double bytes() const {
    double result = 0;
    for (const auto& array : integers_) result += 4.0 * static_cast<double>(array.size());
    for (const auto& array : reals_) result += 8.0 * static_cast<double>(array.size());
    return result;
  }

private:
  std::shared_ptr<device::Device> device_;
  std::shared_ptr<const device::Kernel> kernel_;
  std::vector<std::int64_t> ranges_;
  std::vector<device::Array<std::int32_t>> integers_;
  std::vector<device::Array<double>> reals_;
};

} // namespace

const std::vector<SparseProduct>& sparse_products() {
  static const std::vector<SparseProduct> table{
      {"rows", "compressed rows, written by hand", false, false},
      {"triangle", "lower triangle and diagonal in compressed rows, one thread, written by hand", true, true},
      {"parts", "symmetric within parts of 16384 rows, slices of 8 rows, scalar loads, written by hand", true, false}};
  return table;
}

Measured make_sparse_product(const std::string& name, const op::SparseMatrix& matrix,
                             const std::shared_ptr<device::Device>& device) {
  const auto found = std::ranges::find(sparse_products(), name, &SparseProduct::name);
  if (found == sparse_products().end()) throw base::InternalError("no sparse product " + name);
  const auto& implementation = implementations[found - sparse_products().begin()];
  const auto product = std::make_shared<const Compiled>(implementation.text,
                                                        implementation.storage(matrix, device->num_threads()), device);
  const auto entries = static_cast<double>(matrix.num_entries()), rows = static_cast<double>(matrix.num_rows());
  return {.apply = [product](const op::Vector& x, op::Vector& y) { product->run(x, y); },
          .size = matrix.num_rows(),
          .device = device,
          .counts = {.flops = 2 * entries,
                     .operations = entries,
                     .effective_flops = 2 * entries,
                     .global_bytes_read = product->bytes() + 8 * rows,
                     .global_bytes_written = 8 * rows},
          .kernels = {}};
}

} // namespace rafter::bench
