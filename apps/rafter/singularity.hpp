// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/io/problem.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/solve/null_space.hpp>

#include "operator_checks.hpp"

/// Singular operators that can be recognised before a solve. All throw InputError that names field and place.
namespace rafter::app {

/// Every free unknown needs an equation (a row of the operator that is not empty), and on every connected piece of the
/// mesh no combination of constants (and rotations of vector fields) that the conditions leave free may be in the null
/// space: pure Neumann problems, bodies that nothing holds. Where conditions alone hold every piece this costs no
/// application of the operator, else one per field and function, however many pieces there are.
void require_regular(const op::Operator& A, const Probe& probe, const io::Problem& problem,
                     const solvers::NullSpace& fixed);

/// Preconditioners that divide by the diagonal need one without zeros.
void require_diagonal(const op::Operator& A, const io::Problem& problem);

} // namespace rafter::app
