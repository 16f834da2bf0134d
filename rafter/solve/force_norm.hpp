// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/operator.hpp>
#include <rafter/solve/result.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::solvers {

/// Returns the norm that residuals are relative to when boundary values are not zero.
///
/// A solve begins with x = g on constrained unknowns and 0 elsewhere, so that the first residual L - A x is that of a
/// function that jumps to zero within one layer of cells. Its size has nothing to do with that of the solution; for
/// nearly incompressible solids it is larger by the ratio of the Lame constants, so that a residual that is small
/// relative to it says nothing. The solution balances the loads on free unknowns and the reactions, which are (A x)_i
/// of constrained unknowns. This norm is the 2-norm of both. The function is empty where the boundary values are zero:
/// there the first residual is the load. `load` is the vector of the linear form before it is changed for the
/// conditions; it is not used after the call. The operator must outlive the function, which applies it once per call.
ReferenceNorm force_norm(const op::Operator& A, const Vector& load);

/// Returns the 2-norm of the loads on free unknowns.
double load_norm(const op::Operator& A, const Vector& load);

} // namespace rafter::solvers
