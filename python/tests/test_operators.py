# SPDX-License-Identifier: BSD-3-Clause
"""Vectors on devices, and what other packages see of them."""

import threading

import numpy as np
import pytest
import rafter
import scipy.sparse.linalg
import ufl
from ufl import dx, grad, inner


def laplace(device="host"):
    V = rafter.FunctionSpace(rafter.box([3, 3, 3], shape="tetrahedron"), "Lagrange", 2)
    return rafter.Operator(inner(grad(ufl.TrialFunction(V)), grad(ufl.TestFunction(V))) * dx, device=device)


def devices():
    yield "host"
    try:
        laplace("opencl")
    except rafter.EnvironmentError as error:
        yield pytest.param("opencl", marks=pytest.mark.skip(reason=str(error)))
    else:
        yield "opencl"


@pytest.mark.parametrize("device", list(devices()))
def test_vectors_stay_on_the_device(device):
    A = laplace(device)
    values = np.cos(np.arange(A.shape[1]))
    x, y = A.vector(values), A.row_vector()
    assert A.apply(x, y) is y and (len(x), x.device) == (A.shape[1], device)
    assert np.array_equal(y.to_numpy(), A @ values)
    assert np.allclose(y.to_numpy(), A.to_csr() @ values, atol=1e-13)
    assert np.array_equal(x.to_numpy(), values)
    assert not A.vector().to_numpy().any()
    with pytest.raises(rafter.InputError, match="entries"):
        A.vector(values[1:])


def test_other_packages_share_vectors_of_the_host():
    A = laplace()
    x, y = A.vector(np.ones(A.shape[1])), A.row_vector()
    shared = np.from_dlpack(x)
    shared[:] = np.arange(len(x))
    A.apply(x, y)
    seen = np.from_dlpack(y)
    assert np.array_equal(seen, A @ np.arange(len(x)))
    shared *= 2
    A.apply(x, y)
    assert np.array_equal(seen, A @ (2 * np.arange(len(x))))
    del x, y, A  # arrays keep what they see
    assert shared[1] == 2 and np.isfinite(seen).all()


def test_what_others_write_is_seen_whenever_they_write_it():
    """On a device with memory of its own, which can be seen here: that which checks every access."""
    A = laplace("checked")
    x = A.vector(np.ones(A.shape[1]))
    shared = np.from_dlpack(x)
    for value in (2.0, 3.0):
        shared[:] = value
        assert (x.to_numpy() == value).all()
    x.copy_from(np.full(A.shape[1], 5.0))
    assert (shared == 5).all()


def test_vectors_of_other_devices_are_refused():
    A, B = laplace(), laplace("checked")
    with pytest.raises(rafter.InputError, match="another one"):
        A.apply(B.vector(), B.row_vector())
    with pytest.raises(rafter.InputError, match="another one"):
        B.apply(A.vector(), A.row_vector())
    with pytest.raises(rafter.InputError, match="A @ x takes arrays"):
        A.apply(np.zeros(A.shape[1]), A.row_vector())
    C = laplace()
    assert not C.apply(A.vector(), C.row_vector()).to_numpy().any()  # memory of the host is that of all


def test_kinds_of_memory_are_those_of_dlpack():
    assert laplace().vector().__dlpack_device__() == (1, 0)
    try:
        x = laplace("opencl").vector()
    except rafter.EnvironmentError as error:
        pytest.skip(str(error))
    assert x.__dlpack_device__() == (4, 0) and "dltensor" in repr(x.__dlpack__())


def test_threads_apply_an_operator_at_once():
    A = laplace()
    inputs = [np.sin(np.arange(A.shape[1]) * k) for k in range(1, 9)]
    expected, found = [A @ x for x in inputs], [None] * len(inputs)

    def run(k):
        for _ in range(20):
            found[k] = A @ inputs[k]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, other) for one, other in zip(found, expected))


@pytest.mark.parametrize("device", ["host", "checked"])
def test_right_hand_sides_are_lifted(device):
    V = rafter.FunctionSpace(rafter.box([3, 3], shape="triangle"), "Lagrange", 2)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(V.mesh)
    bc, form = rafter.DirichletBC(V, 1 + x[0] ** 2 + 2 * x[1]), inner(grad(u), grad(v)) * dx
    A = rafter.Operator(form, bc, device=device)
    load = rafter.assemble(-2 * v * dx)
    b = A.lift(load)
    expected = rafter.Function(V).interpolate(1 + x[0] ** 2 + 2 * x[1]).values
    assert b[A.constrained] == pytest.approx(expected[A.constrained])
    found, info = scipy.sparse.linalg.cg(A, b, rtol=1e-12)
    assert info == 0 and found == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(load, rafter.assemble(-2 * v * dx))
