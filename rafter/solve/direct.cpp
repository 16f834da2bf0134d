// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/direct.hpp>

#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/solve/diagnosis.hpp>

namespace rafter::solvers {

Result direct(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
              const IterationControl& control) {
  if (M.factors() == nullptr)
    throw base::InputError("solver: a direct solve needs the factors of the matrix in place of a preconditioner");
  const VectorOps ops(A);
  Progress progress(control, A.num_unknowns());
  RoundingLevel rounding(A, ops);
  Vector r(A.device(), b.size()), z(A.device(), b.size());
  double norm = 0;
  if (auto end = prepare(A, b, x, ops, progress, r, norm)) return std::move(*end);
  for (;;) {
    const double before = norm;
    M.apply(r, z);
    ops.axpy(1, z, x);
    A.apply(x, r);
    ops.subtract_from(b, r);
    norm = ops.norm(r);
    progress.update_reference(x);
    progress.record(norm);
    if (norm <= progress.target()) return progress.converged();
    if (rounding.holds(r, norm, x, b) && norm > 0.5 * before)
      return progress.converged(RoundingLevel::warning(norm / progress.reference(), control.rtol));
    if (auto end = progress.check()) return std::move(*end);
    if (norm > 0.5 * before)
      return progress.failed(Failure::stagnated,
                             fmt::format("iterative refinement leaves a relative residual of {:.2e}: the matrix is so "
                                         "close to a singular one that double precision does not tell them apart{}",
                                         norm / progress.reference(), singular_advice));
  }
}

} // namespace rafter::solvers
