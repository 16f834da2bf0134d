// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <rafter/operator/linear_operator.hpp>
#include <rafter/solve/progress.hpp>
#include <rafter/solve/vector_ops.hpp>

/// What the Krylov methods check alike.
namespace rafter::solvers {

inline constexpr std::string_view singular_advice =
    "; a problem with Neumann conditions alone fixes its solution only "
    "up to a constant (elasticity: a rigid motion): add a "
    "Dirichlet condition or a term without derivatives, or say what fixes the "
    "null space ([[constraint]])";

/// r = b - A x and its norm, which starts `progress`. A result when there is nothing to iterate: b not finite, b = 0 (x
/// = 0), A x not finite, or x a solution already (to rounding or atol).
std::optional<Result> prepare(const op::LinearOperator& A, const Vector& b, Vector& x, const VectorOps& ops,
                              Progress& progress, Vector& r, double& norm);

/// True if |A v| is negligible against |v| and the size of A (as a random vector shows it): v is in the null space, or
/// so nearly that no solver can tell.
bool is_null_vector(const op::LinearOperator& A, const VectorOps& ops, const Vector& v);

/// Advice to append when a solve failed: non-empty if v, a residual or search direction, is a null vector of A.
std::string null_space_hint(const op::LinearOperator& A, const VectorOps& ops, const Vector& v);

} // namespace rafter::solvers
