// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/aggregation_multigrid.hpp>

namespace rafter::solvers {

AggregationMultigrid::AggregationMultigrid(std::shared_ptr<const op::LinearOperator> A, NearNullSpace near_null_space,
                                           const MultigridParameters& parameters, std::string name,
                                           const AggregationParameters& aggregation,
                                           std::shared_ptr<const NullSpace> null_space) {
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
