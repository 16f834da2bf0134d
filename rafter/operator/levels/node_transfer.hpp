// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/kernel/transfer.hpp>
#include <rafter/operator/levels/transfer.hpp>
#include <rafter/operator/matrix/sliced_product.hpp>
#include <rafter/space/low_order_refinement.hpp>

namespace rafter::op {

/// The transfer between two systems that have the same nodes: it gives each unknown the number that it has on the other
/// side. Free unknowns are mapped one to one, so that P P^T is the identity on them. Both directions are products with
/// matrices of ones, in the memory of the device.
class NodeTransfer final : public Transfer {
public:
  /// Takes a fine system whose spaces have the degree of `nodes`, and a coarse one of degree 1 on the mesh of `nodes`.
  /// `precision` is that of the vectors. Throws InputError for other systems.
  NodeTransfer(const TransferSpecification& specification, const space::LowOrderRefinement& nodes,
               const std::shared_ptr<device::Device>& device,
               schedule::Precision precision = schedule::Precision::double_precision);

  std::int64_t rows() const override { return rows_; }
  std::int64_t columns() const override { return columns_; }
  void prolongate(const Vector& coarse, Vector& fine) const override;
  void prolongate_and_add(const Vector& coarse, Vector& fine) const override;
  void restrict_to(const Vector& fine, Vector& coarse) const override;
  void prolongate(const SingleVector& coarse, SingleVector& fine) const override;
  void prolongate_and_add(const SingleVector& coarse, SingleVector& fine) const override;
  void restrict_to(const SingleVector& fine, SingleVector& coarse) const override;

private:
  template <class T>
  void run(kernel::TransferDirection direction, const device::Array<T>& from, device::Array<T>& to, bool adds) const;

  std::int64_t rows_, columns_;
  schedule::Precision precision_;
  std::unique_ptr<const SlicedProduct> prolongation_, restriction_;
};

} // namespace rafter::op
