// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string_view>

/// The loops over vectors that solvers run, in the notation of schedule::VectorLoop.
namespace rafter::solvers {

inline constexpr std::array<std::string_view, 38> vector_loops{
    "fill(a | x): x = a",
    "copy(| x, y): y = x",
    "scale(a | x): x = a*x",
    "add(| x, y): y = y + x",
    "axpy(a | x, y): y = y + a*x",
    "aypx(a | x, y): y = x + a*y",
    "subtract_from(| x, y): y = x - y",
    "multiply(| d, x, y): y = d*x",
    "combine(a, b | d, x, y): y = a*y + b*(d*x)",
    "dot(| x, y): sum xy = x*y",
    "scaled_dot(a, b | x, y): sum xy = (a*x)*(b*y)",
    // Sums that are 0, or NaN where an entry is not finite, or above 0 where one is negative.
    "spoil(| x): sum spoiled = 0*x",
    "invert(| d, x): x = 1/d; sum spoiled = 0*d + 0*x",
    "negative(| x): sum sizes = abs(x) - x",
    "advance(alpha | p, q, x, r): x = x + alpha*p; r = r - alpha*q; sum rr = r*r",
    // Basis vectors in fours.
    "dot_four(| va, vb, vc, vd, w): sum a = va*w; sum b = vb*w; sum c = vc*w; sum d = vd*w",
    "axpy_four(a, b, c, d | va, vb, vc, vd, w): w = w + a*va + b*vb + c*vc + d*vd",
    // Conjugate gradients where z = M^-1 r and M is the identity, or diagonal with the entries 1/d; q = A p.
    "cg_advance(alpha | x, r, p, q): x = x + alpha*p; r = r - alpha*q; sum rr = r*r; sum rz = r*r",
    "cg_advance_scaled(alpha | x, r, p, q, d): x = x + alpha*p; r = r - alpha*q; sum rr = r*r; sum rz = r*(d*r)",
    "cg_redirect(alpha, beta | x, r, p, q):"
    " x = x + alpha*p; r = r - alpha*q; p = r + beta*p; sum rr = r*r; sum rz = r*r",
    "cg_redirect_scaled(alpha, beta | x, r, p, q, d):"
    " x = x + alpha*p; r = r - alpha*q; let z = d*r; p = z + beta*p; sum rr = r*r; sum rz = r*z",
    "cg_products(| r, p, q): sum pq = p*q; sum rq = r*q; sum qq = q*q; sum rs = r*q; sum qs = q*q",
    "cg_products_scaled(| r, p, q, d):"
    " let s = d*q; sum pq = p*q; sum rq = r*q; sum qq = q*q; sum rs = r*s; sum qs = q*s",
    // Conjugate gradients with any other preconditioner.
    "cg_deferred_redirect(alpha, beta | x, p, z): x = x + alpha*p; p = z + beta*p",
    "cg_residual(alpha | r, q): r = r - alpha*q; sum rr = r*r",
    // The Chebyshev iteration: r is the residual, z the direction, d the inverse diagonal. x lags by z, so that a
    // beginning leaves it alone and the last step moves it twice and keeps no other vector; where x and r are those of
    // a beginning from zero, zero and the right-hand side stand for them. A restart overwrites the image of x.
    "chebyshev_start(a, b | d, right, z): z = b*(d*right)",
    "chebyshev_restart(a, b | d, right, r, z): r = right - r; z = b*(d*r)",
    "chebyshev_step(a, b | d, image, r, z, x): x = x + z; r = r - image; z = b*(d*r) + a*z",
    "chebyshev_first_step(a, b | d, image, right, r, z, x): x = z; r = right - image; z = b*(d*r) + a*z",
    "chebyshev_last_step(a, b | d, image, r, z, x): x = x + z + (b*(d*(r - image)) + a*z)",
    // The second one of two steps finds d*r in the direction of the first one, so that nobody keeps r.
    "chebyshev_restart_of_two(a, b | d, right, z): z = b*(d*(right - z))",
    "chebyshev_second_of_two(a, b | d, image, z, x): x = x + (a*z - b*(d*image))",
    "chebyshev_second_from_zero(a, b | d, image, z, x): x = a*z - b*(d*image)",
    "chebyshev_correct(a, b | d, right, image, x): x = x + b*(d*(right - image))",
    // Minimal residuals: image is A z and becomes M^-1 next.
    "lanczos(a, b | image, v, next): next = image - a*v - b*next",
    "lanczos_identity(a, b | image, v, next): next = image - a*v - b*next; image = next; sum product = next*next",
    "lanczos_scaled(a, b | image, v, next, d):"
    " next = image - a*v - b*next; image = d*next; sum product = image*next",
    "minres_update(au, b, c, step, kept, added | z, v, w, next, x, r):"
    " next = (z - c*next - b*w)/au; x = x + step*next; r = kept*r + added*v; sum rr = r*r",
};

} // namespace rafter::solvers
