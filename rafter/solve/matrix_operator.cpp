// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/matrix_operator.hpp>

#include <array>
#include <span>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/solve/csr_products.hpp>

namespace rafter::solvers {
namespace {

/// The product of a row with x. Four sums run side by side, because each addition waits for the one before.
double row_product(std::span<const std::int32_t> columns, const double* values, std::span<const double> x) {
  constexpr std::size_t num_sums = 4;
  std::array<double, num_sums> sums{};
  const auto at = [&](std::size_t k) { return values[k] * x[static_cast<std::size_t>(columns[k])]; };
  const std::size_t whole = columns.size() - columns.size() % num_sums;
  for (std::size_t k = 0; k < whole; k += num_sums)
    for (std::size_t i = 0; i < num_sums; ++i) sums[i] += at(k + i);
  for (std::size_t k = whole; k < columns.size(); ++k) sums[k - whole] += at(k);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Calls store(row, (A x)_row) for all rows.
template <class Store>
void multiply(const op::SparseMatrix& A, std::span<const double> x, device::Device& device, const Store& store) {
  constexpr std::int64_t rows_per_part = 2048;
  const base::Parts parts(A.num_rows(), rows_per_part);
  const auto work = [&](std::int64_t part) {
    for (auto row = static_cast<std::size_t>(parts.begin(part)); row < static_cast<std::size_t>(parts.end(part));
         ++row) {
      const auto [begin, end] = row_entries(A, row);
      store(row, row_product(std::span(A.columns).subspan(begin, end - begin), A.values.data() + begin, x));
    }
  };
  if (parts.count() == 1)
    work(0);
  else
    device.parallel_for(parts.count(), work);
}

/// The product in the memory of a device that has some of its own; null for others.
std::unique_ptr<const op::SlicedProduct> product_on(const std::shared_ptr<device::Device>& device,
                                                    const op::SparseMatrix& matrix) {
  return device->shares_host_memory() ? nullptr : op::make_sliced_product(device, matrix);
}

/// Computes y = A x; `product` is null where the device shares the memory of the host.
void set_to_product(const op::SparseMatrix& A, const op::SlicedProduct* product, const op::Vector& x, op::Vector& y) {
  if (product != nullptr) return product->run(x, y, false);
  const auto to = y.host_overwrite();
  multiply(A, x.host_read(), *y.device(), [to](std::size_t row, double sum) { to[row] = sum; });
}

} // namespace

MatrixOperator::MatrixOperator(std::shared_ptr<device::Device> device, op::SparseMatrix matrix)
    : device_(std::move(device)), matrix_(std::move(matrix)) {
  if (matrix_.num_rows() != matrix_.num_columns)
    throw base::InputError(fmt::format("an operator of a matrix of {} rows and {} columns; accepted are square ones",
                                       matrix_.num_rows(), matrix_.num_columns));
  product_ = product_on(device_, matrix_);
}

void MatrixOperator::apply(const op::Vector& x, op::Vector& y) const { set_to_product(matrix_, product_.get(), x, y); }

void MatrixOperator::diagonal(op::Vector& d) const {
  const auto to = d.host_overwrite();
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = matrix_(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i));
}

MatrixTransfer::MatrixTransfer(const std::shared_ptr<device::Device>& device, op::SparseMatrix P,
                               op::SparseMatrix P_transposed)
    : P_(std::move(P)), P_transposed_(std::move(P_transposed)), prolongation_(product_on(device, P_)),
      restriction_(product_on(device, P_transposed_)) {}

void MatrixTransfer::prolongate(const op::Vector& coarse, op::Vector& fine) const {
  set_to_product(P_, prolongation_.get(), coarse, fine);
}

void MatrixTransfer::prolongate_and_add(const op::Vector& coarse, op::Vector& fine) const {
  if (prolongation_ != nullptr) return prolongation_->run(coarse, fine, true);
  const auto to = fine.host_write();
  multiply(P_, coarse.host_read(), *fine.device(), [to](std::size_t row, double sum) { to[row] += sum; });
}

void MatrixTransfer::restrict_to(const op::Vector& fine, op::Vector& coarse) const {
  set_to_product(P_transposed_, restriction_.get(), fine, coarse);
}

} // namespace rafter::solvers
