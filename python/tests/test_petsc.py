# SPDX-License-Identifier: BSD-3-Clause
"""Operators and preconditioners as objects of PETSc. These tests run where petsc4py is installed."""

import sys

import numpy as np
import pytest
import rafter
import scipy.sparse.linalg
import ufl
from ufl import dx, grad, inner

petsc4py = pytest.importorskip("petsc4py", reason="petsc4py is not installed (Debian: python3-petsc4py)")
from petsc4py import PETSc  # noqa: E402


def poisson(n=4, degree=2, wind=0.0):
    """An operator of conduction in a cube, with a wind or without, a load, and the constant of conductivity."""
    V = rafter.FunctionSpace(rafter.box([n, n, n], shape="tetrahedron", refine=1), "Lagrange", degree)
    u, v, k = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Constant(V.mesh, 2.0)
    x = ufl.SpatialCoordinate(V.mesh)
    a = k * (1 + x[0]) * inner(grad(u), grad(v)) * dx
    A = rafter.Operator(a + wind * u.dx(0) * v * dx if wind else a, [rafter.DirichletBC(V, 0.0, tags=("xmin", "ymax"))])
    b = rafter.assemble(ufl.exp(x[1]) * v * dx)
    b[A.constrained] = 0
    return A, b, k


@pytest.fixture(autouse=True)
def no_options_stay():
    yield
    for name in PETSc.Options().getAll():
        if name.startswith("rafter_test_"):
            PETSc.Options().delValue(name)


def vec(values):
    return PETSc.Vec().createWithArray(np.array(values, dtype=float), comm=PETSc.COMM_SELF)


def solver(kind, mat, preconditioner=None, pc=None, options=None, rtol=1e-12):
    ksp = PETSc.KSP().create(comm=PETSc.COMM_SELF)
    ksp.setType(kind)
    ksp.setOperators(mat, preconditioner)
    ksp.setTolerances(rtol=rtol, max_it=300)
    if pc is not None:
        ksp.setPC(pc)
    if options is not None:
        ksp.setOptionsPrefix("rafter_test_")
        for name, value in options.items():
            PETSc.Options()["rafter_test_" + name] = value
        ksp.setFromOptions()
    return ksp


def solution(ksp, b):
    x = vec(np.zeros(len(b)))
    ksp.solve(vec(b), x)
    assert ksp.getConvergedReason() > 0
    return x.array.copy()


def exact(A, b):
    return scipy.sparse.linalg.spsolve(A.to_csr().tocsc(), b)


def is_close(x, expected, tolerance=1e-9):
    return np.linalg.norm(x - expected) <= tolerance * np.linalg.norm(expected)


def test_a_matrix_applies_the_operator():
    A, b, k = poisson()
    mat = rafter.petsc_mat(A)
    assert mat.getType() == "python" and mat.getSize() == A.shape
    x, y = mat.createVecs()
    x.array = b
    mat.mult(x, y)
    assert np.array_equal(y.array, A @ b) and np.array_equal(x.array, b)
    mat.multAdd(x, y, y)
    assert np.allclose(y.array, 2 * (A @ b), atol=1e-14)
    assert np.array_equal(mat.getDiagonal().array, A.diagonal())
    k.value = 3.0
    A.update()
    mat.mult(x, y)
    assert np.array_equal(y.array, A @ b)


def test_rectangular_operators_are_matrices():
    mesh = rafter.box([3, 4], shape="triangle")
    V, Q = rafter.FunctionSpace(mesh, "Lagrange", 2), rafter.FunctionSpace(mesh, "Lagrange", 1)
    A = rafter.Operator(ufl.TrialFunction(V).dx(0) * ufl.TestFunction(Q) * dx)
    mat = rafter.petsc_mat(A)
    x, y = mat.createVecs()
    x.array = values = np.cos(np.arange(A.shape[1]))
    mat.mult(x, y)
    assert mat.getSize() == A.shape and np.array_equal(y.array, A @ values)


def test_what_cannot_be_done_is_said():
    A, b, _ = poisson(2, 1)
    mat = rafter.petsc_mat(A)
    try:
        expected = A.T @ b
    except rafter.InputError as error:
        with pytest.raises(rafter.InputError, match=str(error).split(";")[0]):
            mat.multTranspose(vec(b), vec(b))
    else:
        y = vec(b)
        mat.multTranspose(vec(b), y)
        assert np.allclose(y.array, expected, atol=1e-14)
    with pytest.raises(rafter.InputError, match="takes a rafter.Operator, found csr_matrix"):
        rafter.petsc_mat(A.to_csr())
    with pytest.raises(rafter.InputError, match="neither a kind nor keys"):
        rafter.petsc_pc(rafter.Preconditioner(A), kind="amg")
    assembled = rafter.petsc_mat(A, assembled=True)
    ksp = solver("cg", assembled, options={"pc_type": "python", "pc_python_type": "rafter.PetscPC"})
    with pytest.raises(rafter.InputError, match="both of this KSP are others or assembled"):
        ksp.setUp()


def test_assembled_matrices_are_for_the_factors_of_petsc():
    A, b, _ = poisson()
    assembled = rafter.petsc_mat(A, assembled=True)
    assert assembled.getType() == "seqaij"
    starts, columns, values = assembled.getValuesCSR()
    csr = A.to_csr()
    assert np.array_equal(starts, csr.indptr) and np.array_equal(columns, csr.indices) and np.array_equal(values, csr.data)
    direct = solver("preonly", assembled, options={"pc_type": "lu"})
    assert is_close(solution(direct, b), exact(A, b))
    for kind, most in [("icc", 100), ("gamg", 60)]:  # matrix-free products, entries for the preconditioner alone
        mixed = solver("cg", rafter.petsc_mat(A), assembled, options={"pc_type": kind})
        assert is_close(solution(mixed, b), exact(A, b)) and 1 < mixed.getIterationNumber() < most


def test_jacobi_of_petsc_takes_the_diagonal():
    A, b, _ = poisson()
    ksp = solver("cg", rafter.petsc_mat(A), options={"pc_type": "jacobi"})
    assert is_close(solution(ksp, b), exact(A, b))
    own = solver("cg", rafter.petsc_mat(A), pc=rafter.petsc_pc(A, kind="jacobi"))
    assert np.array_equal(solution(own, b), solution(ksp, b)) and own.getIterationNumber() == ksp.getIterationNumber()


@pytest.mark.parametrize("kind", ["multigrid", "amg"])
def test_multigrid_preconditions_cg(kind):
    counts = []
    for n in (2, 4, 8):
        A, b, _ = poisson(n)
        ksp = solver("cg", rafter.petsc_mat(A), pc=rafter.petsc_pc(A, kind=kind))
        assert is_close(A @ solution(ksp, b), b)
        counts.append(ksp.getIterationNumber())
    assert max(counts) <= 20 and counts[-1] <= counts[-2] + 3


@pytest.mark.parametrize("method", ["gmres", "fgmres", "bcgs"])
def test_multigrid_preconditions_what_is_not_symmetric(method):
    A, b, _ = poisson(wind=5.0)
    ksp = solver(method, rafter.petsc_mat(A), pc=rafter.petsc_pc(A, solver={"method": "gmres"}))
    assert is_close(solution(ksp, b), exact(A, b)) and ksp.getIterationNumber() <= 25
    with pytest.raises(rafter.InputError, match="not symmetric"):
        ksp.getPC().applyTranspose(vec(b), vec(b))


def test_options_name_the_preconditioner():
    A, b, _ = poisson()
    counts = {}
    for kind in ("", "multigrid", "jacobi"):
        options = {"pc_type": "python", "pc_python_type": "rafter.PetscPC", "pc_rafter_kind": kind}
        ksp = solver("cg", rafter.petsc_mat(A), options=options)
        assert is_close(solution(ksp, b), exact(A, b))
        assert ksp.getPC().getPythonContext().M.kind == (kind or "multigrid")
        counts[kind] = ksp.getIterationNumber()
    assert counts[""] == counts["multigrid"] < counts["jacobi"] / 3


def test_preconditioners_follow_matrices_that_change():
    A, b, k = poisson()
    mat = rafter.petsc_mat(A)
    M = rafter.Preconditioner(A)
    ksp = solver("cg", mat, pc=rafter.petsc_pc(M))
    first, count = solution(ksp, b), ksp.getIterationNumber()
    before = M @ b
    k.value = 20.0
    A.update()
    assert is_close(solution(ksp, b), first / 10) and ksp.getIterationNumber() == count and is_close(M @ b, before / 10)
    y = vec(b)
    ksp.getPC().applyTranspose(vec(b), y)  # which is symmetric
    assert np.array_equal(y.array, M @ b)


def test_views_say_what_they_are(capfd):
    A, _, _ = poisson()
    ksp = solver("cg", rafter.petsc_mat(A), pc=rafter.petsc_pc(A))
    ksp.setUp()
    ksp.view(PETSc.Viewer.STDOUT(comm=PETSc.COMM_SELF))
    sys.stdout.flush()
    text = capfd.readouterr().out
    assert "rafter.Operator, matrix-free" in text and "rafter.Preconditioner, preconditioner multigrid: V-cycle of 3 levels" in text


def test_petsc_and_rafter_factor_in_one_process():
    A, b, _ = poisson()
    for _ in range(2):  # Rafter has MUMPS without MPI, PETSc may have it with MPI
        options = {"pc_type": "lu", "pc_factor_mat_solver_type": "mumps"}
        try:
            x = solution(solver("preonly", rafter.petsc_mat(A, assembled=True), options=options), b)
        except PETSc.Error:
            pytest.skip("this PETSc has no MUMPS")
        assert is_close(x, exact(A, b))
        assert is_close(rafter.Preconditioner(A, kind="direct") @ b, exact(A, b))
