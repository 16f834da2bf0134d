// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/operator/matrix/sliced_product.hpp>
#include <rafter/solve/factors.hpp>

namespace rafter::solvers {

/// Unknowns of the largest matrix whose inverse a device with memory of its own keeps: its product reads at most 12 MB,
/// and the host, which has the factors, need not be waited for.
inline constexpr std::int64_t most_inverted_unknowns = 1000;

/// Applies the inverse of a small matrix as a dense matrix in the memory of a device.
class InverseMatrix final : public Preconditioner {
public:
  /// Computes the inverse column by column by the factors of a matrix of `size` rows.
  InverseMatrix(const std::shared_ptr<device::Device>& device, std::int64_t size, const Factors& factors);

  void apply(const Vector& r, Vector& z) const override { product_->run(r, z, false); } ///< computes z = A^-1 r
  std::int64_t num_negative_eigenvalues() const override { return info_.num_negative_pivots; }
  const FactorInfo* factors() const override { return &info_; }
  std::string description() const override;

private:
  std::int64_t size_;
  FactorInfo info_;
  std::unique_ptr<const op::SlicedProduct> product_;
};

} // namespace rafter::solvers
