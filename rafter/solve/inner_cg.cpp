// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/inner_cg.hpp>

#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {

InnerCg::InnerCg(std::shared_ptr<const op::LinearOperator> A, std::unique_ptr<const Preconditioner> preconditioner,
                 const InnerCgParameters& parameters)
    : A_(std::move(A)), preconditioner_(std::move(preconditioner)), parameters_(parameters) {
  if (!(parameters.rtol > 0 && parameters.rtol < 1) || parameters.max_iterations < 1)
    throw base::InputError(fmt::format("an inner solve to {} in at most {} iterations; accepted are tolerances above 0 "
                                       "and below 1, and 1 iteration or more",
                                       parameters.rtol, parameters.max_iterations));
}

void InnerCg::apply(const Vector& r, Vector& z) const {
  VectorOps(*A_).fill(0, z);
  // The outer method sees what a solve that failed has left, and names it where it does not serve.
  static_cast<void>(cg(*A_, r, z, *preconditioner_,
                       {.control = {.rtol = parameters_.rtol, .max_iterations = parameters_.max_iterations},
                        .is_fused = parameters_.is_fused}));
}

std::string InnerCg::description() const {
  return fmt::format("conjugate gradients to {:.2g} in at most {} iterations, with {}", parameters_.rtol,
                     parameters_.max_iterations, preconditioner_->description());
}

} // namespace rafter::solvers
