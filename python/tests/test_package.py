# SPDX-License-Identifier: BSD-3-Clause
"""The package for Python, against exact solutions, the command, and matrices of scikit-fem."""

import math
import pathlib
import subprocess
import sys

import basix.ufl
import numpy as np
import pytest
import rafter
import scipy.sparse.linalg
import skfem
import skfem.helpers
import ufl
from ufl import dx, ds, grad, inner

ROOT = pathlib.Path(__file__).resolve().parents[2]


def laplace(V, f=1.0, k=1.0):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    return k * inner(grad(u), grad(v)) * dx, f * v * dx


@pytest.mark.parametrize("shape", ["interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism", "pyramid", "mixed"])
@pytest.mark.parametrize("degree", [1, 3])
def test_polynomials_are_exact(shape, degree):
    dim = {"interval": 1, "triangle": 2, "quadrilateral": 2}.get(shape, 3)
    mesh = rafter.box([4 if shape == "mixed" else 2] * dim, shape=shape)
    V = rafter.FunctionSpace(mesh, "Lagrange", degree)
    x = ufl.SpatialCoordinate(mesh)
    exact = sum((i + 2) * x[i] for i in range(dim)) ** degree
    u = rafter.Function(V, name="u")
    a, L = laplace(V, -ufl.div(grad(exact)))
    solution = rafter.solve(a == L, u, bcs=[rafter.DirichletBC(V, exact)], exact={u: exact}, solver={"rtol": 1e-13})
    assert solution.errors["u"]["l2"] < 1e-11
    point = np.full(dim, 0.37)
    assert u(point) == pytest.approx((sum(i + 2 for i in range(dim)) * 0.37) ** degree, rel=1e-10)
    assert math.isnan(u(point + 5))


def scikit_basis(n, degree=1):
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, 1, n + 1),) * 3)
    return mesh, skfem.Basis(mesh, skfem.ElementTetP1() if degree == 1 else skfem.ElementTetP2())


def from_scikit(mesh):
    return rafter.mesh_from_arrays(mesh.p.T, {"tetrahedron": mesh.t.T})


def order_of(V, points):
    """The entry of each point in vectors of V."""
    nodes = V.nodes
    entries = V.leaves()[0].nodes()[1][:, 0]
    distance = np.abs(nodes[:, None, :] - points[None, :, :]).max(axis=2)
    assert distance.min(axis=0).max() < 1e-12
    return entries[distance.argmin(axis=0)]


@pytest.mark.parametrize("degree", [1, 2])
def test_matrices_are_those_of_scikit_fem(degree):
    mesh, basis = scikit_basis(3, degree)

    @skfem.BilinearForm
    def reference(u, v, w):
        return (1 + w.x[0]) * skfem.helpers.dot(skfem.helpers.grad(u), skfem.helpers.grad(v)) + w.x[1] * u.grad[2] * v + u * v

    V = rafter.FunctionSpace(from_scikit(mesh), "Lagrange", degree)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(V.mesh)
    A = rafter.Operator(((1 + x[0]) * inner(grad(u), grad(v)) + x[1] * u.dx(2) * v + u * v) * dx)
    order = order_of(V, basis.doflocs.T)
    expected = reference.assemble(skfem.Basis(mesh, basis.elem, intorder=8)).toarray()
    found = A.to_csr().toarray()[np.ix_(order, order)]
    assert np.abs(found - expected).max() < 1e-13
    y = np.zeros(A.shape[0])
    y[order] = expected @ np.arange(len(order))
    z = np.zeros(A.shape[0])
    z[order] = np.arange(len(order))
    assert np.abs(A @ z - y).max() < 1e-11
    assert np.abs(A.diagonal()[order] - expected.diagonal()).max() < 1e-13
    assert "void" in A.kernels[0].source and A.kernels[0].plan in str(A) and "points" in A.kernels[0].quadrature


def test_elements_of_basix_and_spaces_of_ufl():
    mesh = rafter.box([2, 2], shape="triangle")
    element = basix.ufl.element("Lagrange", "triangle", 2, shape=(2,))
    V = ufl.FunctionSpace(mesh.ufl_domain(), element)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    A = rafter.Operator(inner(grad(u), grad(v)) * dx)
    assert A.shape == (2 * 25, 2 * 25)
    with pytest.raises(rafter.InputError, match="accepted are Lagrange elements"):
        rafter.FunctionSpace(mesh, basix.ufl.element("N1curl", "triangle", 1))
    D = rafter.FunctionSpace(mesh, basix.ufl.element("DG", "triangle", 1))
    with pytest.raises(rafter.InputError, match="test and trial functions are continuous"):
        rafter.Operator(ufl.TrialFunction(D) * ufl.TestFunction(D) * dx)


@pytest.mark.parametrize("shape", ["interval", "triangle", "mixed"])
def test_functions_that_are_constant_on_cells(shape):
    """Values, sizes and diameters of cells, in integrals and at points."""
    mesh = rafter.box([4] if shape == "interval" else [4, 4], shape=shape)
    k = rafter.Function(rafter.FunctionSpace(mesh, "DG", 0))
    assert len(k.values) == mesh.num_cells
    k.values[:] = np.arange(mesh.num_cells)
    volume, h = ufl.CellVolume(mesh), ufl.CellDiameter(mesh)
    one = dx(domain=mesh.ufl_domain())
    x = k.function_space().nodes
    sizes = rafter.Function(k.function_space()).interpolate(lambda x: x[0])
    assert rafter.assemble(sizes * one) == pytest.approx(0.5)
    assert rafter.assemble(volume**-1 * k * one) == pytest.approx(np.arange(mesh.num_cells).sum())
    assert np.allclose(k(x)[:, ...], k.values)
    expected = 1 / mesh.num_cells if shape == "interval" else None
    assert rafter.assemble(h * one) == pytest.approx(expected or math.sqrt(2) / 4)
    V = rafter.FunctionSpace(mesh, "Lagrange", 2)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    ones = np.ones(V.num_dofs)
    assert ones @ (rafter.Operator((1 + k) * u * v * dx) @ ones) == pytest.approx(rafter.assemble((1 + k) * one))


def test_elasticity_of_a_patch():
    mesh = rafter.box([2, 2, 2])
    V = rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(3,))
    x = ufl.SpatialCoordinate(mesh)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    lam, mu = rafter.Constant(mesh, 2.0), rafter.Constant(mesh, 0.7)
    eps = lambda w: ufl.sym(grad(w))  # noqa: E731
    sigma = lambda w: lam * ufl.tr(eps(w)) * ufl.Identity(3) + 2 * mu * eps(w)  # noqa: E731
    exact = ufl.as_vector((x[0] + 2 * x[1], x[2] - x[0], 3 * x[0] * 0 + x[1]))
    uh = rafter.Function(V, name="u")
    solution = rafter.solve(inner(sigma(u), eps(v)) * dx == 0, uh, bcs=rafter.DirichletBC(V, exact), exact={uh: exact})
    assert solution.errors["u"]["l2"] < 1e-12
    # Constants change without another kernel.
    A = rafter.Operator(inner(sigma(u), eps(v)) * dx)
    y = A @ uh.values
    lam.value, mu.value = 4.0, 1.4
    assert np.allclose(A.update() @ uh.values, 2 * y, atol=1e-12 * np.abs(y).max())


def test_tangents_of_ufl_are_those_of_rafter():
    """St Venant and Kirchhoff's law: derivative() of the energy by UFL, twice, and the residual's derivative by finite differences."""
    mesh = rafter.box([2, 2, 2], shape="tetrahedron")
    V = rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(3,))
    w, u, v = rafter.Function(V, name="w"), ufl.TrialFunction(V), ufl.TestFunction(V)
    F = ufl.Identity(3) + grad(w)
    E = 0.5 * (F.T * F - ufl.Identity(3))
    energy = (0.5 * 1.3 * ufl.tr(E) ** 2 + 0.8 * inner(E, E)) * dx
    residual = ufl.derivative(energy, w, v)
    generator = np.random.default_rng(1)
    w.values[:] = 0.1 * generator.standard_normal(w.values.size)
    d = generator.standard_normal(w.values.size)
    A = rafter.Operator(ufl.derivative(residual, w, u))
    S = lambda G: 1.3 * ufl.tr(G) * ufl.Identity(3) + 1.6 * G  # noqa: E731
    dE = lambda z: ufl.sym(F.T * grad(z))  # noqa: E731
    by_hand = rafter.Operator((inner(S(dE(u)), dE(v)) + inner(S(E), ufl.sym(grad(u).T * grad(v)))) * dx)
    assert np.allclose(A @ d, by_hand @ d, rtol=0, atol=1e-11 * np.abs(by_hand @ d).max())
    at, h = w.values.copy(), 1e-6
    w.values[:] = at + h * d
    up = rafter.assemble(residual)
    w.values[:] = at - h * d
    assert np.allclose((up - rafter.assemble(residual)) / (2 * h), A @ d, atol=1e-6 * np.abs(A @ d).max())


@pytest.mark.parametrize("is_of_parts", [False, True])
def test_stokes(is_of_parts):
    """Poiseuille's flow, with a mixed element and with a mixed space."""
    mesh = rafter.box([4, 4], shape="triangle")
    element = basix.ufl.element("Lagrange", "triangle", 2, shape=(2,)), basix.ufl.element("Lagrange", "triangle", 1)
    x = ufl.SpatialCoordinate(mesh)
    flow = ufl.as_vector((x[1] * (1 - x[1]), 0 * x[0]))
    if is_of_parts:
        V, Q = (rafter.FunctionSpace(mesh, e) for e in element)
        W = ufl.MixedFunctionSpace(V, Q)
        (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
        unknowns = [rafter.Function(V, name="u"), rafter.Function(Q, name="p")]
        fixed = V
    else:
        W = rafter.FunctionSpace(mesh, basix.ufl.mixed_element(element))
        (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
        unknowns = [rafter.Function(W, name="w")]
        fixed = W.sub(0)
    a = (inner(grad(u), grad(v)) - p * ufl.div(v) - q * ufl.div(u)) * dx
    rafter.solve(a == 0, unknowns, bcs=[rafter.DirichletBC(fixed, flow)],
                 null_space=rafter.NullSpace(1, mean=0.0))
    velocity, pressure = (part for unknown in unknowns for part in unknown.parts)
    points = np.array([[0.3, 0.6], [0.9, 0.1]])
    assert np.allclose(velocity(points), np.stack([points[:, 1] * (1 - points[:, 1]), 0 * points[:, 0]], axis=1), atol=1e-12)
    assert np.allclose(pressure(points), 1 - 2 * points[:, 0], atol=1e-10)


def test_newton_with_data_and_a_predicate():
    """div((1 + u^2) grad u) = f with u = 1 + x + 2 y, which is fixed on two sides, and its flux given on the others."""
    mesh = rafter.box([4, 4], shape="triangle")
    V = rafter.FunctionSpace(mesh, "Lagrange", 2)
    x, n = ufl.SpatialCoordinate(mesh), ufl.FacetNormal(mesh)
    exact = 1 + x[0] + 2 * x[1]
    u, v = rafter.Function(V, name="u"), ufl.TestFunction(V)
    flux = (1 + exact**2) * grad(exact)
    F = (1 + u**2) * inner(grad(u), grad(v)) * dx + ufl.div(flux) * v * dx - inner(flux, n) * v * ds((3, 4))
    bcs = [rafter.DirichletBC(V, lambda x: 1 + x[0] + 2 * x[1], where=lambda x: x[0] < 1e-9),
           rafter.DirichletBC(V, exact, tags="xmax")]
    solution = rafter.solve(F == 0, u, bcs, exact={u: exact}, newton={"rtol": 1e-12}, functionals={"mean": u * dx})
    assert solution.errors["u"]["l2"] < 1e-10
    assert solution.functionals["mean"] == pytest.approx(2.5, rel=1e-10)


def test_steps_in_time_take_constants_and_functions():
    """Heat in one mode: each implicit step divides by 1 + dt*lambda, lambda that of the discrete mode."""
    mesh = rafter.box([8, 8])
    V = rafter.FunctionSpace(mesh, "Lagrange", 3)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    x = ufl.SpatialCoordinate(mesh)
    dt = rafter.Constant(mesh, 0.01)
    old, new = rafter.Function(V), rafter.Function(V, name="u")
    old.interpolate(ufl.sin(ufl.pi * x[0]) * ufl.sin(ufl.pi * x[1]))
    problem = rafter.Problem((u * v + dt * inner(grad(u), grad(v))) * dx == old * v * dx, new, rafter.DirichletBC(V, 0.0))
    for _ in range(3):
        problem.solve()
        old.values = new.values
    expected = (1 + 0.01 * 2 * math.pi**2) ** -3
    assert new([0.5, 0.5]) == pytest.approx(expected, rel=1e-5)
    dt.value = 0.02
    problem.solve()
    assert new([0.5, 0.5]) == pytest.approx(expected / (1 + 0.02 * 2 * math.pi**2), rel=1e-5)


def test_functions_of_two_forms_are_kept_apart():
    """UFL numbers the functions of each form from 0."""
    mesh = rafter.box([2, 2])
    V = rafter.FunctionSpace(mesh, "Lagrange", 1)
    k, f, u = rafter.Function(V).interpolate(2.0), rafter.Function(V).interpolate(6.0), rafter.Function(V, name="u")
    t, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    solution = rafter.solve(k * t * v * dx == f * v * dx, u, functionals={"sum": f * u * dx, "data": k * dx(domain=mesh.ufl_domain())})
    assert np.allclose(u.values, 3.0)
    assert solution.functionals == pytest.approx({"sum": 18.0, "data": 2.0})


def test_files_and_objects_give_the_same_bits(tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text("""
mesh.box = { cells = [6, 6, 6], shape = "tetrahedron" }
fields.u.degree = 3
forms.a = "inner(grad(u), grad(v))*dx"
forms.L = "exp(x[0])*v*dx"
dirichlet = [{ tags = "all", value = 0.0 }]
solver = { method = "cg", preconditioner = "multigrid", rtol = 1e-9 }
""")
    by_file = rafter.solve(file, threads=1)
    mesh = rafter.box([6, 6, 6], shape="tetrahedron")
    V = rafter.FunctionSpace(mesh, "Lagrange", 3)
    u = rafter.Function(V, name="u")
    a, L = laplace(V, ufl.exp(ufl.SpatialCoordinate(mesh)[0]))
    by_objects = rafter.solve(a == L, u, rafter.DirichletBC(V, 0.0), threads=1,
                              solver={"method": "cg", "preconditioner": "multigrid", "rtol": 1e-9})
    assert by_file.iterations == by_objects.iterations
    assert np.array_equal(by_file.fields["u"].values, u.values)
    assert by_file.fields["u"]([0.4, 0.4, 0.4]) == u([0.4, 0.4, 0.4])


def test_eigenvalues_by_scipy():
    mesh = rafter.box([6, 6], shape="quadrilateral")
    V = rafter.FunctionSpace(mesh, "Lagrange", 4)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    bc = rafter.DirichletBC(V, 0.0)
    A, M = rafter.Operator(inner(grad(u), grad(v)) * dx, [bc]), rafter.Operator(u * v * dx, [bc])
    generator = np.random.default_rng(2)
    X = generator.standard_normal((A.shape[0], 4))
    X[A.constrained] = 0
    scale = 1 / A.diagonal()
    values, _ = scipy.sparse.linalg.lobpcg(A, X, B=M, M=scipy.sparse.diags(scale), largest=False, tol=1e-7, maxiter=300)
    assert np.allclose(np.sort(values)[:3] / math.pi**2, [2, 5, 5], rtol=1e-6)


def test_materials_by_groups_and_names_of_groups():
    points = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1.0]])
    mesh = rafter.mesh_from_arrays(points, {"quadrilateral": [[0, 1, 4, 3], [1, 2, 5, 4]]}, {"quadrilateral": [1, 2]},
                                   facets=[[0, 3], [2, 5]], facet_tags=[7, 8],
                                   names={(2, 1): "soft", (2, 2): "hard", (1, 7): "left", (1, 8): "right"})
    V = rafter.FunctionSpace(mesh, "Lagrange", 1)
    k = rafter.by_tag(mesh, {"soft": 1.0, "hard": 3.0})
    a, _ = laplace(V, k=k)
    u = rafter.Function(V, name="u")
    rafter.solve(a == 0, u, [rafter.DirichletBC(V, 0.0, tags="left"), rafter.DirichletBC(V, 4.0, tags="right")])
    assert u([1.0, 0.5]) == pytest.approx(3.0)  # two conductors in a row
    assert rafter.assemble(k * dx(domain=mesh.ufl_domain())) == pytest.approx(4.0)
    assert rafter.assemble(u * ds(mesh.tags("right"))) == pytest.approx(4.0)
    with pytest.raises(rafter.InputError, match="it has: left, right"):
        mesh.tags("top")


def test_meshio():
    meshio = pytest.importorskip("meshio")
    cube = meshio.Mesh(np.array([[x, y, z] for z in (0.0, 1) for y in (0.0, 1) for x in (0.0, 1)]),
                       [("hexahedron", [[0, 1, 3, 2, 4, 5, 7, 6]]), ("quad", [[0, 2, 6, 4]])],
                       cell_data={"gmsh:physical": [np.array([5]), np.array([9])]}, field_data={"inlet": np.array([9, 2])})
    mesh = rafter.mesh_from_meshio(cube)
    assert mesh.cells_by_shape == {"hexahedron": 1}
    assert mesh.tags("inlet") == (9,)
    assert rafter.assemble(rafter.Constant(mesh, 1.0) * ds(9)) == pytest.approx(1.0)


def test_periodic_and_null_space():
    mesh = rafter.box([8, 8]).periodic(("xmin", "xmax"), ("ymin", "ymax"))
    V = rafter.FunctionSpace(mesh, "Lagrange", 4)
    x = ufl.SpatialCoordinate(mesh)
    u = rafter.Function(V, name="u")
    a, L = laplace(V, 4 * math.pi**2 * ufl.sin(2 * ufl.pi * x[0]))
    rafter.solve(a == L, u, null_space=rafter.NullSpace(mean=0.0))
    assert u([0.2, 0.7]) == pytest.approx(math.sin(0.4 * math.pi), abs=1e-5)


def test_conditionals_and_functions():
    mesh = rafter.box([4])
    V = rafter.FunctionSpace(mesh, "Lagrange", 1)
    x = ufl.SpatialCoordinate(mesh)[0]
    u = rafter.Function(V)
    u.interpolate(lambda x: x[0])
    at = lambda e: rafter.assemble(e * dx(degree=9, domain=mesh.ufl_domain()))  # noqa: E731
    assert at(ufl.conditional(ufl.And(ufl.gt(x, 0.25), ufl.Not(ufl.ge(x, 0.75))), u, 0.0)) == pytest.approx(0.25)
    assert at(ufl.max_value(u, 0.5)) == pytest.approx(0.625)
    assert at(ufl.sqrt(1 + abs(u - 2)) - ufl.sqrt(3 - x)) == pytest.approx(0, abs=1e-14)
    assert at(ufl.atan2(x, 1 + u * 0) - ufl.atan(x)) == pytest.approx(0, abs=1e-14)
    w = rafter.Function(rafter.FunctionSpace(mesh, "Lagrange", 2)).project(u**2)
    assert w([0.3]) == pytest.approx(0.09)


def test_messages():
    mesh = rafter.box([2, 2])
    V = rafter.FunctionSpace(mesh, "Lagrange", 1)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    uh = rafter.Function(V, name="u")
    a, L = laplace(V)
    with pytest.raises(rafter.InputError, match="unknown key 'methd' in .solver. .did you mean 'method'"):
        rafter.solve(a == L, uh, rafter.DirichletBC(V, 0.0), solver={"methd": "cg"})
    with pytest.raises(rafter.InputError, match="interior_facet"):
        rafter.Operator(ufl.jump(u) * ufl.jump(v) * ufl.dS)
    with pytest.raises(rafter.InputError, match="no values"):
        rafter.Operator(ufl.Coefficient(V) * u * v * dx)
    with pytest.raises(rafter.InputError, match="Circumradius"):
        rafter.Operator(ufl.Circumradius(mesh) * u * v * dx)
    W = rafter.FunctionSpace(rafter.box([8, 8]), "Lagrange", 2)
    a_of_many, L_of_many = laplace(W)
    with pytest.raises(rafter.SolverError, match="not converged"):
        rafter.solve(a_of_many == L_of_many, rafter.Function(W), rafter.DirichletBC(W, 0.0), solver={"method": "cg", "max_iterations": 1})
    with pytest.raises(rafter.InputError, match="nowhere"):
        rafter.solve(a == L, uh, rafter.DirichletBC(V, 0.0, tags="nowhere"))
    with pytest.raises(rafter.InputError):
        rafter.read_mesh("no-such.msh")


def test_errors_that_are_too_large_are_raised():
    mesh = rafter.box([4, 4])
    V = rafter.FunctionSpace(mesh, "Lagrange", 1)
    exact, u = ufl.sin(3 * ufl.SpatialCoordinate(mesh)[0]), rafter.Function(V, name="u")
    a, L = laplace(V, -ufl.div(grad(exact)))
    arguments = {"bcs": rafter.DirichletBC(V, exact), "exact": {u: exact}}
    rafter.solve(a == L, u, check={"max_l2_error": 0.1}, **arguments)
    with pytest.raises(rafter.SolverError, match="failed check: relative L2 error of u is .* accepted is 1.000e-06"):
        rafter.solve(a == L, u, check={"max_l2_error": 1e-6}, **arguments)


def test_errors_of_callers_come_back():
    mesh = rafter.box([2, 2])
    V = rafter.FunctionSpace(mesh, "Lagrange", 1)

    def value(x):
        raise KeyError("of the caller")

    a, L = laplace(V)
    with pytest.raises(KeyError, match="of the caller"):
        rafter.solve(a == L, rafter.Function(V), rafter.DirichletBC(V, value))


def test_import_is_fast_and_lazy():
    code = "import time; t = time.perf_counter(); import sys, rafter; print('ufl' in sys.modules, time.perf_counter() - t)"
    is_loaded, _ = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert is_loaded == "False"


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_examples_of_documents(page, tmp_path, monkeypatch):
    pytest.importorskip("pyvista")  # which the pictures in them are drawn with
    monkeypatch.chdir(tmp_path)
    blocks = (ROOT / page).read_text().split("```python\n")[1:]
    assert blocks
    scope = {}
    for block in blocks:
        exec(compile(block.split("```")[0], page, "exec"), scope)
