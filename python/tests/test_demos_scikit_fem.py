# SPDX-License-Identifier: BSD-3-Clause
"""Examples of scikit-fem and problems like them, which scikit-fem solves on the same mesh."""

import numpy as np
import pytest
import rafter
import scipy.linalg
import scipy.optimize
import scipy.sparse.linalg
import skfem
import ufl
from beside_scikit_fem import difference, newton, twin
from skfem.helpers import ddot, div, dot, eye, sym_grad, trace
from skfem.models.poisson import laplace, mass, unit_load, vector_laplace
from ufl import ds, dx, grad, inner


def cube(n):
    return skfem.MeshTet.init_tensor(*(np.linspace(0, 1, n + 1),) * 3).with_defaults()


def test_poisson_with_a_coefficient():
    """A coefficient and a load that are polynomials, on tetrahedra of degree 2."""
    mesh = cube(4)
    msh = twin(mesh)
    basis = skfem.Basis(mesh, skfem.ElementTetP2(), intorder=6)
    load = skfem.LinearForm(lambda v, w: w.x[0] * w.x[1] * v)
    a = skfem.BilinearForm(lambda u, v, w: (1 + w.x[2]) * dot(u.grad, v.grad))
    expected = skfem.solve(*skfem.condense(a.assemble(basis), load.assemble(basis), D=basis.get_dofs("left")))
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, x, uh = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh), rafter.Function(V)
    rafter.solve((1 + x[2]) * inner(grad(u), grad(v)) * dx == x[0] * x[1] * v * dx, uh,
                 rafter.DirichletBC(V, 0.0, where=lambda x: x[0] < 1e-12))
    assert difference(basis, uh, expected) < 1e-9


def test_elasticity():
    """A cube that hangs on one side, of tetrahedra."""
    mesh, lam, mu = cube(3), 1.5, 0.7
    msh = twin(mesh)
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=2)
    a = skfem.BilinearForm(lambda u, v, w: 2 * mu * ddot(sym_grad(u), sym_grad(v)) + lam * div(u) * div(v))
    load = skfem.LinearForm(lambda v, w: -v[2])
    expected = skfem.solve(*skfem.condense(a.assemble(basis), load.assemble(basis), D=basis.get_dofs("left")))
    V = rafter.FunctionSpace(msh, "Lagrange", 1, shape=(3,))
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    eps = lambda w: ufl.sym(grad(w))  # noqa: E731
    form = (2 * mu * inner(eps(u), eps(v)) + lam * ufl.div(u) * ufl.div(v)) * dx
    rafter.solve(form == inner(ufl.as_vector((0, 0, -1.0)), v) * dx, uh, rafter.DirichletBC(V, (0, 0, 0), tags="left"))
    assert difference(basis, uh, expected) < 1e-9


def test_helmholtz_with_a_robin_condition():
    """An indefinite equation with a term on the boundary, on quadrilaterals of degree 2."""
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 1, 5), np.linspace(0, 1, 5))
    msh = twin(mesh)
    basis, facets = skfem.Basis(mesh, skfem.ElementQuad2(), intorder=6), skfem.FacetBasis(mesh, skfem.ElementQuad2(), intorder=6)
    a = skfem.BilinearForm(lambda u, v, w: dot(u.grad, v.grad) - 20.0 * u * v)
    robin = skfem.BilinearForm(lambda u, v, w: 2.0 * u * v)
    load = skfem.LinearForm(lambda v, w: w.x[0] * v)
    expected = scipy.sparse.linalg.spsolve((a.assemble(basis) + robin.assemble(facets)).tocsc(), load.assemble(basis))
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, x, uh = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh), rafter.Function(V)
    rafter.solve((inner(grad(u), grad(v)) - 20 * u * v) * dx + 2 * u * v * ds == x[0] * v * dx, uh)
    assert difference(basis, uh, expected) < 1e-9


def test_modes_of_an_elastic_beam():
    """Example 3: frequencies of a beam of quadrilaterals that is clamped at its left side."""
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 5, 16), np.linspace(0, 1, 4)).with_defaults()
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 1, shape=(2,))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    sigma = 2 * ufl.sym(grad(u)) + ufl.div(u) * ufl.Identity(2)
    bc = rafter.DirichletBC(V, (0.0, 0.0), tags="left")
    K, M = rafter.Operator(inner(sigma, ufl.sym(grad(v))) * dx, bc), rafter.Operator(inner(u, v) * dx, bc)
    free = np.setdiff1d(np.arange(K.shape[0]), K.constrained)
    found = scipy.linalg.eigvalsh(*(matrix.to_csr()[free][:, free].toarray() for matrix in (K, M)))

    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementQuad1()), intorder=2)
    stress = lambda T: 2.0 * T + eye(trace(T), 2)  # noqa: E731
    K = skfem.BilinearForm(lambda u, v, w: ddot(stress(sym_grad(u)), sym_grad(v))).assemble(basis)
    M = skfem.BilinearForm(lambda u, v, w: dot(u, v)).assemble(basis)
    free = basis.complement_dofs(basis.get_dofs("left"))
    assert found == pytest.approx(scipy.linalg.eigvalsh(*(matrix[free][:, free].toarray() for matrix in (K, M))), rel=1e-9)


def test_minimal_surface():
    """Example 10: the surface of least area over a square whose boundary is a wave."""
    mesh = skfem.MeshTri().refined(4)
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 1)
    u, v, x = rafter.Function(V, name="u"), ufl.TestFunction(V), ufl.SpatialCoordinate(msh)
    area = ufl.sqrt(1 + inner(grad(u), grad(u))) * dx
    rafter.solve(ufl.derivative(area, u, v) == 0, u, rafter.DirichletBC(V, ufl.sin(ufl.pi * x[0])), newton={"rtol": 1e-12})

    basis = skfem.Basis(mesh, skfem.ElementTriP1())
    slope = lambda w: np.sqrt(1 + dot(w.u.grad, w.u.grad))  # noqa: E731
    residual = skfem.LinearForm(lambda v, w: dot(w.u.grad, v.grad) / slope(w))
    tangent = skfem.BilinearForm(lambda d, v, w: dot(d.grad, v.grad) / slope(w) - dot(d.grad, w.u.grad) * dot(w.u.grad, v.grad) / slope(w)**3)
    start, fixed = basis.zeros(), basis.get_dofs().all()
    start[fixed] = np.sin(np.pi * basis.doflocs[0, fixed])
    expected = newton(lambda y: residual.assemble(basis, u=y), lambda y: tangent.assemble(basis, u=y), start, fixed)
    assert difference(basis, u, expected) < 1e-9
    assert rafter.assemble(area) == pytest.approx(skfem.Functional(slope).assemble(basis, u=expected), rel=1e-9)


def test_mixed_conditions_on_a_quarter_of_a_ring():
    """Example 13: conductance between the straight sides of a quarter of a ring. The currents at both are those of reactions, too."""
    mesh = skfem.MeshTri.init_tensor(np.linspace(1, 2, 5), np.linspace(0, np.pi / 2, 9)).with_boundaries(
        {"ground": lambda x: x[1] == 0, "positive": lambda x: x[1] == np.pi / 2})
    mesh = mesh.translated(mesh.p[0] * np.stack([np.cos(mesh.p[1]), np.sin(mesh.p[1])]) - mesh.p)
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, uh, n = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u"), ufl.FacetNormal(msh)
    a = inner(grad(u), grad(v)) * dx
    rafter.solve(a == 0, uh, [rafter.DirichletBC(V, 1.0, tags="positive"), rafter.DirichletBC(V, 0.0, tags="ground")])

    basis = skfem.Basis(mesh, skfem.ElementTriP2())
    A, at = laplace.assemble(basis), basis.zeros()
    at[basis.get_dofs("positive")] = 1.0
    expected = skfem.solve(*skfem.condense(A, x=at, D=basis.get_dofs({"positive", "ground"})))
    assert difference(basis, uh, expected) < 1e-9
    conductance = rafter.assemble(inner(grad(uh), grad(uh)) * dx)
    assert conductance == pytest.approx(expected @ A @ expected, rel=1e-10)
    assert conductance == pytest.approx(2 * np.log(2) / np.pi, rel=5e-3)
    reactions = rafter.assemble(ufl.action(a, uh))
    assert reactions[np.isclose(uh.values, 1.0)].sum() == pytest.approx(conductance, rel=1e-9)
    current = skfem.Functional(lambda w: dot(w.n, w.u.grad))
    for port in "ground", "positive":
        facets = skfem.FacetBasis(mesh, basis.elem, facets=port)
        assert rafter.assemble(inner(grad(uh), n) * ds(msh.tags(port))) == pytest.approx(current.assemble(facets, u=expected), rel=1e-9)


def test_legendre_equation():
    """Example 16: an equation of eigenvalues whose coefficient vanishes at the ends. Of degree 8 its solutions are polynomials of the space."""
    msh = rafter.mesh_from_arrays([[-1.0], [-0.2], [1.0]], {"interval": [[0, 1], [1, 2]]})
    V = rafter.FunctionSpace(msh, "Lagrange", 8)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh)[0]
    L, M = rafter.Operator((1 - x**2) * u.dx(0) * v.dx(0) * dx), rafter.Operator(u * v * dx)
    found = scipy.linalg.eigvalsh(L.to_csr().toarray(), M.to_csr().toarray())
    assert found[:9] == pytest.approx([n * (n + 1) for n in range(9)], rel=1e-10, abs=1e-10)


def test_insulated_wire():
    """Example 17: heat of a wire goes through its insulation. Two materials, a source in one, and a law of transfer on the perimeter."""
    radii = np.array([0.4, 1.0, 1.5, 2.0, 2.5, 3.0])
    mesh = skfem.MeshQuad.init_tensor(radii, np.linspace(0, np.pi / 2, 7)).with_boundaries({"perimeter": lambda x: x[0] == 3.0})
    mesh = mesh.with_subdomains({"core": lambda x: x[0] < 2, "annulus": lambda x: x[0] > 2})
    mesh = mesh.translated(mesh.p[0] * np.stack([np.cos(mesh.p[1]), np.sin(mesh.p[1])]) - mesh.p)
    msh, joule, transfer = twin(mesh), 5.0, 7.0
    V = rafter.FunctionSpace(msh, "Lagrange", 1)
    u, v, T = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="T")
    conductivity = rafter.by_tag(msh, {"core": 101.0, "annulus": 11.0})
    rafter.solve(conductivity * inner(grad(u), grad(v)) * dx(degree=4) + transfer * u * v * ds(msh.tags("perimeter"))
                 == joule * v * dx(msh.cell_tags("core")), T)

    basis, core = skfem.Basis(mesh, skfem.ElementQuad1(), intorder=4), skfem.Basis(mesh, skfem.ElementQuad1(), elements="core")
    of_cells = basis.with_element(skfem.ElementQuad0())
    k = np.full(of_cells.N, 11.0)
    k[of_cells.get_dofs(elements="core")] = 101.0
    K = skfem.BilinearForm(lambda u, v, w: w.k * dot(u.grad, v.grad)).assemble(basis, k=of_cells.interpolate(k))
    K += transfer * mass.assemble(skfem.FacetBasis(mesh, basis.elem, facets="perimeter"))
    assert difference(basis, T, skfem.solve(K, joule * unit_load.assemble(core))) < 1e-9


def test_stokes_flow_in_a_disk():
    """Example 18: buoyancy turns a fluid in a disk. Velocity, pressure and stream function."""
    mesh = skfem.MeshTri.init_circle(2)
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 2, shape=(2,))
    Q, S = (rafter.FunctionSpace(msh, "Lagrange", degree) for degree in (1, 2))
    W = ufl.MixedFunctionSpace(V, Q)
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    uh, ph, stream = rafter.Function(V, name="u"), rafter.Function(Q, name="p"), rafter.Function(S, name="psi")
    a = (inner(grad(u), grad(v)) - p * ufl.div(v) - q * ufl.div(u) + 1e-6 * p * q) * dx
    rafter.solve(a == ufl.SpatialCoordinate(msh)[0] * v[1] * dx, [uh, ph], rafter.DirichletBC(V, (0.0, 0.0)))
    s, t = ufl.TrialFunction(S), ufl.TestFunction(S)
    rafter.solve(inner(grad(s), grad(t)) * dx == inner(ufl.as_vector((t.dx(1), -t.dx(0))), uh) * dx, stream, rafter.DirichletBC(S, 0.0))

    velocity = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=4)
    pressure, scalar = velocity.with_element(skfem.ElementTriP1()), velocity.with_element(skfem.ElementTriP2())
    B = skfem.BilinearForm(lambda u, q, w: div(u) * q).assemble(velocity, pressure)
    K = skfem.bmat([[vector_laplace.assemble(velocity), -B.T], [-B, 1e-6 * mass.assemble(pressure)]], "csr")
    load = np.append(skfem.LinearForm(lambda v, w: w.x[0] * v[1]).assemble(velocity), pressure.zeros())
    at = skfem.solve(*skfem.condense(K, load, D=velocity.get_dofs()))
    assert difference(velocity, uh, at[:velocity.N]) < 1e-9
    assert difference(pressure, ph, at[velocity.N:]) < 1e-9
    turn = skfem.LinearForm(lambda t, w: t.grad[1] * w.u[0] - t.grad[0] * w.u[1]).assemble(scalar, u=velocity.interpolate(at[:velocity.N]))
    assert difference(scalar, stream, skfem.solve(*skfem.condense(laplace.assemble(scalar), turn, D=scalar.get_dofs()))) < 1e-9


def test_heat_equation():
    """Example 19: the first mode of a rectangle decays. Steps of Crank and Nicolson's method."""
    mesh, kappa, dt = skfem.MeshQuad.init_tensor(np.linspace(-2, 2, 6), np.linspace(-3, 3, 8)), 5.0, 0.01
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    v, old, new = ufl.TestFunction(V), rafter.Function(V), rafter.Function(V, name="T")
    mode = lambda x: np.cos(np.pi * x[0] / 4) * np.cos(np.pi * x[1] / 6)  # noqa: E731
    old.interpolate(mode)
    T = ufl.TrialFunction(V)
    F = (T - old) * v * dx + dt * kappa * inner(grad(0.5 * T + 0.5 * old), grad(v)) * dx
    problem = rafter.Problem(ufl.lhs(F) == ufl.rhs(F), new, rafter.DirichletBC(V, 0.0))

    basis = skfem.Basis(mesh, skfem.ElementQuad2())
    K, M, at = kappa * laplace.assemble(basis), mass.assemble(basis), mode(basis.doflocs)
    for _ in range(5):
        problem.solve()
        old.values = new.values
        at = skfem.solve(*skfem.condense(M + dt / 2 * K, (M - dt / 2 * K) @ at, D=basis.get_dofs()))
        assert difference(basis, new, at) < 1e-9


def test_forced_convection():
    """Example 25: a flow between plates takes their heat along."""
    mesh, peclet = skfem.MeshQuad.init_tensor(np.linspace(0, 4, 13), np.linspace(0, 0.5, 9)).with_defaults(), 100.0
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, y, T = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh)[1], rafter.Function(V, name="T")
    bcs = rafter.DirichletBC(V, 0.0, tags="left"), rafter.DirichletBC(V, 1.0, tags="bottom")
    rafter.solve(inner(grad(u), grad(v)) * dx + peclet * 6 * y * (1 - y) * u.dx(0) * v * dx == 0, T, bcs)

    basis = skfem.Basis(mesh, skfem.ElementQuad2(), intorder=6)
    K = laplace.assemble(basis)
    K += skfem.BilinearForm(lambda u, v, w: peclet * 6 * w.x[1] * (1 - w.x[1]) * u.grad[0] * v).assemble(basis)
    at = basis.zeros()
    at[basis.get_dofs("bottom")] = 1.0
    assert difference(basis, T, skfem.solve(*skfem.condense(K, x=at, D=basis.get_dofs({"left", "bottom"})))) < 1e-9


def test_hyperelasticity_that_is_almost_incompressible():
    """Example 36: a cube is pulled to half again its length. Displacement and pressure are those of the homogeneous state, by its two equations."""
    mu, lmbda, stretch = 1.0, 1e4, 1.5
    msh = rafter.box([2, 2, 2], shape="tetrahedron")
    V, Q = rafter.FunctionSpace(msh, "Lagrange", 2, shape=(3,)), rafter.FunctionSpace(msh, "Lagrange", 1)
    W = ufl.MixedFunctionSpace(V, Q)
    v, q = ufl.TestFunctions(W)
    u, p = rafter.Function(V, name="u"), rafter.Function(Q, name="p")
    F = ufl.Identity(3) + grad(u)
    Js = (lmbda + p + ufl.sqrt((lmbda + p) ** 2 + 4 * lmbda * mu)) / (2 * lmbda)
    psi = p * (ufl.det(F) - Js) + mu / 2 * (inner(F, F) - 3) - mu * ufl.ln(Js) + lmbda / 2 * (Js - 1) ** 2
    residual = ufl.derivative(psi * dx, u, v) + ufl.derivative(psi * dx, p, q)
    bcs = [rafter.DirichletBC(V.sub(i), 0.0, tags=tag) for i, tag in enumerate(("xmin", "ymin", "zmin"))]
    bcs.append(rafter.DirichletBC(V.sub(0), stretch - 1, tags="xmax"))
    p.interpolate(-mu)
    rafter.solve(residual == 0, [u, p], bcs, newton={"rtol": 1e-12})

    root = lambda p: (lmbda + p + np.sqrt((lmbda + p) ** 2 + 4 * lmbda * mu)) / (2 * lmbda)  # noqa: E731
    width, pressure = scipy.optimize.fsolve(lambda y: [mu * y[0] + y[1] * stretch * y[0], stretch * y[0] ** 2 - root(y[1])], [0.8, -0.7], xtol=1e-14)
    assert np.abs(u.at_nodes() - V.nodes * [stretch - 1, width - 1, width - 1]).max() < 1e-11
    assert p.values == pytest.approx(pressure, rel=1e-10)


def test_periodic_mesh():
    """Example 42: a source in a stream that leaves a square on one side and comes back on the other."""
    lines, peclet = np.linspace(0, 1, 9), 100.0
    msh = twin(skfem.MeshTri.init_tensor(lines, lines).with_defaults()).periodic(("left", "right"))
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, uh, x = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u"), ufl.SpatialCoordinate(msh)
    source = ufl.exp(-20 * ((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2))
    rafter.solve(inner(grad(u), grad(v)) * dx + peclet * u.dx(0) * v * dx == source * v * dx(degree=19), uh,
                 rafter.DirichletBC(V, 0.0, tags=["bottom", "top"]))

    basis = skfem.Basis(skfem.MeshTri1DG.init_tensor(lines, lines, periodic=[0]), skfem.ElementTriP2(), intorder=19)
    K = laplace.assemble(basis) + skfem.BilinearForm(lambda u, v, w: peclet * u.grad[0] * v).assemble(basis)
    load = skfem.LinearForm(lambda v, w: np.exp(-20 * ((w.x[0] - 0.5) ** 2 + (w.x[1] - 0.5) ** 2)) * v).assemble(basis)
    assert difference(basis, uh, skfem.solve(*skfem.condense(K, load, D=basis.get_dofs()))) < 1e-9


def test_curved_cells():
    """Poisson's equation on a disk of curved triangles, whose integrands are no polynomials: rules of degree 18 in both."""
    mesh = skfem.MeshTri2.init_circle(2)
    msh = twin(mesh)
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    rafter.solve(inner(grad(u), grad(v)) * dx(degree=18) == v * dx, uh, rafter.DirichletBC(V, 0.0))
    basis = skfem.Basis(mesh, skfem.ElementTriP2(), intorder=18)
    assert difference(basis, uh, skfem.solve(*skfem.condense(laplace.assemble(basis), unit_load.assemble(basis), D=basis.get_dofs()))) < 1e-9
