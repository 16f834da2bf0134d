// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/operator.hpp>
#include <rafter/problem/operator_checks.hpp>
#include <rafter/solve/null_space.hpp>

/// Some singular operators can be recognised before a solve. All checks throw InputError that names the field and the
/// place.
namespace rafter::problem {

/// Every free unknown needs an equation (a row of the operator that is not empty). On every connected component of the
/// mesh, no combination of constants (and rotations of vector fields) that the conditions leave free may be in the null
/// space, as it is in pure Neumann problems and for bodies that nothing holds. If conditions alone hold every connected
/// component, this needs no application of the operator, else one per field and function, however many connected
/// components there are.
void require_regular(const op::Operator& A, const Probe& probe, const Request& request,
                     const solvers::NullSpace& fixed);

/// Throws InputError if the diagonal has zeros, by which Jacobi and Chebyshev preconditioners would divide.
void require_diagonal(const op::Operator& A, const Request& request);

} // namespace rafter::problem
