// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include <rafter/io/problem.hpp>
#include <rafter/solve/null_space_condition.hpp>

/// The null space that [[constraint]] sections fix.
namespace rafter::app {

/// The sections with the kernels that they need.
struct PlannedConstraints {
  std::vector<solvers::NullSpaceCondition> conditions;    ///< as Problem::constraints
  std::vector<std::shared_ptr<op::GeneratedForm>> masses; ///< of each condition, to be compiled
};
PlannedConstraints plan_constraints(const io::Problem& problem, const op::System& system,
                                    const op::OperatorOptions& options);

/// Throws InputError as solvers::ConstrainedOperator and ConstrainedNullSpace, with the place of the section.
solvers::ConstrainedNullSpace make_null_space(const io::Problem& problem, const op::Operator& A,
                                              const PlannedConstraints& constraints);

/// Vectors of the length of the system that the sections keep, for estimates of memory.
int num_null_space_vectors(const io::Problem& problem);

} // namespace rafter::app
