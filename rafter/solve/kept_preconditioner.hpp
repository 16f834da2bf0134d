// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/solve/solver.hpp>

namespace rafter::solvers {

/// The preconditioner of an operator whose values change: of the tangents of Newton's method and of steps in time. It
/// follows them where it can (Preconditioner::refresh) and is made anew where it cannot.
class KeptPreconditioner {
public:
  /// Returns the preconditioner for the values that A has now. A is the same operator at every call, and options are
  /// equal until reset(). An indefinite operator is reported to the user once. Throws the errors of
  /// make_preconditioner() and Preconditioner::refresh().
  const Preconditioner& update(const op::LinearOperator& A, const SolverOptions& options);
  /// Forgets the preconditioner, for other options.
  void reset() { preconditioner_.reset(); }
  /// The one that update() returned last; null: there is none.
  const Preconditioner* get() const { return preconditioner_.get(); }

private:
  std::shared_ptr<const Preconditioner> preconditioner_;
  bool has_warned_ = false; ///< warn_if_indefinite() has had something to report
};

} // namespace rafter::solvers
