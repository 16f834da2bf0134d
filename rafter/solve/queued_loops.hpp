// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string_view>

/// The loops of conjugate gradients that are queued on a device (QueuedSteps), in the notation of schedule::VectorLoop.
/// Their scalars are the numbers of two iterations: what the one before has left, r.z, beta, whether iterations are
/// active, three numbers of its own, and the least r.r and r.z; and in the same order those of this one, with a dash.
/// Vectors that must not change are not multiplied by zero, because the direction may hold NaN.
namespace rafter::solvers {

inline constexpr std::array<std::string_view, 6> queued_loops{
    "direction(rz, beta, active | z, p): p = select(active, z + beta*p, p)",
    "direction_scaled(rz, beta, active | r, p, d): p = select(active, d*r + beta*p, p)",
    "energy(rz, beta, active, alpha, pq, rr, least_rr, least_rz, new_rz, new_beta, new_active, new_alpha, new_pq | p, "
    "q):"
    " sum product = p*q; then new_pq = product;"
    " then new_active = active*lt(0, product)*le(product, 1e300); then new_alpha = select(new_active, rz/product, 0)",
    "step(rz, beta, active, alpha, pq, rr, least_rr, least_rz, new_rz, new_beta, new_active, new_alpha, new_pq, new_rr "
    "|"
    " x, r, p, q): x = select(new_alpha, x + new_alpha*p, x); r = select(new_alpha, r - new_alpha*q, r);"
    " sum square = r*r; then new_rr = square",
    "product(rz, beta, active, alpha, pq, rr, least_rr, least_rz, new_rz, new_beta, new_active, new_alpha, new_pq, "
    "new_rr,"
    " new_least_rr, new_least_rz | r, z): sum product = r*z; then new_rz = product;"
    " then new_least_rr = least_rr; then new_least_rz = least_rz;"
    " then new_active = new_active*lt(least_rr, new_rr)*le(new_rr, 1e300)*lt(least_rz, product)*lt(0, product)"
    "*le(product, 1e300); then new_beta = select(new_active, product/rz, 1)",
    "step_scaled(rz, beta, active, alpha, pq, rr, least_rr, least_rz, new_rz, new_beta, new_active, new_alpha, new_pq,"
    " new_rr, new_least_rr, new_least_rz | x, r, p, q, d):"
    " x = select(new_alpha, x + new_alpha*p, x); r = select(new_alpha, r - new_alpha*q, r);"
    " sum square = r*r; sum product = r*(d*r); then new_rr = square; then new_rz = product;"
    " then new_least_rr = least_rr; then new_least_rz = least_rz;"
    " then new_active = new_active*lt(least_rr, square)*le(square, 1e300)*lt(least_rz, product)*lt(0, product)"
    "*le(product, 1e300); then new_beta = select(new_active, product/rz, 1)",
};

} // namespace rafter::solvers
