// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/solve/multigrid.hpp>
#include <rafter/solve/smoothed_aggregation.hpp>

namespace rafter::solvers {

/// Algebraic multigrid for a symmetric positive (semi-)definite operator that has a matrix: V-cycles on the levels of
/// aggregated_levels(). The cycle is the same symmetric positive operator at each application. It does not follow
/// values that change: the levels are made of the matrix, and a new one takes a new matrix.
class AggregationMultigrid final : public Preconditioner {
public:
  /// Smoothers are those of `parameters`. The coarsest level has factors; where aggregation ends with more than
  /// most_direct_unknowns, as it does for mass matrices, whose entries are all positive, it has the polynomial of
  /// CoarseSolver::chebyshev. `name` is that of the finest level, `null_space` that of the operator; null: it is
  /// regular.
  /// Throws InputError for operators without a matrix, and the errors of aggregated_levels() and Multigrid. That the
  /// operator is symmetric is for make_algebraic_multigrid() to check.
  AggregationMultigrid(std::shared_ptr<const op::LinearOperator> A, NearNullSpace near_null_space,
                       const MultigridParameters& parameters = {}, std::string name = {},
                       const AggregationParameters& aggregation = {}, std::shared_ptr<const NullSpace> null_space = {});

  void apply(const Vector& r, Vector& z) const override { cycles_->apply(r, z); }
  std::int64_t num_negative_eigenvalues() const override { return cycles_->num_negative_eigenvalues(); }
  std::string description() const override { return "algebraic multigrid, " + cycles_->description(); }

private:
  std::unique_ptr<const Multigrid> cycles_;
};

} // namespace rafter::solvers
