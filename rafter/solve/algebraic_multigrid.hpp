// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/solve/multigrid.hpp>
#include <rafter/solve/near_null_space.hpp>
#include <rafter/solve/null_space.hpp>

namespace rafter::solvers {

/// Makes one cycle of algebraic multigrid, the same symmetric positive operator at each application, by the method that
/// the parameters name: AggregationMultigrid, which takes its smoothers from them, too, or BoomerAmg. `name` is that of
/// the level, `null_space` that of the operator; null: it is regular. Throws InputError for operators without a matrix
/// or with one that is not symmetric, and the errors of the constructors.
std::unique_ptr<const Preconditioner> make_algebraic_multigrid(std::shared_ptr<const op::LinearOperator> A,
                                                               NearNullSpace near_null_space,
                                                               const MultigridParameters& parameters = {},
                                                               std::string name = {},
                                                               std::shared_ptr<const NullSpace> null_space = {});

} // namespace rafter::solvers
