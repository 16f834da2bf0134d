// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

/// These problem files use every key.
namespace rafter::test {

inline const std::string beam_problem = R"TOML(title = "Two-material beam"

[mesh]
box = { cells = [8, 2, 1], size = [8, 2.0, 1], shape = "hexahedron" }
refine = 2
degree = 2

[numerics]
quadrature = "gll"
points = "p+1"
max_degree = 20

[fields.u]
components = 3
degree = 4
family = "Lagrange"

[coefficients]
lambda = { by_tag = { 1 = 50.0, 2 = 1 } }
mu = { by_tag = { stiff = 50.0, 02 = 1.0 } }
pull = [0.0, 0.0, -1.0e-2]
f = "3*pi**2*sin(pi*x[0])"
g = ["x[0]", 0, "x[1]"]
K = [[1, 0.5], [0.5, 2]]
rho = 7

[definitions]
strain = "sym(grad(u))"
"stress(w, k)" = "2*k*sym(grad(w))"

[forms]
a = "inner(lambda*div(u)*Identity(3) + stress(u, mu), sym(grad(v)))*dx"
L = """
inner(pull, v)*ds(2)
 + inner(g, v)*dx"""

[[dirichlet]]
field = "u"
tags = [1, "clamped"]
value = [0.0, "x[0]", 1]

[[dirichlet]]
tags = "all"
components = [2, 0]
value = ["sin(x[0])", 0]

[[constraint]]
field = "u"
point = [8.0, 1, 0.5]
value = [0.0, 1, -2.5]

[solver]
method = "gmres"
preconditioner = "chebyshev"
rtol = 1.0e-6
atol = 1e-12
max_iterations = 500
fused = false
restart = 30
side = "left"
chebyshev = { degree = 5, eigenvalue_ratio = 20.0, safety_factor = 1.2, estimate_iterations = 15 }

[functionals]
energy = "0.5*inner(u, u)*dx"

[check]
u = ["0", "x[0]", 0.5]
max_l2_error = 1.0e-8
max_h1_error = 1e-6

[output]
file = "beam.vtkhdf"
)TOML";

/// This is the smallest problem that is accepted.
inline const std::string small_problem = R"TOML([mesh]
box = { cells = [4, 4] }
[fields.u]
[forms]
a = "inner(grad(u), grad(v))*dx"
)TOML";

} // namespace rafter::test
