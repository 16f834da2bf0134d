// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/aggregation_multigrid.hpp>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {

AggregationMultigrid::AggregationMultigrid(std::shared_ptr<const op::LinearOperator> A, NearNullSpace near_null_space,
                                           const MultigridParameters& parameters, std::string name,
                                           const AggregationParameters& aggregation,
                                           std::shared_ptr<const NullSpace> null_space) {
  constexpr double rounding = 1e-10;
  auto matrix = A->sparse_matrix();
  if (const double asymmetry = matrix.asymmetry(); !(asymmetry <= rounding))
    throw base::InputError(
        fmt::format("algebraic multigrid is for symmetric operators, and entries of this one differ "
                    "from those of its transpose by {:.1e} of the largest: \"jacobi\" and \"multigrid\" "
                    "serve others",
                    asymmetry));
  auto levels = aggregated_levels(*A, std::move(matrix), std::move(near_null_space), aggregation, null_space);
  const auto num_coarsest = levels.empty() ? A->num_unknowns() : levels.front().A->num_unknowns();
  levels.push_back(
      {.A = std::move(A), .to_finer = nullptr, .null_space = std::move(null_space), .name = std::move(name)});
  auto own = parameters;
  own.cycle = Cycle::v;
  own.coarse = num_coarsest <= most_direct_unknowns ? CoarseSolver::direct : CoarseSolver::chebyshev;
  own.coarse_rtol = 0;
  own.has_full_start = false;
  cycles_ = std::make_unique<Multigrid>(std::move(levels), own);
}

} // namespace rafter::solvers
