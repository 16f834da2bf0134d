// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include <rafter/solve/preconditioner.hpp>

namespace rafter::solvers {

/// The null space of a singular operator, or a part of it, as an orthonormal basis N.
class NullSpace {
public:
  NullSpace() = default; ///< the null space of a regular operator, without vectors
  /// Takes the span of these vectors. Throws InputError for one that depends linearly on those before it.
  NullSpace(std::shared_ptr<device::Device> device, std::vector<Vector> vectors);

  std::span<const Vector> basis() const { return basis_; }
  bool is_empty() const { return basis_.empty(); }

  /// Computes x = (I - N N^T) x. On a device with memory of its own this is queued: N^T x stays there, and nobody
  /// waits. One thread at a time may do so.
  void project(Vector& x) const;
  Vector part(const Vector& x) const;         ///< returns N N^T x
  double norm_of_part(const Vector& x) const; ///< returns |N^T x|

private:
  std::vector<double> coefficients(const Vector& x) const; ///< returns N^T x
  void queue_projection(Vector& x) const;
  std::vector<Vector> basis_;
  mutable Vector coefficients_;             ///< N^T x in the memory of a device, shape (vector)
  std::unique_ptr<op::VectorRunner> queue_; ///< null where the device shares the memory of the host
};

/// Computes z = (I - N N^T) M^-1 r. For residuals in the range of a symmetric operator with null space N nothing is
/// lost: that range is the complement of N, and within it this is the symmetric preconditioner (I - N N^T) M^-1 (I - N
/// N^T).
class ProjectedPreconditioner final : public Preconditioner {
public:
  ProjectedPreconditioner(std::shared_ptr<const Preconditioner> preconditioner, std::shared_ptr<const NullSpace> space)
      : preconditioner_(std::move(preconditioner)), space_(std::move(space)) {}
  void apply(const Vector& r, Vector& z) const override {
    preconditioner_->apply(r, z);
    space_->project(z);
  }
  /// Returns the diagonal of M^-1: conjugate gradients in one pass over the cells do without the projection. Their
  /// products (r.z = r.M^-1 r, p.Ap, r.r) and residuals are the same with and without it, because r is in the range and
  /// A maps N to zero; only x moves by vectors of N, and this stays bounded since p stays M-orthogonal to N.
  std::optional<const Vector*> diagonal() const override { return preconditioner_->diagonal(); }
  bool is_variable() const override { return preconditioner_->is_variable(); }
  bool is_single() const override { return preconditioner_->is_single(); }
  bool refresh() const override { return preconditioner_->refresh(); }
  bool start(const Vector& r, Vector& z) const override {
    const bool has_start = preconditioner_->start(r, z);
    if (has_start) space_->project(z);
    return has_start;
  }
  std::int64_t num_negative_eigenvalues() const override { return preconditioner_->num_negative_eigenvalues(); }
  const FactorInfo* factors() const override { return preconditioner_->factors(); }
  std::string description() const override { return preconditioner_->description(); }

private:
  std::shared_ptr<const Preconditioner> preconditioner_;
  std::shared_ptr<const NullSpace> space_;
};

} // namespace rafter::solvers
