// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <rafter/operator/run/cell_data.hpp>
#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/operator/run/staged_kernels.hpp>

/// Products of matrices in slices with vectors, in the memory of a device.
namespace rafter::op {

/// The tables say where the blocks of a matrix in slices stand; the arrays are those of schedule::matrix_product.
struct SliceTables {
  std::int32_t num_rows = 0;                       ///< number of block rows
  std::vector<std::int64_t> starts;                ///< shape (slice + 1)
  base::AlignedVector<std::int32_t> rows, columns; ///< shape (slice, row), (start, row)
};

/// The product of a matrix in slices. Several threads may run it at the same time.
class SlicedProduct {
public:
  /// `loops` is a program of schedule::matrix_product, `kernel` what the device made of it, `entries` the entries in
  /// slices. Throws InputError where the slices have more than 2147483647 columns.
  SlicedProduct(const std::shared_ptr<device::Device>& device, const schedule::LoopProgram& loops,
                std::shared_ptr<const device::Kernel> kernel, SliceTables tables, Numbers entries);
  /// Computes y = A x, or y += A x when `adds` is true, on vectors of the precision that `loops` has for them. On a
  /// device with memory of its own it is queued.
  void run(const Vector& x, Vector& y, bool adds) const { multiply(x, y, adds); }
  void run(const SingleVector& x, SingleVector& y, bool adds) const { multiply(x, y, adds); }

private:
  using Integers = device::Array<std::int32_t>;
  template <class T> void multiply(const device::Array<T>& x, device::Array<T>& y, bool adds) const;

  Integers starts_, rows_, columns_;
  Numbers entries_;
  std::optional<const StagedKernels> product_; ///< one stage of one kernel, in which threads have ranges of slices
};

/// Makes the product of a matrix in compressed rows, which may have more rows or columns than the other. `precision` is
/// that of vectors and entries; sums are in double.
std::unique_ptr<const SlicedProduct>
make_sliced_product(const std::shared_ptr<device::Device>& device, const SparseMatrix& matrix,
                    schedule::Precision precision = schedule::Precision::double_precision);

} // namespace rafter::op
