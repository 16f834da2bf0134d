# SPDX-License-Identifier: BSD-3-Clause
"""Demos of Firedrake, with their lines for mesh, space and solve changed."""

import basix.ufl
import numpy as np
import pytest
import rafter
import scipy.linalg
import scipy.sparse
import skfem
import ufl
from beside_scikit_fem import difference, newton, twin
from skfem.helpers import div, dot, mul
from skfem.models.poisson import laplace, mass, vector_laplace
from ufl import dx, ds, grad, inner


def square(n, kind=skfem.MeshTri):
    """The unit square of scikit-fem with the names left, right, bottom and top."""
    return kind.init_tensor(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1)).with_defaults()


def test_helmholtz():
    """The Helmholtz equation with natural conditions and a load that is interpolated. Compared with scikit-fem."""
    mesh = square(10)
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "CG", 1)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh)
    f = rafter.Function(V).interpolate((1 + 8 * ufl.pi**2) * ufl.cos(2 * ufl.pi * x[0]) * ufl.cos(2 * ufl.pi * x[1]))
    uh = rafter.Function(V, name="u")
    rafter.solve((inner(grad(u), grad(v)) + inner(u, v)) * dx == inner(f, v) * dx, uh)

    basis = skfem.Basis(mesh, skfem.ElementTriP1())
    M = mass.assemble(basis)
    load = (1 + 8 * np.pi**2) * np.cos(2 * np.pi * basis.doflocs).prod(axis=0)
    assert difference(basis, uh, skfem.solve(laplace.assemble(basis) + M, M @ load)) < 1e-9


def test_burgers():
    """Burgers' equation by implicit steps. Each of three steps is compared with Newton's method of scikit-fem."""
    n, nu = 8, 1e-2
    mesh, timestep = square(n), 1.0 / n
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "CG", 2, shape=(2,))
    u_, u, v, x = rafter.Function(V), rafter.Function(V, name="u"), ufl.TestFunction(V), ufl.SpatialCoordinate(msh)
    u.interpolate(ufl.as_vector([ufl.sin(ufl.pi * x[0]), 0]))
    F = (inner((u - u_) / timestep, v) + inner(ufl.dot(u, ufl.nabla_grad(u)), v) + nu * inner(grad(u), grad(v))) * dx
    problem = rafter.Problem(F == 0, u, newton={"rtol": 1e-12})

    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=5)
    M, K = skfem.BilinearForm(lambda u, v, w: dot(u, v)).assemble(basis), vector_laplace.assemble(basis)
    convection = skfem.LinearForm(lambda v, w: dot(mul(w.u.grad, w.u), v))
    of_convection = skfem.BilinearForm(lambda d, v, w: dot(mul(w.u.grad, d) + mul(d.grad, w.u), v))
    A = M / timestep + nu * K
    at = np.where(np.arange(basis.N) % 2 == 0, np.sin(np.pi * basis.doflocs[0]), 0.0)
    for _ in range(3):
        u_.values = u.values
        problem.solve()
        before = M @ at / timestep
        at = newton(lambda y: A @ y - before + convection.assemble(basis, u=y), lambda y: A + of_convection.assemble(basis, u=y), at, [])
        assert difference(basis, u, at) < 1e-9


def test_linear_wave_equation():
    """Waves that one side of a square makes, by a symplectic method with a lumped mass. Compared with scikit-fem, and with a solve for each step."""
    mesh, dt, steps = square(10), 0.01, 40
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 1)
    p, phi, v = rafter.Function(V, name="p"), rafter.Function(V, name="phi"), ufl.TestFunction(V)
    lumped, push, side = rafter.assemble(v * dx), inner(grad(v), grad(phi)) * dx, V.nodes[:, 0] == 0
    phi.interpolate(lambda x: np.exp(-10 * x[0]))

    basis = skfem.Basis(mesh, skfem.ElementTriP1())
    K, scale = laplace.assemble(basis), mass.assemble(basis).sum(axis=1).A1
    pressure, potential, there = basis.zeros(), np.exp(-10 * basis.doflocs[0]), basis.get_dofs("left")
    for step in range(steps):
        wave = np.sin(2 * np.pi * 5 * step * dt)
        phi.values -= dt / 2 * p.values
        p.values += dt * rafter.assemble(push) / lumped
        p.values[side] = wave
        phi.values -= dt / 2 * p.values
        potential -= dt / 2 * pressure
        pressure += dt * (K @ potential) / scale
        pressure[there] = wave
        potential -= dt / 2 * pressure
    assert difference(basis, p, pressure) < 1e-9
    assert difference(basis, phi, potential) < 1e-9


def test_camassa_holm():
    """Two peaks on a circle: the midpoint rule keeps the energy, which is an invariant of the discrete equations."""
    alpha, dt = 1.0, 0.1
    msh = rafter.box([100], [40.0]).periodic(("xmin", "xmax"))
    P1 = basix.ufl.element("Lagrange", "interval", 1)
    W, V = rafter.FunctionSpace(msh, basix.ufl.mixed_element([P1, P1])), rafter.FunctionSpace(msh, P1)
    w0, w1, x = rafter.Function(W), rafter.Function(W, name="w"), ufl.SpatialCoordinate(msh)
    peak = lambda size, at: size * 2 / (ufl.exp(x[0] - at) + ufl.exp(at - x[0]))  # noqa: E731
    u, m, p, q = rafter.Function(V), rafter.Function(V), ufl.TestFunction(V), ufl.TrialFunction(V)
    u.interpolate(peak(0.2, 403.0 / 15) + peak(0.5, 203.0 / 15))
    rafter.solve(p * q * dx == (p * u + alpha**2 * p.dx(0) * u.dx(0)) * dx, m)
    w1.parts[0].values[:], w1.parts[1].values[:] = m.values, u.values
    p, q = ufl.TestFunctions(W)
    (m1, u1), (m0, u0) = ufl.split(w1), ufl.split(w0)
    mh, uh = (m1 + m0) / 2, (u1 + u0) / 2
    F = (q * u1 + alpha**2 * q.dx(0) * u1.dx(0) - q * m1) * dx + (p * (m1 - m0) + dt * (p * uh.dx(0) * mh - p.dx(0) * uh * mh)) * dx
    problem = rafter.Problem(F == 0, w1, newton={"rtol": 1e-13})
    energy = (u1**2 + alpha**2 * u1.dx(0) ** 2) * dx
    start, before = rafter.assemble(energy), u.copy()
    for _ in range(10):
        for part, old in zip(w1.parts, w0.parts):
            old.values[:] = part.values
        problem.solve()
        assert rafter.assemble(energy) == pytest.approx(start, rel=1e-11)
    assert np.abs(w1.parts[1].values - before.values).max() > 0.05  # they moved


def test_oceanic_basin_modes():
    """Rossby waves of a basin, a generalized problem of eigenvalues. Compared with the matrices of scikit-fem."""
    mesh, beta, froude = square(5), 1.0, 1.0
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "CG", 2)
    phi, psi = ufl.TestFunction(V), ufl.TrialFunction(V)
    bc = rafter.DirichletBC(V, 0.0)
    A = rafter.Operator(beta * phi * psi.dx(0) * dx, bc)
    M = rafter.Operator(-inner(grad(psi), grad(phi)) * dx - froude * psi * phi * dx, bc)
    free = np.setdiff1d(np.arange(A.shape[0]), A.constrained)
    inside = lambda matrix, free: matrix[free][:, free].toarray()  # noqa: E731
    found = scipy.linalg.eigvals(inside(A.to_csr(), free), inside(M.to_csr(), free))

    basis = skfem.Basis(mesh, skfem.ElementTriP2())
    free = basis.complement_dofs(basis.get_dofs())
    drift = skfem.BilinearForm(lambda u, v, w: beta * v * u.grad[0]).assemble(basis)
    expected = scipy.linalg.eigvals(inside(drift, free), inside(-laplace.assemble(basis) - froude * mass.assemble(basis), free))
    assert np.abs(found.real).max() < 1e-12  # waves, which do not decay
    assert np.sort(found.imag) == pytest.approx(np.sort(expected.imag), rel=0, abs=1e-9 * np.abs(expected).max())


def test_wind_driven_gyre():
    """Stommel's linear gyre, with elements of degree 3. Compared with scikit-fem, with rules of degree 19 in both."""
    mesh, beta, F, r, tau = square(6), 1.0, 1.0, 0.2, 0.001
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "CG", 3)
    x, phi, psi = ufl.SpatialCoordinate(msh), ufl.TestFunction(V), ufl.TrialFunction(V)
    wind = -tau * ufl.cos(ufl.pi * (x[1] - 0.5))
    a = -r * inner(grad(psi), grad(phi)) * dx - F * psi * phi * dx + beta * psi.dx(0) * phi * dx
    uh = rafter.Function(V, name="psi")
    rafter.solve(a == wind * phi * dx(degree=19), uh, bcs=rafter.DirichletBC(V, 0.0))

    basis = skfem.Basis(mesh, skfem.ElementTriP3(), intorder=19)
    K = -r * laplace.assemble(basis) - F * mass.assemble(basis) + skfem.BilinearForm(lambda u, v, w: beta * v * u.grad[0]).assemble(basis)
    load = skfem.LinearForm(lambda v, w: -tau * np.cos(np.pi * (w.x[1] - 0.5)) * v).assemble(basis)
    assert difference(basis, uh, skfem.solve(*skfem.condense(K, load, D=basis.get_dofs()))) < 1e-9


def test_rayleigh_benard():
    """Convection between a warm and a cold wall, with the pressure held at one facet. Compared with Newton's method of scikit-fem."""
    mesh, Ra, Pr = square(5), 200.0, 6.8
    msh = twin(mesh)
    V, Q = rafter.FunctionSpace(msh, "CG", 2, shape=(2,)), rafter.FunctionSpace(msh, "CG", 1)
    Z = ufl.MixedFunctionSpace(V, Q, Q)
    v, q, S = ufl.TestFunctions(Z)
    u, p, T = rafter.Function(V, name="u"), rafter.Function(Q, name="p"), rafter.Function(Q, name="T")
    g = rafter.Constant(msh, (0.0, -1.0))
    F = (inner(grad(u), grad(v)) + inner(ufl.dot(grad(u), u), v) - inner(p, ufl.div(v)) + Ra / Pr * inner(T * g, v) + inner(ufl.div(u), q)
         + inner(ufl.dot(grad(T), u), S) + 1 / Pr * inner(grad(T), grad(S))) * dx
    bcs = [rafter.DirichletBC(V, (0.0, 0.0)), rafter.DirichletBC(Q, 1.0, tags="left", part=2), rafter.DirichletBC(Q, 0.0, tags="right", part=2),
           rafter.DirichletBC(Q, 0.0, where=lambda x: x[0] < 1e-9 and x[1] < 0.21, part=1)]
    rafter.solve(F == 0, [u, p, T], bcs, newton={"rtol": 1e-12})

    velocity = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=5)
    scalar = velocity.with_element(skfem.ElementTriP1())
    A, K = vector_laplace.assemble(velocity), laplace.assemble(scalar)
    B = skfem.BilinearForm(lambda u, q, w: div(u) * q).assemble(velocity, scalar)
    buoyancy = skfem.BilinearForm(lambda T, v, w: -Ra / Pr * T * v[1]).assemble(scalar, velocity)
    linear = scipy.sparse.bmat([[A, -B.T, buoyancy], [B, None, None], [None, None, K / Pr]], "csr")
    of_velocity, of_temperature = np.arange(velocity.N), velocity.N + scalar.N + np.arange(scalar.N)
    fields = lambda y: {"u": velocity.interpolate(y[of_velocity]), "T": scalar.interpolate(y[of_temperature])}  # noqa: E731
    carry = skfem.LinearForm(lambda v, w: dot(mul(w.u.grad, w.u), v)), skfem.LinearForm(lambda S, w: dot(w.T.grad, w.u) * S)
    of_carry = (skfem.BilinearForm(lambda d, v, w: dot(mul(w.u.grad, d) + mul(d.grad, w.u), v)),
                skfem.BilinearForm(lambda d, S, w: dot(w.T.grad, d) * S), skfem.BilinearForm(lambda d, S, w: dot(d.grad, w.u) * S))

    def residual(y):
        of = fields(y)
        return linear @ y + np.concatenate([carry[0].assemble(velocity, **of), scalar.zeros(), carry[1].assemble(scalar, **of)])

    def tangent(y):
        of = fields(y)
        return linear + scipy.sparse.bmat([[of_carry[0].assemble(velocity, **of), None, None], [None, 0 * K, None],
                                           [of_carry[1].assemble(velocity, scalar, **of), None, of_carry[2].assemble(scalar, **of)]], "csr")

    start = np.zeros(linear.shape[0])
    start[of_temperature[scalar.get_dofs("left")]] = 1.0
    corner = np.flatnonzero((scalar.doflocs[0] < 1e-9) & (scalar.doflocs[1] < 0.21))
    fixed = np.concatenate([velocity.get_dofs().all(), velocity.N + corner, of_temperature[scalar.get_dofs({"left", "right"})]])
    expected = newton(residual, tangent, start, fixed)
    assert difference(velocity, u, expected[of_velocity]) < 1e-9
    assert difference(scalar, p, expected[velocity.N:velocity.N + scalar.N]) < 1e-9
    assert difference(scalar, T, expected[of_temperature]) < 1e-9


def test_geometric_multigrid():
    """Poisson's equation with the hierarchy of meshes that refinement makes. Compared with a direct solve of scikit-fem."""
    coarse = square(4)
    mesh, msh = coarse.refined(2), twin(coarse).refined(2)
    V = rafter.FunctionSpace(msh, "CG", 2)
    u, v, x, uh = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh), rafter.Function(V, name="u")
    f = rafter.Function(V).interpolate(-0.5 * ufl.pi**2 * (4 * ufl.cos(ufl.pi * x[0]) - 5 * ufl.cos(ufl.pi * x[0] * 0.5) + 2)
                                       * ufl.sin(ufl.pi * x[1]))
    solution = rafter.solve(inner(grad(u), grad(v)) * dx == -f * v * dx, uh, rafter.DirichletBC(V, 0.0),
                            solver={"method": "cg", "preconditioner": "multigrid", "rtol": 1e-12})
    assert solution.iterations < 25

    basis = skfem.Basis(mesh, skfem.ElementTriP2())
    x, y = np.pi * basis.doflocs
    load = mass.assemble(basis) @ (0.5 * np.pi**2 * (4 * np.cos(x) - 5 * np.cos(x / 2) + 2) * np.sin(y))
    assert difference(basis, uh, skfem.solve(*skfem.condense(laplace.assemble(basis), load, D=basis.get_dofs()))) < 1e-9


def test_monge_ampere():
    """det(D^2 u) = f with the matrix of second derivatives as an unknown: the solution is a cubic, which is in the space."""
    msh = rafter.box([3, 3], shape="triangle")
    P3 = basix.ufl.element("Lagrange", "triangle", 3)
    W = rafter.FunctionSpace(msh, basix.ufl.mixed_element([P3, basix.ufl.element("Lagrange", "triangle", 3, shape=(2, 2))]))
    x, n = ufl.SpatialCoordinate(msh), ufl.FacetNormal(msh)
    exact = x[0] ** 2 + x[1] ** 2 + 0.5 * x[0] * x[1] + x[0] ** 3 / 6
    f = 2 * (2 + x[0]) - 0.25
    w, (v, tau) = rafter.Function(W, name="w"), ufl.TestFunctions(W)
    u, sigma = ufl.split(w)
    w.parts[0].interpolate(lambda x: (x[0] ** 2 + x[1] ** 2) / 2)
    w.parts[1].interpolate([1.0, 0.0, 0.0, 1.0])
    F = inner(sigma, tau) * dx + inner(ufl.div(tau), grad(u)) * dx - inner(ufl.dot(tau, n), grad(u)) * ds - (ufl.det(sigma) - f) * v * dx
    rafter.solve(F == 0, w, rafter.DirichletBC(W.sub(0), exact), newton={"rtol": 1e-13})
    points = np.random.default_rng(4).random((20, 2))
    x, y = points.T
    assert w.parts[0](points) == pytest.approx(x**2 + y**2 + x * y / 2 + x**3 / 6, rel=0, abs=1e-10)
    half = np.full(20, 0.5)
    assert w.parts[1](points).reshape(20, 4).T == pytest.approx(np.array([2 + x, half, half, 2 + 0 * x]), rel=0, abs=1e-9)
