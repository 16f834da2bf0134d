// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/solve/cg.hpp>

namespace rafter::solvers {

/// Parameters of InnerCg.
struct InnerCgParameters {
  double rtol = 1e-2;      ///< tolerance of the residual, relative to the vector that is given
  int max_iterations = 10; ///< most iterations of an application; what they have reached is taken
  bool is_fused = true;    ///< see CgParameters::is_fused
};

/// Computes z = M^-1 r by conjugate gradients for A z = r, from z = 0 to a tolerance. This is another operator for each
/// r, so that outer methods have to be flexible (Notay 2000, doi:10.1137/S1064827599362314).
class InnerCg final : public Preconditioner {
public:
  /// A and its preconditioner are symmetric positive (semi-)definite; right-hand sides lie in the range of A.
  InnerCg(std::shared_ptr<const op::LinearOperator> A, std::unique_ptr<const Preconditioner> preconditioner,
          const InnerCgParameters& parameters = {});

  void apply(const Vector& r, Vector& z) const override;
  bool is_variable() const override { return true; }
  std::int64_t num_negative_eigenvalues() const override { return preconditioner_->num_negative_eigenvalues(); }
  std::string description() const override;

private:
  std::shared_ptr<const op::LinearOperator> A_;
  std::unique_ptr<const Preconditioner> preconditioner_;
  InnerCgParameters parameters_;
};

} // namespace rafter::solvers
