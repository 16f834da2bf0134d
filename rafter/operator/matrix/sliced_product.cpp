// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/matrix/sliced_product.hpp>

#include <algorithm>
#include <limits>

#include <rafter/base/error.hpp>
#include <rafter/operator/generate/cell_unknowns.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::op {
namespace {

/// Slices for each thread, shape (thread + 1). Every thread gets about as many columns of slices, because the time of a
/// product follows their number.
std::vector<std::int64_t> balanced_ranges(const std::vector<std::int64_t>& starts, const device::Device& device) {
  std::vector<std::int64_t> result;
  for (const auto columns : thread_ranges(starts.back(), device))
    result.push_back(std::lower_bound(starts.begin(), starts.end() - 1, columns) - starts.begin());
  result.front() = 0;
  result.back() = static_cast<std::int64_t>(starts.size()) - 1;
  return result;
}

/// A matrix in slices of rows that follow each other.
struct Slices {
  SliceTables tables;
  std::vector<double> entries; ///< shape (start, row)
};

Slices slices_of(const SparseMatrix& matrix, int height) {
  const auto rows_per_slice = static_cast<std::size_t>(height);
  const auto num_rows = static_cast<std::size_t>(matrix.num_rows());
  const auto length = [&](std::size_t row) { return matrix.row_offsets[row + 1] - matrix.row_offsets[row]; };
  Slices result{.tables = {.num_rows = static_cast<std::int32_t>(num_rows), .starts = {0}, .rows = {}, .columns = {}},
                .entries = {}};
  auto& [tables, entries] = result;
  for (std::size_t first = 0; first < num_rows; first += rows_per_slice) {
    std::int64_t longest = 0;
    for (std::size_t row = first; row < std::min(first + rows_per_slice, num_rows); ++row)
      longest = std::max(longest, length(row));
    for (std::size_t i = 0; i < rows_per_slice; ++i)
      tables.rows.push_back(static_cast<std::int32_t>(first + i < num_rows ? first + i : first));
    for (std::int64_t k = 0; k < longest; ++k)
      for (std::size_t i = 0; i < rows_per_slice; ++i) {
        const std::size_t row = first + i;
        const bool is_filled = row < num_rows && k < length(row);
        const auto place = is_filled ? static_cast<std::size_t>(matrix.row_offsets[row] + k) : 0;
        tables.columns.push_back(is_filled ? matrix.columns[place] : 0);
        entries.push_back(is_filled ? matrix.values[place] : 0);
      }
    tables.starts.push_back(tables.starts.back() + longest);
  }
  return result;
}

} // namespace

SlicedProduct::SlicedProduct(const std::shared_ptr<device::Device>& device, const schedule::LoopProgram& loops,
                             std::shared_ptr<const device::Kernel> kernel, SliceTables tables, Numbers entries)
    : rows_(device, std::move(tables.rows)), columns_(device, std::move(tables.columns)), entries_(std::move(entries)) {
  if (tables.starts.back() > std::numeric_limits<std::int32_t>::max())
    throw base::InputError("an assembled matrix of more than 2147483647 columns of slices: use another mapping");
  starts_ = Integers(device, base::AlignedVector<std::int32_t>(tables.starts.begin(), tables.starts.end()));
  device::BufferRegistry kept;
  kept.add(schedule::role::slice_starts, 0, starts_.device_read());
  kept.add(schedule::role::rows, 0, rows_.device_read());
  kept.add(schedule::role::columns, 0, columns_.device_read());
  kept.add(schedule::role::entries, 0, entries_.device_read());
  product_.emplace(device, StagedKernels::Arguments{{std::move(kernel), loops.arguments(), loops.launch, kept}},
                   StagedKernels::Stages{ranges_of(balanced_ranges(tables.starts, *device))}, tables.num_rows);
}

template <class T> void SlicedProduct::multiply(const device::Array<T>& x, device::Array<T>& y, bool adds) const {
  device::BufferRegistry vectors;
  vectors.add(schedule::role::input_vector, 0, x.device_read());
  vectors.add(schedule::role::output_vector, 0,
              adds ? y.device_write() : y.device_overwrite()); // the product stores all rows
  product_->run(vectors, adds);
}

template void SlicedProduct::multiply(const Vector& x, Vector& y, bool adds) const;
template void SlicedProduct::multiply(const SingleVector& x, SingleVector& y, bool adds) const;

std::unique_ptr<const SlicedProduct> make_sliced_product(const std::shared_ptr<device::Device>& device,
                                                         const SparseMatrix& matrix, schedule::Precision precision) {
  schedule::Plan plan;
  plan.set(schedule::key::storage, precision).set(schedule::key::accumulate, precision);
  plan.set(schedule::key::mapping, schedule::mapping_named(schedule::assembled_mapping));
  const auto loops = schedule::matrix_product(1, plan, target_of(*device));
  auto slices = slices_of(matrix, schedule::slice_height(plan));
  return std::make_unique<const SlicedProduct>(device, loops, compiled(*device, loops), std::move(slices.tables),
                                               Numbers(device, std::span<const double>(slices.entries), precision));
}

} // namespace rafter::op
