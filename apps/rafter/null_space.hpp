// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include <rafter/io/problem.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/solve/null_space_condition.hpp>

/// Sections [[constraint]] fix the null space of an operator.
namespace rafter::app {

/// The conditions of the sections, with the kernels that they need.
struct PlannedConstraints {
  std::vector<solvers::NullSpaceCondition> conditions;    ///< conditions in the order of Problem::constraints
  std::vector<std::shared_ptr<op::GeneratedForm>> masses; ///< mass matrix of each condition, not compiled yet
};
PlannedConstraints plan_constraints(const io::Problem& problem, const op::System& system,
                                    const op::OperatorOptions& options);

/// Throws InputError as solvers::ConstrainedOperator and ConstrainedNullSpace do, with the place of the section.
solvers::ConstrainedNullSpace make_null_space(const io::Problem& problem, const op::Operator& A,
                                              const PlannedConstraints& constraints);

/// Returns the number of vectors of the system's length that the sections keep, for estimates of memory.
int num_null_space_vectors(const io::Problem& problem);

} // namespace rafter::app
