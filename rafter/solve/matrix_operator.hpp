// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/levels/transfer.hpp>
#include <rafter/operator/matrix/sliced_product.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>

/// Sparse matrices as what multigrid is made of. Products run on the threads of a device with host memory, row by row;
/// a device with memory of its own keeps the matrix in slices. They give the same bits for any number of threads and in
/// every run.
namespace rafter::solvers {

/// A square matrix as an operator.
class MatrixOperator final : public op::LinearOperator {
public:
  /// Throws InputError for a matrix that is not square.
  MatrixOperator(std::shared_ptr<device::Device> device, op::SparseMatrix matrix);

  std::int64_t size() const override { return matrix_.num_columns; }
  std::shared_ptr<device::Device> device() const override { return device_; }
  void apply(const op::Vector& x, op::Vector& y) const override;
  void diagonal(op::Vector& d) const override;
  op::SparseMatrix sparse_matrix() const override { return matrix_; }
  const op::SparseMatrix& matrix() const { return matrix_; }

private:
  std::shared_ptr<device::Device> device_;
  op::SparseMatrix matrix_;
  std::unique_ptr<const op::SlicedProduct> product_; ///< null where the device shares the memory of the host
};

/// A prolongation P that is a matrix, with its transpose.
class MatrixTransfer final : public op::Transfer {
public:
  MatrixTransfer(const std::shared_ptr<device::Device>& device, op::SparseMatrix P, op::SparseMatrix P_transposed);

  std::int64_t rows() const override { return P_.num_rows(); }
  std::int64_t columns() const override { return P_.num_columns; }
  void prolongate(const op::Vector& coarse, op::Vector& fine) const override;
  void prolongate_and_add(const op::Vector& coarse, op::Vector& fine) const override;
  void restrict_to(const op::Vector& fine, op::Vector& coarse) const override;
  const op::SparseMatrix& matrix() const { return P_; }

private:
  op::SparseMatrix P_, P_transposed_;
  /// The products with both matrices; null where the device shares the memory of the host.
  std::unique_ptr<const op::SlicedProduct> prolongation_, restriction_;
};

} // namespace rafter::solvers
