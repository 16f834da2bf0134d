# SPDX-License-Identifier: BSD-3-Clause
"""Demos of other packages, with their lines for mesh, space and solve changed, and problems that scikit-fem solves as well."""

import basix.ufl
import numpy as np
import pytest
import rafter
import scipy.sparse.linalg
import skfem
import skfem.helpers
import ufl
from ufl import dx, ds, grad, inner


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


def tetrahedra(n):
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, 1, n + 1),) * 3)
    return mesh, rafter.mesh_from_arrays(mesh.p.T, {"tetrahedron": mesh.t.T})


def at_points_of(basis, u, component=None):
    """Values of a function at the degrees of freedom of scikit-fem."""
    found = u(np.ascontiguousarray(basis.doflocs.T))
    return found if component is None else found[np.arange(len(found)), component]


def test_poisson_as_scikit_fem_solves_it():
    mesh, msh = tetrahedra(4)
    basis = skfem.Basis(mesh, skfem.ElementTetP2(), intorder=6)
    load = skfem.LinearForm(lambda v, w: w.x[0] * w.x[1] * v)
    a = skfem.BilinearForm(lambda u, v, w: (1 + w.x[2]) * skfem.helpers.dot(u.grad, v.grad))
    expected = skfem.solve(*skfem.condense(a.assemble(basis), load.assemble(basis), D=basis.get_dofs(lambda x: x[0] == 0)))
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, x, uh = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh), rafter.Function(V)
    rafter.solve((1 + x[2]) * inner(grad(u), grad(v)) * dx == x[0] * x[1] * v * dx, uh,
                 rafter.DirichletBC(V, 0.0, where=lambda x: x[0] < 1e-12))
    assert np.abs(at_points_of(basis, uh) - expected).max() < 1e-9 * np.abs(expected).max()


def test_elasticity_as_scikit_fem_solves_it():
    mesh, msh = tetrahedra(3)
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=2)
    lam, mu = 1.5, 0.7

    @skfem.BilinearForm
    def a(u, v, w):
        eps = skfem.helpers.sym_grad
        return 2 * mu * skfem.helpers.ddot(eps(u), eps(v)) + lam * skfem.helpers.div(u) * skfem.helpers.div(v)

    load = skfem.LinearForm(lambda v, w: -v[2])
    expected = skfem.solve(*skfem.condense(a.assemble(basis), load.assemble(basis), D=basis.get_dofs(lambda x: x[0] == 0)))
    V = rafter.FunctionSpace(msh, "Lagrange", 1, shape=(3,))
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    eps = lambda w: ufl.sym(grad(w))  # noqa: E731
    form = (2 * mu * inner(eps(u), eps(v)) + lam * ufl.div(u) * ufl.div(v)) * dx
    rafter.solve(form == inner(ufl.as_vector((0, 0, -1.0)), v) * dx, uh, rafter.DirichletBC(V, (0, 0, 0), where=lambda x: x[0] < 1e-12))
    components = np.arange(len(expected)) % 3
    assert np.abs(at_points_of(basis, uh, components) - expected).max() < 1e-9 * np.abs(expected).max()


def test_helmholtz_and_robin_as_scikit_fem_solves_it():
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 1, 5), np.linspace(0, 1, 5))
    msh = rafter.mesh_from_arrays(mesh.p.T, {"quadrilateral": mesh.t.T})
    basis, facets = skfem.Basis(mesh, skfem.ElementQuad2(), intorder=6), skfem.FacetBasis(mesh, skfem.ElementQuad2(), intorder=6)
    a = skfem.BilinearForm(lambda u, v, w: skfem.helpers.dot(u.grad, v.grad) - 20.0 * u * v)
    robin = skfem.BilinearForm(lambda u, v, w: 2.0 * u * v)
    load = skfem.LinearForm(lambda v, w: w.x[0] * v)
    expected = scipy.sparse.linalg.spsolve((a.assemble(basis) + robin.assemble(facets)).tocsc(), load.assemble(basis))
    V = rafter.FunctionSpace(msh, "Lagrange", 2)
    u, v, x, uh = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(msh), rafter.Function(V)
    rafter.solve((inner(grad(u), grad(v)) - 20 * u * v) * dx + 2 * u * v * ds == x[0] * v * dx, uh)
    assert np.abs(at_points_of(basis, uh) - expected).max() < 1e-9 * np.abs(expected).max()
