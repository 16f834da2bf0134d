// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/kept_preconditioner.hpp>

#include <utility>

namespace rafter::solvers {

const Preconditioner& KeptPreconditioner::update(const op::LinearOperator& A, const SolverOptions& options) {
  // One whose refresh fails is of no use any more, so that it is forgotten first.
  if (auto kept = std::exchange(preconditioner_, nullptr); kept != nullptr && kept->refresh())
    preconditioner_ = std::move(kept);
  if (preconditioner_ == nullptr) preconditioner_ = make_preconditioner(A, options);
  if (!has_warned_) warn_if_indefinite(*preconditioner_, options);
  has_warned_ = has_warned_ || preconditioner_->num_negative_eigenvalues() > 0;
  return *preconditioner_;
}

} // namespace rafter::solvers
