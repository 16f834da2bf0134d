// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>

#include <rafter/solve/gmres.hpp>

/// Says how GMRES applies its preconditioner: on the right, on the left, or on the right with one that changes.
namespace rafter::solvers {

/// The parts of an iteration that depend on the side of the preconditioner.
class GmresSteps {
public:
  GmresSteps(const op::LinearOperator& A, const Preconditioner& M, const VectorOps& ops) : A_(A), M_(M), ops_(ops) {}
  virtual ~GmresSteps() = default;

  /// Applies the preconditioned operator to basis vector number k of a cycle: w = A M^-1 v, or w = M^-1 A v.
  virtual void apply(std::size_t k, const Vector& v, Vector& w) = 0;
  /// Adds the correction with these coefficients of the basis vectors to x. `work` is overwritten.
  virtual void add_correction(std::span<const double> y, std::span<const Vector> basis, Vector& work, Vector& x) = 0;
  /// Replaces r = b - A x by the residual that is judged, where that is another one.
  virtual void precondition_residual(Vector& /*r*/) {}

protected:
  const op::LinearOperator& A_;
  const Preconditioner& M_;
  const VectorOps& ops_;
};

std::unique_ptr<GmresSteps> make_right_steps(const op::LinearOperator& A, const Preconditioner& M,
                                             const VectorOps& ops);
std::unique_ptr<GmresSteps> make_left_steps(const op::LinearOperator& A, const Preconditioner& M, const VectorOps& ops);

/// Makes the steps of flexible GMRES (Saad 1993, doi:10.1137/0914028), whose preconditioner may change from one
/// application to the next: the preconditioned basis vectors z_k = M_k^-1 v_k are kept, one for each iteration of a
/// cycle, and the correction is sum_k y_k z_k.
std::unique_ptr<GmresSteps> make_flexible_steps(const op::LinearOperator& A, const Preconditioner& M,
                                                const VectorOps& ops);

} // namespace rafter::solvers
