# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners of problem files, for methods of SciPy."""

import basix.ufl
import numpy as np
import pytest
import rafter
import scipy.sparse.linalg
import ufl
from ufl import div, dx, grad, inner, sym


def conduction(n, shape="tetrahedron", degree=2, extra=None, device="host"):
    """An operator of conduction in a cube or square of 2n cells along each edge, and a load."""
    dim = 2 if shape in ("triangle", "quadrilateral") else 3
    V = rafter.FunctionSpace(rafter.box([n] * dim, shape=shape, refine=1), "Lagrange", degree)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(V.mesh)
    a = (1 + x[0]) * inner(grad(u), grad(v)) * dx
    A = rafter.Operator(a + extra(u, v) if extra else a, [rafter.DirichletBC(V, 0.0, tags=("xmin", "ymax"))], device=device)
    b = rafter.assemble(ufl.exp(x[1]) * v * dx)
    b[A.constrained] = 0
    return A, b


def elasticity(n):
    V = rafter.FunctionSpace(rafter.box([4 * n, n, n], size=[4, 1, 1], refine=1), "Lagrange", 2, shape=(3,))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    A = rafter.Operator((2 * inner(sym(grad(u)), sym(grad(v))) + div(u) * div(v)) * dx, [rafter.DirichletBC(V, (0, 0, 0), tags="xmin")])
    b = rafter.assemble(-v[2] * dx)
    b[A.constrained] = 0
    return A, b


def solve(A, b, M, method=scipy.sparse.linalg.cg, rtol=1e-10, **more):
    """The solution and the number of iterations."""
    iterations = []
    x, info = method(A, b, M=M, rtol=rtol, callback=iterations.append, **more)
    assert info == 0
    return x, len(iterations)


def exact(A, b):
    return scipy.sparse.linalg.spsolve(A.to_csr().tocsc(), b)


def difference(x, expected):
    return np.linalg.norm(x - expected) / np.linalg.norm(expected)


def randoms(A, count=2):
    return np.random.default_rng(5).standard_normal((count, A.shape[0]))


@pytest.mark.parametrize("shape, degree, most", [("hexahedron", 3, 11), ("tetrahedron", 2, 12), ("quadrilateral", 4, 10), ("triangle", 2, 11)])
def test_multigrid_takes_few_iterations_on_all_meshes(shape, degree, most):
    counts = []
    for n in (2, 4) if shape in ("hexahedron", "tetrahedron") else (4, 8, 16):
        A, b = conduction(n, shape, degree)
        M = rafter.Preconditioner(A)
        x, count = solve(A, b, M)
        counts.append(count)
        assert difference(x, exact(A, b)) < 1e-9
    assert max(counts) <= most and counts[-1] <= counts[-2] + 1
    assert f"V-cycle of {4 if degree == 4 else 3} levels" in str(M) and not M.is_variable


def test_multigrid_takes_few_iterations_for_elasticity():
    counts = []
    for n in (1, 2):
        A, b = elasticity(n)
        x, count = solve(A, b, rafter.Preconditioner(A))
        counts.append(count)
    assert max(counts) <= 16 and difference(x, exact(A, b)) < 1e-8


@pytest.mark.parametrize("kind, most", [("multigrid", 12), ("amg", 16), ("chebyshev", 35), ("jacobi", 150), ("none", 250), ("direct", 2)])
def test_kinds_are_symmetric_and_the_identity_where_conditions_are(kind, most):
    A, b = conduction(3)
    M = rafter.Preconditioner(A, kind=kind)
    x, count = solve(A, b, M)
    assert M.kind == kind and count <= most and difference(x, exact(A, b)) < 1e-9
    r, s = randoms(A)
    assert abs((M @ r) @ s - r @ (M @ s)) < 1e-14 * np.linalg.norm(M @ r) * np.linalg.norm(s)
    assert (M @ r) @ r > 0
    assert np.array_equal((M @ r)[A.constrained], r[A.constrained])
    fixed = np.zeros_like(r)
    fixed[A.constrained] = r[A.constrained]
    assert np.array_equal(M @ fixed, fixed)
    assert np.array_equal(M.T @ r, M @ r) and M.shape == A.shape
    if kind == "direct":
        assert difference(M @ (A @ r), r) < 1e-10
    if kind == "jacobi":
        assert np.allclose(M @ r, r / A.diagonal(), rtol=1e-14)


def test_a_form_with_conditions_has_an_operator():
    V = rafter.FunctionSpace(rafter.box([6, 6]), "Lagrange", 3)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a, bc = inner(grad(u), grad(v)) * dx, rafter.DirichletBC(V, 0.0)
    M = rafter.Preconditioner(a, bc, kind="multigrid")
    r, _ = randoms(M)
    assert np.array_equal(M @ r, rafter.Preconditioner(rafter.Operator(a, [bc])) @ r)
    assert np.array_equal(M.operator @ r, rafter.Operator(a, [bc]) @ r)
    blocks = np.stack([r, 2 * r], axis=1)
    assert np.allclose(M @ blocks, np.stack([M @ r, M @ (2 * r)], axis=1), atol=1e-15)


def test_keys_are_those_of_problem_files():
    A, b = conduction(4)
    usual = rafter.Preconditioner(A)
    for keys, text in [({"cycle": "W"}, "W-cycle"), ({"smoother_degree": 4}, "of degree 4"), ({"coarsening": "p"}, "2 levels"),
                       ({"precision": "single"}, "single precision"), ({"coarse": "amg"}, "algebraic multigrid")]:
        M = rafter.Preconditioner(A, solver={"multigrid": keys})
        assert text in str(M) and text not in str(usual)
        assert solve(A, b, M)[1] <= 14
    assert rafter.Preconditioner(A, solver={"preconditioner": "jacobi"}).kind == "jacobi"
    assert rafter.Preconditioner(A, solver={"method": "direct"}).kind == "direct"
    few, many = (solve(A, b, rafter.Preconditioner(A, kind="chebyshev", solver={"chebyshev": {"degree": d}}))[1] for d in (8, 2))
    assert few < many


def test_iterations_are_those_of_the_solver():
    A, b = conduction(3)
    V = rafter.FunctionSpace(rafter.box([3] * 3, shape="tetrahedron", refine=1), "Lagrange", 2)
    u, v, x, uh = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(V.mesh), rafter.Function(V)
    keys = {"method": "cg", "preconditioner": "multigrid", "rtol": 1e-10}
    solution = rafter.solve((1 + x[0]) * inner(grad(u), grad(v)) * dx == ufl.exp(x[1]) * v * dx, uh,
                            rafter.DirichletBC(V, 0.0, tags=("xmin", "ymax")), solver=keys)
    y, count = solve(A, b, rafter.Preconditioner(A, solver=keys))
    assert abs(count - solution.iterations) <= 1 and difference(y, uh.values) < 1e-9


def test_values_are_followed():
    V = rafter.FunctionSpace(rafter.box([4, 4], shape="triangle", refine=1), "Lagrange", 3)
    u, v, k, f = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Constant(V.mesh, 1.0), rafter.Function(V)
    f.interpolate(lambda x: 1 + x[0])
    a, bc = k * f * inner(grad(u), grad(v)) * dx, rafter.DirichletBC(V, 0.0)
    for kind in ("multigrid", "amg", "jacobi", "direct"):
        k.value = 1.0
        A = rafter.Operator(a, [bc])
        M, kept = rafter.Preconditioner(A, kind=kind), rafter.Preconditioner(a, bc, kind=kind)
        r, _ = randoms(A)
        before = M @ r
        made = M.core
        k.value = 8.0
        assert np.array_equal(M @ r, before)  # nobody has told the operator
        A.update()
        free = np.setdiff1d(np.arange(len(r)), A.constrained)
        assert np.allclose((M @ r)[free], before[free] / 8, rtol=1e-10, atol=1e-14)
        assert np.array_equal((M @ r)[A.constrained], r[A.constrained])
        assert (M.core is made) == (kind == "multigrid")
        assert np.array_equal(kept @ r, before) and np.allclose((kept.update() @ r)[free], before[free] / 8, rtol=1e-10, atol=1e-14)
        A.tune()  # makes the operator anew
        assert np.allclose((M @ r)[free], before[free] / 8, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("device", ["host", "opencl"])
def test_vectors_stay_on_the_device(device):
    try:
        A, b = conduction(2, "quadrilateral", device=device)
    except rafter.EnvironmentError as error:
        pytest.skip(str(error))
    M = rafter.Preconditioner(A, solver={"multigrid": {"coarsening": "p"}})
    r, z = A.vector(b), A.vector()
    assert M.apply(r, z) is z and z.device == device
    on_host = rafter.Preconditioner(conduction(2, "quadrilateral")[0], solver={"multigrid": {"coarsening": "p"}})
    assert np.array_equal(z.to_numpy(), M @ b) and difference(M @ b, on_host @ b) < 1e-10
    with pytest.raises(rafter.InputError, match="takes two vectors"):
        M.apply(r, r)


def test_other_operators_take_other_methods():
    A, b = conduction(3, extra=lambda u, v: 4 * u.dx(0) * v * dx)
    with pytest.raises(rafter.InputError, match="not symmetric"):
        rafter.Preconditioner(A)
    M = rafter.Preconditioner(A, solver={"method": "gmres"})
    for method in (scipy.sparse.linalg.gmres, scipy.sparse.linalg.bicgstab):
        more = {"callback_type": "pr_norm"} if method is scipy.sparse.linalg.gmres else {}
        x, count = solve(A, b, M, method, **more)
        assert count <= 16 and difference(x, exact(A, b)) < 1e-8
    with pytest.raises(rafter.InputError, match="has no transpose"):
        M.T @ b
    assert difference(rafter.Preconditioner(A, kind="direct") @ b, exact(A, b)) < 1e-12
    with pytest.raises(rafter.InputError, match="indefinite"):
        rafter.Preconditioner(conduction(3, extra=lambda u, v: -300 * u * v * dx)[0])


def test_null_spaces_are_fixed():
    V = rafter.FunctionSpace(rafter.box([4, 4], refine=1), "Lagrange", 2)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(V.mesh)
    A, b = rafter.Operator(inner(grad(u), grad(v)) * dx), rafter.assemble((x[0] - 0.5) * v * dx)
    with pytest.raises(rafter.InputError, match="singular"):
        rafter.Preconditioner(A)
    for null_space in (rafter.NullSpace(mean=0.0), rafter.NullSpace(point=[0.5, 0.5], value=1.0)):
        y, count = solve(A, b, rafter.Preconditioner(A, null_space=null_space))
        assert count <= 12 and difference(A @ y, b) < 1e-9 and abs(y.mean()) < 1e-10
    V = rafter.FunctionSpace(rafter.box([3, 3], refine=1), "Lagrange", 2, shape=(2,))
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(V.mesh)
    A = rafter.Operator(inner(sym(grad(u)), sym(grad(v))) * dx)
    M = rafter.Preconditioner(A, null_space=rafter.NullSpace(rigid_modes=True))
    assert M @ np.ones(A.shape[0]) == pytest.approx(0, abs=1e-10)  # a translation
    r, s = randoms(A)
    assert abs((M @ r) @ s - r @ (M @ s)) < 1e-13 * np.linalg.norm(M @ r) * np.linalg.norm(s)


def test_mixed_problems_take_blocks():
    element = basix.ufl.mixed_element([basix.ufl.element("Lagrange", "triangle", 2, shape=(2,)), basix.ufl.element("Lagrange", "triangle", 1)])
    counts = []
    for n in (4, 8, 16):
        X = rafter.FunctionSpace(rafter.box([n, n], shape="triangle", refine=1), element)
        (u, p), (v, q) = ufl.TrialFunctions(X), ufl.TestFunctions(X)
        a = (inner(grad(u), grad(v)) - p * div(v) - q * div(u)) * dx
        A = rafter.Operator(a, [rafter.DirichletBC(X.sub(0), (0.0, 0.0), tags=("xmin", "ymin", "ymax"))])
        b = np.zeros(A.shape[0])
        b[A.parts[0]] = 1 / n**2
        b[A.constrained] = 0
        M = rafter.Preconditioner(A, kind="block", solver={"method": "minres", "blocks": ["multigrid", "jacobi"]})
        counts.append(solve(A, b, M, scipy.sparse.linalg.minres)[1])
        named = rafter.Preconditioner(A, kind="block", solver={"method": "minres", "blocks": {"u0": "multigrid", "u1": "jacobi"}})
        assert np.array_equal(M @ b, named @ b)
    assert max(counts) <= 80 and counts[-1] <= counts[0] + 15
    with pytest.raises(rafter.InputError, match="saddle point"):
        rafter.Preconditioner(A)
    with pytest.raises(rafter.InputError, match="blocks are a list with one for each of 2 fields, found 1"):
        rafter.Preconditioner(A, kind="block", solver={"blocks": ["multigrid"]})


def test_what_is_wrong_is_said():
    A, b = conduction(2, "triangle", 1)
    for arguments, message in [
            ({"kind": "amgg"}, "did you mean 'amg'"), ({"solver": {"multigrid": {"cycel": "W"}}}, "did you mean 'cycle'"),
            ({"kind": "block"}, "needs solver.blocks"), ({"bcs": "amg"}, 'kind="amg"'), ({"device": "opencl"}, "the rest of its own")]:
        with pytest.raises(rafter.InputError, match=message):
            rafter.Preconditioner(A, **arguments)
    M = rafter.Preconditioner(A)
    with pytest.raises(rafter.InputError, match="is real"):
        M @ (1j * b)
    with pytest.raises(ValueError, match="mismatch"):
        M @ b[1:]
    mesh = rafter.box([2, 2])
    V, Q = (rafter.FunctionSpace(mesh, "Lagrange", degree) for degree in (2, 1))
    with pytest.raises(rafter.InputError, match="square operator, and this one has 9 rows and 25 columns"):
        rafter.Preconditioner(ufl.TrialFunction(V) * ufl.TestFunction(Q) * dx)
    X = ufl.MixedFunctionSpace(V, Q)
    a = sum(inner(grad(u), grad(v)) * dx for u, v in zip(ufl.TrialFunctions(X), ufl.TestFunctions(X)))
    with pytest.raises(rafter.InputError, match="take a mixed element"):
        rafter.Preconditioner(a, [rafter.DirichletBC(V, 0.0), rafter.DirichletBC(Q, 0.0)], kind="block", solver={"blocks": ["jacobi", "jacobi"]})
    with pytest.raises(TypeError):
        rafter.Preconditioner(A, precision="single")


def test_inner_iterations_are_seen():
    A, _ = conduction(3)
    M = rafter.Preconditioner(A, solver={"multigrid": {"coarse": "amg", "coarse_rtol": 1e-2}})
    assert M.is_variable
    with pytest.raises(rafter.InputError, match="no transpose"):
        M.T
