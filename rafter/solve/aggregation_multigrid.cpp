// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/aggregation_multigrid.hpp>

namespace rafter::solvers {

AggregationMultigrid::AggregationMultigrid(std::shared_ptr<const op::LinearOperator> A, NearNullSpace near_null_space,
                                           const MultigridParameters& parameters, std::string name,
                                           const AggregationParameters& aggregation) {
  auto levels = aggregated_levels(*A, A->sparse_matrix(), std::move(near_null_space), aggregation);
  const auto num_coarsest = levels.empty() ? A->num_unknowns() : levels.front().A->num_unknowns();
  levels.push_back({.A = std::move(A), .to_finer = nullptr, .name = std::move(name)});
  auto own = parameters;
  own.cycle = Cycle::v;
  own.coarse = num_coarsest <= most_direct_unknowns ? CoarseSolver::direct : CoarseSolver::chebyshev;
  own.has_full_start = false;
  cycles_ = std::make_unique<Multigrid>(std::move(levels), own);
}

} // namespace rafter::solvers
