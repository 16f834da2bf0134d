// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/operator.hpp>
#include <rafter/solve/result.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {

/// What residuals are relative to when boundary values are not zero.
///
/// A solve begins with x = g on constrained unknowns and 0 elsewhere, so that the first residual L - A x is that of a
/// function that jumps to zero within one layer of cells. Its size has nothing to do with the solution's, for nearly
/// incompressible solids it is larger by the ratio of the Lame constants: a residual that is small relative to it says
/// nothing. What the solution balances are the loads on free unknowns and the reactions, (A x)_i of constrained ones.
/// This is the 2-norm of both; of x = 0 on the boundary it is that of the loads. Empty where the boundary values are
/// zero, where the first residual is the load. `load`: vector of the linear form, not yet changed for the conditions;
/// not used after the call. The operator must outlive the function, which applies it once.
ReferenceNorm force_norm(const op::Operator& A, const Vector& load);

} // namespace rafter::solvers
