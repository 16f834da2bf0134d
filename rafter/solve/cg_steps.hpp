// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/solve/preconditioner.hpp>

/// Updates the vectors of conjugate gradients: plainly, one operation after the other, or fused, in one pass over the
/// cells per iteration. The iterates are the same up to rounding.
namespace rafter::solvers {

/// The data of an iteration: A x = b with residual r and search direction p.
struct CgVectors {
  const op::LinearOperator& A;
  const Preconditioner& M;
  const VectorOps& ops;
  Vector &x, &r, &p;
};

/// The parts of an iteration, which are to be called in this order. x and r may lag behind until settle().
class CgSteps {
public:
  explicit CgSteps(const CgVectors& vectors) : v_(vectors) {}
  virtual ~CgSteps() = default;

  /// Returns r.z of the present residual, z = M^-1 r.
  virtual double preconditioned_product() = 0;
  /// Returns z.A p of this z and of the last direction p. Steps that are fused into one pass over the cells do not keep
  /// z, and throw InternalError.
  virtual double energy_with_direction() const = 0;
  /// Returns y.z of the z that preconditioned_product() found last, and throws like energy_with_direction().
  virtual double product_with_image(const Vector& y) const = 0;
  /// Sets p = z + beta p and returns p.Ap. x and r do not lag then.
  virtual double new_direction(double beta) = 0;
  /// Makes the step x += alpha p, r -= alpha A p and returns r.r of the new r. A value of at most `exact_below` is
  /// computed from r itself, and x and r do not lag then; larger values may be predicted from products of the old r.
  virtual double advance(double alpha, double exact_below) = 0;
  /// Brings x and r up to date.
  virtual void settle() {}
  /// Must be called when r was changed from outside.
  virtual void residual_replaced() {}

protected:
  CgVectors v_;
};

/// Makes steps of one operation after the other, as reference.
class PlainSteps : public CgSteps {
public:
  explicit PlainSteps(const CgVectors& vectors);
  double preconditioned_product() override;
  double energy_with_direction() const override;
  double product_with_image(const Vector& y) const override;
  double new_direction(double beta) override;
  double advance(double alpha, double exact_below) override;

protected:
  Vector z_, q_; ///< q = A p
};

/// Makes steps whose updates and products are fused into the application of A (Kronbichler, Sashko and Munch 2023,
/// doi:10.1177/10943420221107880). If M is diagonal, an iteration is one pass over the cells, in which A p and all
/// products of the old residual are found, and r.r and r.z of the new one follow from those; they are computed from the
/// vectors whenever cancellation would cost digits (predict and recompute: Chen and Carson 2020,
/// doi:10.1137/19M1276856). Other preconditioners need the finished residual: then the updates of x and p and the
/// product p.Ap are fused.
std::unique_ptr<CgSteps> make_fused_steps(const CgVectors& vectors);

} // namespace rafter::solvers
