// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/algebraic_multigrid.hpp>

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/solve/aggregation_multigrid.hpp>
#include <rafter/solve/boomeramg.hpp>

namespace rafter::solvers {
namespace {

/// Returns |(x, A y) - (y, A x)| over |x| |A y| of random vectors x and y, which takes two products.
double asymmetry(const op::LinearOperator& A) {
  const VectorOps ops(A);
  const Vector x = random_free_vector(A, 1), y = random_free_vector(A, 2);
  Vector Ax(A.device(), x.size()), Ay(A.device(), x.size());
  A.apply(x, Ax);
  A.apply(y, Ay);
  const double size = ops.norm(x) * ops.norm(Ay);
  return size == 0 ? 0 : std::abs(ops.dot(x, Ay) - ops.dot(y, Ax)) / size;
}

void require_symmetric(const op::LinearOperator& A) {
  constexpr double rounding = 1e-10;
  if (const double found = asymmetry(A); found > rounding)
    throw base::InputError(
        fmt::format("algebraic multigrid is for symmetric operators, and this one differs from its "
                    "transpose by {:.1e} of its size for random vectors: \"jacobi\" and \"multigrid\" serve others",
                    found));
}

} // namespace

std::string_view name(AmgMethod method) {
  return method == AmgMethod::boomeramg ? "boomeramg" : "smoothed-aggregation";
}

std::string_view name(AmgInterpolation interpolation) {
  return interpolation == AmgInterpolation::rigid_modes ? "rigid-modes" : "components";
}

std::unique_ptr<const Preconditioner> make_algebraic_multigrid(std::shared_ptr<const op::LinearOperator> A,
                                                               NearNullSpace near_null_space,
                                                               const MultigridParameters& parameters, std::string name,
                                                               std::shared_ptr<const NullSpace> null_space) {
  require_symmetric(*A);
  if (parameters.amg == AmgMethod::boomeramg)
    return std::make_unique<BoomerAmg>(std::move(A), near_null_space, parameters.boomeramg, std::move(null_space));
  return std::make_unique<AggregationMultigrid>(std::move(A), std::move(near_null_space), parameters, std::move(name),
                                                AggregationParameters(), std::move(null_space));
}

} // namespace rafter::solvers
