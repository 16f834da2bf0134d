// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/matrix/assembled_matrix.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <rafter/base/error.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/matrix/cell_sum.hpp>
#include <rafter/operator/matrix/sliced_product.hpp>
#include <rafter/schedule/matrix_product.hpp>

namespace rafter::op {
namespace {

using Entries = base::AlignedVector<double>;

/// 0 where no cell has the unknown or its test function does not meet its trial function.
std::vector<double> diagonal_of(const SlicedPattern& pattern, const Entries& entries) {
  const auto block = static_cast<std::size_t>(pattern.block);
  std::vector<double> result(static_cast<std::size_t>(pattern.num_rows) * block, 0.0);
  for (std::int32_t row = 0; row < pattern.num_rows; ++row) {
    const auto number = static_cast<std::size_t>(row);
    if (pattern.diagonals[number] == SlicedPattern::not_coupled) continue;
    const auto first = pattern.first_places[number] + pattern.diagonals[number] * pattern.block_stride();
    for (std::size_t i = 0; i < block; ++i)
      result[number * block + i] = entries[first + i * (pattern.row_stride(row) + pattern.column_stride())];
  }
  return result;
}

/// Rounds the entries to floats. The result is the relative Frobenius norm of what is lost.
double round_entries(const Entries& entries, base::AlignedVector<float>& rounded) {
  double difference = 0, size = 0;
  rounded.reserve(entries.size());
  for (const double entry : entries) {
    rounded.push_back(static_cast<float>(entry));
    const double lost = entry - static_cast<double>(rounded.back());
    difference += lost * lost;
    size += entry * entry;
  }
  return difference == 0 ? 0 : std::sqrt(difference / size);
}

} // namespace

AssembledMatrix::AssembledMatrix(std::shared_ptr<const GeneratedMatrix> built, std::shared_ptr<FormData> data)
    : built_(std::move(built)), info_(built_->info) {
  if (built_->program == nullptr) throw base::InternalError("a matrix is compiled before it is bound to data");
  const auto begin = std::chrono::steady_clock::now();
  if (const auto lack = memory_lack(*built_, info_.plan); !lack.empty())
    throw base::InputError(lack + "use another mapping than assembled");
  set_up(std::move(data));
  setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

AssembledMatrix::~AssembledMatrix() = default;

void AssembledMatrix::run(const Vector& x, Vector& y, bool adds) const { multiply(x, y, adds); }
void AssembledMatrix::run(const SingleVector& x, SingleVector& y, bool adds) const { multiply(x, y, adds); }

template <class T> void AssembledMatrix::multiply(const device::Array<T>& x, device::Array<T>& y, bool adds) const {
  if (sizeof(T) != vector_word_bytes())
    throw base::InternalError("the vectors have another precision than those of the matrix");
  check_size(built_->system, x, "the input vector");
  check_size(built_->system, y, "the output vector");
  if (&x == &y) throw base::InputError("input and output are the same vector");
  product_->run(x, y, adds);
}

void AssembledMatrix::diagonal(Vector& d) const {
  check_size(built_->system, d, "the diagonal");
  std::ranges::copy(diagonal_, d.host_overwrite().begin());
}

machine::Counts AssembledMatrix::counts() const {
  auto result = info_.counts;
  const double vector_bytes = static_cast<double>(vector_word_bytes()) * static_cast<double>(built_->system.size());
  result.global_bytes_read += vector_bytes;
  result.global_bytes_written += vector_bytes;
  return result;
}

std::size_t AssembledMatrix::vector_word_bytes() const {
  return info_.plan[schedule::key::accumulate] == schedule::Precision::double_precision ? sizeof(double)
                                                                                        : sizeof(float);
}

void AssembledMatrix::set_up(std::shared_ptr<FormData> data) {
  const auto& device = built_->cells->options.device;
  const CellUnknowns unknowns(built_->system, *device, built_->coupling.block_size());
  SlicedPattern pattern(unknowns, built_->coupling, built_->system.size(), schedule::slice_height(info_.plan), *device);
  auto entries = CellSum(*built_, unknowns, pattern, std::move(data)).run();
  diagonal_ = diagonal_of(pattern, entries);
  count(pattern);
  Numbers numbers;
  if (info_.plan[schedule::key::storage] == schedule::Precision::double_precision)
    numbers = Numbers(Vector(device, std::move(entries)));
  else {
    base::AlignedVector<float> rounded;
    storage_error_ = round_entries(entries, rounded);
    numbers = Numbers(device::Array<float>(device, std::move(rounded)));
  }
  product_ = std::make_unique<const SlicedProduct>(device, built_->loops, built_->program->kernel(built_->loops.name),
                                                   SliceTables{.num_rows = pattern.num_rows,
                                                               .starts = std::move(pattern.starts),
                                                               .rows = std::move(pattern.rows),
                                                               .columns = std::move(pattern.columns)},
                                                   std::move(numbers));
}

void AssembledMatrix::count(const SlicedPattern& pattern) {
  const double block_entries = pattern.block * pattern.block, stored = static_cast<double>(pattern.num_stored());
  const double entry_bytes = info_.plan[schedule::key::storage] == schedule::Precision::double_precision ? 8 : 4,
               word_bytes = static_cast<double>(vector_word_bytes());
  info_.num_cells = pattern.num_rows;
  info_.num_batches = pattern.num_slices();
  info_.counts = {.flops = 2 * block_entries * stored,
                  .operations = block_entries * stored,
                  .effective_flops = 2 * block_entries * static_cast<double>(pattern.num_blocks),
                  .global_bytes_read = stored * (entry_bytes * block_entries + 4) +
                                       4.0 * static_cast<double>(pattern.rows.size() + pattern.starts.size()),
                  .local_bytes_read = stored * (entry_bytes * block_entries + 4 + word_bytes * pattern.block) +
                                      4.0 * static_cast<double>(pattern.rows.size() + 2 * pattern.starts.size()),
                  .local_bytes_written = word_bytes * static_cast<double>(built_->system.size())};
  // No two accesses go to the same place, so that no cache saves any.
  info_.counts.least_local_bytes_read = info_.counts.local_bytes_read;
  info_.counts.least_local_bytes_written = info_.counts.local_bytes_written;
}

} // namespace rafter::op
