# SPDX-License-Identifier: BSD-3-Clause
"""Demos of DOLFINx and of its tutorial, with their lines for mesh, space and solve changed."""

import basix.ufl
import numpy as np
import pytest
import rafter
import scipy.sparse
import skfem
import ufl
from beside_scikit_fem import difference, newton, twin, values
from skfem.helpers import ddot, det, div, dot, eye, inv, mul, sym_grad, trace, transpose
from skfem.models.poisson import laplace, mass, vector_laplace
from ufl import ds, dx, grad, inner


def rectangle(width, height, nx, ny, kind=skfem.MeshTri):
    """A rectangle of scikit-fem with the names left, right, bottom and top."""
    return kind.init_tensor(np.linspace(0, width, nx + 1), np.linspace(0, height, ny + 1)).with_defaults()


def test_cahn_hilliard():
    """The demo of DOLFINx: mass is kept and the free energy falls."""
    lmbda, theta = 1.0e-2, 0.5
    msh = rafter.box([24, 24], shape="triangle")
    P1 = basix.ufl.element("Lagrange", "triangle", 1)
    ME = rafter.FunctionSpace(msh, basix.ufl.mixed_element([P1, P1]))
    dt = rafter.Constant(msh, 5.0e-6)
    q, v = ufl.TestFunctions(ME)
    u, u0 = rafter.Function(ME, name="u"), rafter.Function(ME)
    c, mu = ufl.split(u)
    c0, mu0 = ufl.split(u0)
    generator = np.random.default_rng(30)
    u.parts[0].values[:] = 0.63 + 0.02 * (0.5 - generator.random(u.parts[0].values.size))
    c = ufl.variable(c)
    f = 100 * c**2 * (1 - c) ** 2
    dfdc = ufl.diff(f, c)
    mu_mid = (1.0 - theta) * mu0 + theta * mu
    F0 = inner(c, q) * dx - inner(c0, q) * dx + dt * inner(grad(mu_mid), grad(q)) * dx
    F1 = inner(mu, v) * dx - inner(dfdc, v) * dx - lmbda * inner(grad(c), grad(v)) * dx
    problem = rafter.Problem(F0 + F1 == 0, u, newton={"rtol": 1e-10})
    mass, energy = u[0] * dx, (100 * u[0] ** 2 * (1 - u[0]) ** 2 + lmbda / 2 * inner(grad(u[0]), grad(u[0]))) * dx
    masses, energies = [rafter.assemble(mass)], [rafter.assemble(energy)]
    for _ in range(4):
        for part, before in zip(u.parts, u0.parts):
            before.values[:] = part.values
        problem.solve()
        masses.append(rafter.assemble(mass))
        energies.append(rafter.assemble(energy))
    assert masses == pytest.approx([masses[0]] * 5, rel=1e-10)
    assert all(after < before for before, after in zip(energies, energies[1:]))


def test_poisson():
    """The Poisson demo: a peak of heat and a flux that is a sine. Compared with scikit-fem, with rules of degree 19 in both."""
    mesh = rectangle(2.0, 1.0, 32, 16)
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 1)
    u, v, x, uh = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh), rafter.Function(V, name="u")
    f = 10 * ufl.exp(-((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2) / 0.02)
    g = ufl.sin(5 * x[0])
    bc = rafter.DirichletBC(V, 0.0, where=lambda x: np.isclose(x[0], 0.0) or np.isclose(x[0], 2.0))
    rafter.solve(inner(grad(u), grad(v)) * dx == inner(f, v) * dx(degree=19) + inner(g, v) * ds(degree=19), uh, bcs=[bc])

    basis, boundary = skfem.Basis(mesh, skfem.ElementTriP1(), intorder=19), skfem.FacetBasis(mesh, skfem.ElementTriP1(), intorder=19)
    load = skfem.LinearForm(lambda v, w: 10 * np.exp(-((w.x[0] - 0.5) ** 2 + (w.x[1] - 0.5) ** 2) / 0.02) * v).assemble(basis)
    flux = skfem.LinearForm(lambda v, w: np.sin(5 * w.x[0]) * v).assemble(boundary)
    expected = skfem.solve(*skfem.condense(laplace.assemble(basis), load + flux, D=basis.get_dofs({"left", "right"})))
    assert difference(basis, uh, expected) < 1e-9


@pytest.mark.parametrize("is_nested", [False, True])
def test_stokes_with_taylor_hood_elements(is_nested):
    """The Stokes demo, a cavity with a lid, as one mixed element and as blocks. Compared with scikit-fem, pressures up to a constant."""
    mesh = rectangle(1.0, 1.0, 6, 6)
    msh = twin(mesh)
    P2, P1 = basix.ufl.element("Lagrange", "triangle", 2, shape=(2,)), basix.ufl.element("Lagrange", "triangle", 1)
    if is_nested:
        V, Q = rafter.FunctionSpace(msh, P2), rafter.FunctionSpace(msh, P1)
        W, unknowns = ufl.MixedFunctionSpace(V, Q), [rafter.Function(V, name="u"), rafter.Function(Q, name="p")]
    else:
        W = rafter.FunctionSpace(msh, basix.ufl.mixed_element([P2, P1]))
        V, unknowns = W.sub(0), [rafter.Function(W, name="up")]
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    a = (inner(grad(u), grad(v)) - inner(p, ufl.div(v)) - inner(ufl.div(u), q)) * dx
    bcs = [rafter.DirichletBC(V, (1.0, 0.0), tags="top"), rafter.DirichletBC(V, (0.0, 0.0), tags=["left", "right", "bottom"])]
    rafter.solve(a == 0, unknowns, bcs, null_space=rafter.NullSpace(1, mean=0.0))
    uh, ph = (part for unknown in unknowns for part in unknown.parts)

    velocity = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=4)
    pressure = skfem.Basis(mesh, skfem.ElementTriP1(), intorder=4)
    B = skfem.BilinearForm(lambda u, q, w: -div(u) * q).assemble(velocity, pressure)
    at = np.zeros(velocity.N + pressure.N)
    at[velocity.get_dofs("top").all("u^1")] = 1.0
    at[velocity.get_dofs({"left", "right", "bottom"})] = 0.0
    fixed = np.append(velocity.get_dofs(), velocity.N)  # and the first value of the pressure
    K = scipy.sparse.bmat([[vector_laplace.assemble(velocity), B.T], [B, None]], "csr")
    at = skfem.solve(*skfem.condense(K, np.zeros(len(at)), x=at, D=fixed))
    assert difference(velocity, uh, at[:velocity.N]) < 1e-9
    found, expected = values(pressure, ph), at[velocity.N:]
    assert np.abs(found - found.mean() - expected + expected.mean()).max() < 1e-9 * np.ptp(expected)


def test_hyperelasticity():
    """The hyperelastic beam: a neo-Hookean body that a force and a traction bend. Compared with Newton's method of scikit-fem."""
    mesh = skfem.MeshTet.init_tensor(np.linspace(0, 2, 5), np.linspace(0, 1, 3), np.linspace(0, 1, 3)).with_defaults()
    msh = twin(mesh)
    mu, lmbda = 10 / (2 * 1.3), 10 * 0.3 / (1.3 * 0.4)
    V = rafter.FunctionSpace(msh, "Lagrange", 1, shape=(3,))
    u, v = rafter.Function(V, name="u"), ufl.TestFunction(V)
    B, T = rafter.Constant(msh, (0.0, -0.5, 0.0)), rafter.Constant(msh, (0.1, 0.0, 0.2))
    F = ufl.variable(ufl.Identity(3) + grad(u))
    J = ufl.det(F)
    psi = mu / 2 * (ufl.tr(F.T * F) - 3) - mu * ufl.ln(J) + lmbda / 2 * ufl.ln(J) ** 2
    residual = inner(ufl.diff(psi, F), grad(v)) * dx - inner(B, v) * dx - inner(T, v) * ds
    rafter.solve(residual == 0, u, [rafter.DirichletBC(V, (0, 0, 0), tags="left")], newton={"rtol": 1e-12})

    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=1)
    boundary = skfem.FacetBasis(mesh, basis.elem, intorder=1)
    load = skfem.LinearForm(lambda v, w: -0.5 * v[1]).assemble(basis)
    load += skfem.LinearForm(lambda v, w: 0.1 * v[0] + 0.2 * v[2]).assemble(boundary)

    @skfem.LinearForm
    def force(v, w):
        F = w.u.grad + eye(1.0 + 0 * w.x[0], 3)
        return ddot(mu * F + (lmbda * np.log(det(F)) - mu) * transpose(inv(F)), v.grad)

    @skfem.BilinearForm
    def stiffness(d, v, w):
        F = w.u.grad + eye(1.0 + 0 * w.x[0], 3)
        G = inv(F)
        turned = transpose(mul(mul(G, d.grad), G))
        return ddot(mu * d.grad + (mu - lmbda * np.log(det(F))) * turned + lmbda * trace(mul(G, d.grad)) * transpose(G), v.grad)

    expected = newton(lambda y: force.assemble(basis, u=y) - load, lambda y: stiffness.assemble(basis, u=y), basis.zeros(),
                      basis.get_dofs("left"))
    assert np.abs(expected).max() > 0.3  # the deformation is a large one
    assert difference(basis, u, expected) < 1e-9


def test_nonlinear_poisson():
    """Of the tutorial: -div((1 + u^2) grad u) = f, whose exact solution 1 + x + 2 y is in the space."""
    msh = rafter.box([6, 6], shape="triangle")
    x = ufl.SpatialCoordinate(msh)
    exact = 1 + x[0] + 2 * x[1]
    q = lambda u: 1 + u**2  # noqa: E731
    f = -ufl.div(q(exact) * grad(exact))
    V = rafter.FunctionSpace(msh, "Lagrange", 1)
    uh, v = rafter.Function(V, name="u"), ufl.TestFunction(V)
    bc = rafter.DirichletBC(V, lambda x: 1 + x[0] + 2 * x[1])
    rafter.solve(q(uh) * inner(grad(uh), grad(v)) * dx - f * v * dx == 0, uh, [bc], newton={"rtol": 1e-12})
    assert np.abs(uh.values - (1 + V.nodes @ [1.0, 2.0])).max() < 1e-10


def test_heat_equation():
    """Of the tutorial: 1 + x^2 + 3 y^2 + 1.2 t, which implicit steps have at the nodes exactly."""
    alpha, beta, dt = 3.0, 1.2, 0.25
    msh = rafter.box([5, 5], shape="triangle")
    V = rafter.FunctionSpace(msh, "Lagrange", 1)
    exact = lambda t: lambda x: 1 + x[0] ** 2 + alpha * x[1] ** 2 + beta * t  # noqa: E731
    u_n, uh, time = rafter.Function(V).interpolate(exact(0)), rafter.Function(V, name="u"), rafter.Constant(msh, 0.0)
    f = rafter.Constant(msh, beta - 2 - 2 * alpha)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh)
    F = u * v * dx + dt * inner(grad(u), grad(v)) * dx - (u_n + dt * f) * v * dx
    bc = rafter.DirichletBC(V, 1 + x[0] ** 2 + alpha * x[1] ** 2 + beta * time)
    problem = rafter.Problem(ufl.lhs(F) == ufl.rhs(F), uh, [bc])
    for step in range(1, 5):
        time.value = step * dt
        problem.solve()
        u_n.values = uh.values
        assert np.abs(uh.values - exact(step * dt)(V.nodes.T)).max() < 1e-11


def test_channel_flow():
    """Of the tutorial: the Navier-Stokes equations between two plates by splitting (IPCS). Each of three steps is compared with scikit-fem."""
    mesh, k, mu, rho, inlet = rectangle(1.0, 1.0, 4, 4), 0.02, 1.0, 1.0, 8.0
    msh = twin(mesh)
    V, Q = rafter.FunctionSpace(msh, "Lagrange", 2, shape=(2,)), rafter.FunctionSpace(msh, "Lagrange", 1)
    u, v, p, q = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.TrialFunction(Q), ufl.TestFunction(Q)
    u_n, u_, p_n, p_ = (rafter.Function(space, name=name) for space, name in ((V, "u_n"), (V, "u"), (Q, "p_n"), (Q, "p")))
    walls = rafter.DirichletBC(V, (0.0, 0.0), tags=["bottom", "top"])
    ends = [rafter.DirichletBC(Q, inlet, tags="left"), rafter.DirichletBC(Q, 0.0, tags="right")]
    U, n = 0.5 * (u_n + u), ufl.FacetNormal(msh)
    epsilon = lambda u: ufl.sym(ufl.nabla_grad(u))  # noqa: E731
    sigma = lambda u, p: 2 * mu * epsilon(u) - p * ufl.Identity(2)  # noqa: E731
    F1 = rho * ufl.dot((u - u_n) / k, v) * dx + rho * ufl.dot(ufl.dot(u_n, ufl.nabla_grad(u_n)), v) * dx
    F1 += inner(sigma(U, p_n), epsilon(v)) * dx + ufl.dot(p_n * n, v) * ds - ufl.dot(mu * ufl.nabla_grad(U) * n, v) * ds
    F2 = (ufl.dot(grad(p - p_n), grad(q)) + rho / k * ufl.div(u_) * q) * dx
    F3 = rho * ufl.dot(u - u_, v) * dx + k * ufl.dot(ufl.nabla_grad(p_ - p_n), v) * dx
    u_new = rafter.Function(V, name="u_new")
    steps = [rafter.Problem(ufl.lhs(F1) == ufl.rhs(F1), u_, walls), rafter.Problem(ufl.lhs(F2) == ufl.rhs(F2), p_, ends),
             rafter.Problem(ufl.lhs(F3) == ufl.rhs(F3), u_new)]

    velocity = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=5)
    pressure, boundary = velocity.with_element(skfem.ElementTriP1()), skfem.FacetBasis(mesh, velocity.elem, intorder=5)
    pressure_there = boundary.with_element(skfem.ElementTriP1())
    turned = skfem.BilinearForm(lambda u, v, w: dot(mul(transpose(u.grad), w.n), v)).assemble(boundary)
    M = skfem.BilinearForm(lambda u, v, w: dot(u, v)).assemble(velocity)
    S = skfem.BilinearForm(lambda u, v, w: 2 * mu * ddot(sym_grad(u), sym_grad(v))).assemble(velocity) - mu * turned
    convection = skfem.LinearForm(lambda v, w: rho * dot(mul(w.u.grad, w.u), v))
    push = skfem.BilinearForm(lambda p, v, w: -p * div(v)).assemble(pressure, velocity)
    push += skfem.BilinearForm(lambda p, v, w: p * dot(w.n, v)).assemble(pressure_there, boundary)
    D = skfem.BilinearForm(lambda u, q, w: div(u) * q).assemble(velocity, pressure)
    G = skfem.BilinearForm(lambda p, v, w: dot(p.grad, v)).assemble(pressure, velocity)
    K = laplace.assemble(pressure)
    at, pressure_at, fixed = velocity.zeros(), pressure.zeros(), pressure.zeros()
    fixed[pressure.get_dofs("left")] = inlet
    for _ in range(3):
        for step in steps:
            step.solve()
        u_n.values, p_n.values = u_new.values, p_.values
        between = skfem.solve(*skfem.condense(rho / k * M + S / 2, (rho / k * M - S / 2) @ at - convection.assemble(velocity, u=at)
                                              - push @ pressure_at, D=velocity.get_dofs({"bottom", "top"})))
        after = skfem.solve(*skfem.condense(K, K @ pressure_at - rho / k * D @ between, x=fixed, D=pressure.get_dofs({"left", "right"})))
        at = skfem.solve(rho * M, rho * M @ between - k * G @ (after - pressure_at))
        pressure_at = after
        assert difference(velocity, u_n, at) < 1e-9
        assert difference(pressure, p_n, pressure_at) < 1e-9


def test_deflection_of_a_membrane():
    """Of the tutorial: a round membrane under a local load. Compared with scikit-fem, with rules of degree 19 in both."""
    mesh = skfem.MeshTri.init_circle(3)
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, ("Lagrange", 2))
    beta, R0 = rafter.Constant(msh, 6.0), rafter.Constant(msh, 0.3)
    x = ufl.SpatialCoordinate(msh)
    p = 4 * ufl.exp(-(beta**2) * (x[0] ** 2 + (x[1] - R0) ** 2))
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    rafter.solve(ufl.dot(grad(u), grad(v)) * dx == p * v * dx(degree=19), uh, rafter.DirichletBC(V, 0.0))

    basis = skfem.Basis(mesh, skfem.ElementTriP2(), intorder=19)
    load = skfem.LinearForm(lambda v, w: 4 * np.exp(-36 * (w.x[0] ** 2 + (w.x[1] - 0.3) ** 2)) * v).assemble(basis)
    expected = skfem.solve(*skfem.condense(laplace.assemble(basis), load, D=basis.get_dofs()))
    assert difference(basis, uh, expected) < 1e-9


def test_dirichlet_neumann_and_robin_conditions():
    """Of the tutorial: conditions of three kinds on the sides of a square, with the solution 1 + x^2 + 2 y^2, which is in the space."""
    msh = rafter.box([4, 4], shape="triangle")
    x, n = ufl.SpatialCoordinate(msh), ufl.FacetNormal(msh)
    exact = 1 + x[0] ** 2 + 2 * x[1] ** 2
    f, g, kappa, r = -ufl.div(grad(exact)), -ufl.dot(n, grad(exact)), rafter.Constant(msh, 1.0), rafter.Constant(msh, 1000.0)
    s = exact - g / r
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    F = kappa * inner(grad(u), grad(v)) * dx - inner(f, v) * dx
    F += inner(g, v) * ds(msh.tags("ymax")) + r * inner(u - s, v) * ds(msh.tags("ymin"))
    bcs = [rafter.DirichletBC(V, lambda x: 1 + x[0] ** 2 + 2 * x[1] ** 2, tags=tag) for tag in ("xmin", "xmax")]
    rafter.solve(ufl.lhs(F) == ufl.rhs(F), uh, bcs)
    assert np.abs(uh.values - 1 - V.nodes**2 @ [1.0, 2.0]).max() < 1e-10


def test_subdomains():
    """Of the tutorial: a coefficient that jumps, as a function of cells and by tags. Compared with scikit-fem."""
    mesh = rectangle(1.0, 1.0, 6, 6).with_subdomains({"lower": lambda x: x[1] < 0.5, "upper": lambda x: x[1] > 0.5})
    msh = twin(mesh)
    V, Q = rafter.FunctionSpace(msh, "Lagrange", 2), rafter.FunctionSpace(msh, "DG", 0)
    by_cells = rafter.Function(Q)
    by_cells.values[:] = np.where(Q.nodes[:, 1] < 0.5, 1.0, 0.1)
    x, u, v = ufl.SpatialCoordinate(msh), ufl.TrialFunction(V), ufl.TestFunction(V)

    basis = skfem.Basis(mesh, skfem.ElementTriP2(), intorder=4)
    diffusion = skfem.BilinearForm(lambda u, v, w: np.where(w.x[1] < 0.5, 1.0, 0.1) * dot(u.grad, v.grad)).assemble(basis)
    at = basis.zeros()
    at[basis.get_dofs("left")] = 1.0
    load = skfem.LinearForm(lambda v, w: w.x[0] * v).assemble(basis)
    expected = skfem.solve(*skfem.condense(diffusion, load, x=at, D=basis.get_dofs("left")))
    for kappa in by_cells, rafter.by_tag(msh, {"lower": 1.0, "upper": 0.1}):
        uh = rafter.Function(V, name="u")
        rafter.solve(inner(kappa * grad(u), grad(v)) * dx == x[0] * v * dx, uh, rafter.DirichletBC(V, 1.0, tags="left"))
        assert difference(basis, uh, expected) < 1e-9


def test_conditions_by_component():
    """Of the tutorial: a heavy block that is clamped below, one component of which is fixed on a side. Compared with scikit-fem."""
    mesh, mu, lmbda = rectangle(1.0, 1.3, 5, 7), 1.0, 1.25
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, ("Lagrange", 1, (2,)))
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    epsilon = lambda u: ufl.sym(grad(u))  # noqa: E731
    sigma = lambda u: lmbda * ufl.div(u) * ufl.Identity(2) + 2 * mu * epsilon(u)  # noqa: E731
    bcs = [rafter.DirichletBC(V, (0.0, 0.0), tags="bottom"), rafter.DirichletBC(V.sub(0), 0.0, tags="right")]
    rafter.solve(inner(sigma(u), epsilon(v)) * dx == ufl.dot(rafter.Constant(msh, (0.0, -9.8)), v) * dx, uh, bcs)

    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP1()), intorder=2)
    stiffness = skfem.BilinearForm(lambda u, v, w: 2 * mu * ddot(sym_grad(u), sym_grad(v)) + lmbda * div(u) * div(v)).assemble(basis)
    load = skfem.LinearForm(lambda v, w: -9.8 * v[1]).assemble(basis)
    fixed = np.union1d(basis.get_dofs("bottom"), basis.get_dofs("right").all("u^1"))
    assert difference(basis, uh, skfem.solve(*skfem.condense(stiffness, load, D=fixed))) < 1e-9


def test_helmholtz():
    """The Helmholtz demo with real numbers and elements of degree 4. Compared with scikit-fem, with rules of degree 19 in both."""
    mesh, k0 = rectangle(1.0, 1.0, 8, 8), 10.0
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, ("Lagrange", 4))
    x, u, v, uh = ufl.SpatialCoordinate(msh), ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    f = k0**2 * ufl.cos(k0 * x[0]) * ufl.cos(k0 * x[1])
    rafter.solve(inner(grad(u), grad(v)) * dx - k0**2 * inner(u, v) * dx == inner(f, v) * dx(degree=19), uh)

    basis = skfem.Basis(mesh, skfem.ElementTriP4(), intorder=19)
    K, M = laplace.assemble(basis), mass.assemble(basis)
    load = skfem.LinearForm(lambda v, w: k0**2 * np.cos(k0 * w.x[0]) * np.cos(k0 * w.x[1]) * v).assemble(basis)
    assert difference(basis, uh, skfem.solve(K - k0**2 * M, load)) < 1e-9


def test_elastic_beam():
    """Of the tutorial: a clamped beam under its weight, of hexahedra. Compared with scikit-fem, and its stress with the one that is assembled."""
    mesh, mu, lmbda, weight = skfem.MeshHex.init_tensor(np.linspace(0, 1, 7), *[np.linspace(0, 0.2, 3)] * 2).with_defaults(), 1.0, 1.25, 0.016
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 1, shape=(3,))
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    epsilon = lambda u: ufl.sym(grad(u))  # noqa: E731
    sigma = lambda u: lmbda * ufl.nabla_div(u) * ufl.Identity(len(u)) + 2 * mu * epsilon(u)  # noqa: E731
    f, T = rafter.Constant(msh, (0.0, 0.0, -weight)), rafter.Constant(msh, (0.0, 0.0, 0.0))
    rafter.solve(inner(sigma(u), epsilon(v)) * dx == ufl.dot(f, v) * dx + ufl.dot(T, v) * ds, uh, rafter.DirichletBC(V, (0, 0, 0), tags="left"))

    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementHex1()), intorder=3)
    stiffness = skfem.BilinearForm(lambda u, v, w: 2 * mu * ddot(sym_grad(u), sym_grad(v)) + lmbda * div(u) * div(v)).assemble(basis)
    load = skfem.LinearForm(lambda v, w: -weight * v[2]).assemble(basis)
    expected = skfem.solve(*skfem.condense(stiffness, load, D=basis.get_dofs("left")))
    assert difference(basis, uh, expected) < 1e-9
    s = sigma(uh) - ufl.tr(sigma(uh)) / 3 * ufl.Identity(3)
    stress = skfem.Functional(lambda w: 3 / 2 * (2 * mu) ** 2 * (ddot(sym_grad(w.u), sym_grad(w.u)) - div(w.u) ** 2 / 3))
    assert rafter.assemble(3 / 2 * inner(s, s) * dx) == pytest.approx(stress.assemble(basis, u=expected), rel=1e-9)
