// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/aggregation_multigrid.hpp>

#include <cmath>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {
namespace {

/// Returns |(x, A y) - (y, A x)| over |x| |A y| of random vectors x and y, which takes two products.
double asymmetry(const op::LinearOperator& A) {
  const VectorOps ops(A);
  Vector x(A.device(), static_cast<std::size_t>(A.size())), y(A.device(), x.size());
  Vector Ax(A.device(), x.size()), Ay(A.device(), x.size());
  ops.fill_random(1, x);
  ops.fill_random(2, y);
  A.apply(x, Ax);
  A.apply(y, Ay);
  const double size = ops.norm(x) * ops.norm(Ay);
  return size == 0 ? 0 : std::abs(ops.dot(x, Ay) - ops.dot(y, Ax)) / size;
}

} // namespace

AggregationMultigrid::AggregationMultigrid(std::shared_ptr<const op::LinearOperator> A, NearNullSpace near_null_space,
                                           const MultigridParameters& parameters, std::string name,
                                           const AggregationParameters& aggregation,
                                           std::shared_ptr<const NullSpace> null_space) {
  constexpr double rounding = 1e-10;
  if (const double found = asymmetry(*A); found > rounding)
    throw base::InputError(
        fmt::format("algebraic multigrid is for symmetric operators, and this one differs from its "
                    "transpose by {:.1e} of its size for random vectors: \"jacobi\" and \"multigrid\" serve others",
                    found));
  auto of_levels = aggregation;
  if (of_levels.largest_eigenvalue == 0) of_levels.largest_eigenvalue = largest_scaled_eigenvalue(*A, null_space.get());
  auto levels = aggregated_levels(*A, A->sparse_matrix(), std::move(near_null_space), of_levels, null_space);
  const auto num_coarsest = levels.empty() ? A->num_unknowns() : levels.front().A->num_unknowns();
  levels.push_back({.A = std::move(A),
                    .to_finer = nullptr,
                    .null_space = std::move(null_space),
                    .name = std::move(name),
                    .largest_eigenvalue = of_levels.largest_eigenvalue});
  auto own = parameters;
  own.cycle = Cycle::v;
  own.coarse = num_coarsest <= most_direct_unknowns ? CoarseSolver::direct : CoarseSolver::chebyshev;
  own.coarse_rtol = 0;
  own.has_full_start = false;
  cycles_ = std::make_unique<Multigrid>(std::move(levels), own);
}

} // namespace rafter::solvers
