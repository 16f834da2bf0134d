# SPDX-License-Identifier: BSD-3-Clause
"""What forms of UFL mean where it is easily lost."""

import math

import basix.ufl
import numpy as np
import pytest
import rafter
import ufl
from ufl import dx, ds, grad, inner


def two_squares():
    points = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1.0]])
    return points, {"quadrilateral": [[0, 1, 4, 3], [1, 2, 5, 4]]}


def test_integrands_that_measures_have_in_common_count_for_each(mesh, V):
    f = rafter.Function(V).interpolate(1.0)
    assert rafter.assemble(f * ds + f * ds(1)) == pytest.approx(5)
    assert rafter.assemble(f * ds + f * ds(1) + 2 * f * ds(2)) == pytest.approx(7)
    assert rafter.assemble(f * ds(1) + f * ds(2) + f * ds((1, 3))) == pytest.approx(4)
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V)
    rafter.solve(u * v * dx + u * v * dx(1) == 4 * v * dx, uh)
    assert np.allclose(uh.values, 2)


def test_parts_of_operators_stand_in_the_order_of_their_space(mesh):
    P1 = basix.ufl.element("Lagrange", "triangle", 1)
    W = rafter.FunctionSpace(mesh, basix.ufl.mixed_element([P1, P1]))
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    A = rafter.Operator(p * q * dx + 3 * u * v * dx)
    first, second = A.parts
    x = np.zeros(A.shape[1])
    x[first] = 1
    y = A @ x
    assert y[first].sum() == pytest.approx(3) and np.abs(y[second]).max() == 0
    b = rafter.assemble(5 * q * dx + 2 * v * dx)
    assert (b[first].sum(), b[second].sum()) == pytest.approx((2, 5))


def test_unknowns_are_those_of_the_parts(mesh, V):
    Q = rafter.FunctionSpace(mesh, "Lagrange", 2)
    W = ufl.MixedFunctionSpace(V, Q)
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    a, L = u * v * dx + p * q * dx, 2 * v * dx + 3 * q * dx
    uh, ph = rafter.Function(V), rafter.Function(Q)
    rafter.solve(a == L, [uh, ph])
    assert np.allclose(uh.values, 2) and np.allclose(ph.values, 3)
    with pytest.raises(rafter.InputError, match="unknown 0"):
        rafter.solve(a == L, [ph, uh])
    with pytest.raises(rafter.InputError, match="unknown 1"):
        rafter.solve(a == L, [uh])


def test_two_parts_on_one_space(mesh, V):
    W = ufl.MixedFunctionSpace(V, V)
    (u, w), (v, z) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    one, other = rafter.Function(V, name="a"), rafter.Function(V, name="b")
    x = ufl.SpatialCoordinate(mesh)
    form = (inner(grad(u), grad(v)) + inner(grad(w), grad(z))) * dx
    bcs = [rafter.DirichletBC(V, x[0], part=0), rafter.DirichletBC(V, 1 + x[1], part=1)]
    rafter.solve(form == 0, [one, other], bcs)
    assert one([0.3, 0.6]) == pytest.approx(0.3) and other([0.3, 0.6]) == pytest.approx(1.6)
    with pytest.raises(rafter.InputError, match="part=i"):
        rafter.solve(form == 0, [one, other], rafter.DirichletBC(V, 0.0))
    A = rafter.Operator(form, bcs)
    assert len(A.constrained) == 2 * 12


def test_parts_on_one_element_of_two_makers(mesh, V):
    Q = rafter.FunctionSpace(mesh, basix.ufl.element("Lagrange", "triangle", 1))
    (u, p), (v, q) = ufl.TrialFunctions(ufl.MixedFunctionSpace(V, Q)), ufl.TestFunctions(ufl.MixedFunctionSpace(V, Q))
    one, other = rafter.Function(V), rafter.Function(Q)
    rafter.solve(u * v * dx + p * q * dx == v * dx + 2 * q * dx, [one, other])
    assert np.allclose(one.values, 1) and np.allclose(other.values, 2)


def test_newton_on_parts(mesh, V):
    W = ufl.MixedFunctionSpace(V, V)
    v, z = ufl.TestFunctions(W)
    a, b = rafter.Function(V, name="a").interpolate(1.0), rafter.Function(V, name="b").interpolate(1.0)
    rafter.solve((a**2 - 4) * v * dx + (a * b - 6) * z * dx == 0, [a, b])
    assert np.allclose(a.values, 2) and np.allclose(b.values, 3)


def test_a_part_of_a_mixed_function_is_data(mesh):
    P = basix.ufl.element("Lagrange", "triangle", 1, shape=(2,)), basix.ufl.element("Lagrange", "triangle", 1)
    w = rafter.Function(rafter.FunctionSpace(mesh, basix.ufl.mixed_element(P)))
    w.parts[0].interpolate((1.0, 2.0))
    w.parts[1].interpolate(3.0)
    assert [rafter.assemble(w[i] * dx) for i in range(3)] == pytest.approx([1, 2, 3])


def test_points_have_the_dimension_of_the_mesh(V):
    f = rafter.Function(V).interpolate(lambda x: x[0])
    for points in ([0.3], [0.1, 0.2, 0.3], 0.5, [[[0.1, 0.2]]]):
        with pytest.raises(rafter.InputError, match="points have the shape"):
            f(points)
    line = rafter.Function(rafter.FunctionSpace(rafter.box([4]), "Lagrange", 1)).interpolate(lambda x: x[0])
    assert np.allclose(line(np.linspace(0, 1, 5)), np.linspace(0, 1, 5))
    assert line(0.3) == pytest.approx(0.3) and line([[0.3]]) == pytest.approx([0.3])


@pytest.mark.parametrize("arguments, message", [
    ({"facet_tags": [1]}, "facet_tags"), ({"facets": [[0, 3]], "facet_tags": [1, 2]}, "facet_tags"),
    ({"facets": [[0, 17]], "facet_tags": [1]}, "17"), ({"cell_tags": {"quadrilateral": [1]}}, "cell_tags"),
    ({"cell_tags": {"triangle": [1]}}, "cell_tags"), ({"cells": {"triangle": [[0, 1, 4, 3]]}}, "triangle"),
    ({"cells": {"quadrilateral": [[0, 1, 4, 9]]}}, "9"), ({"points": [1.0, 2.0]}, "points"), ({"cells": {"star": [[0]]}}, "star")])
def test_arrays_that_are_no_mesh(arguments, message):
    points, cells = two_squares()
    with pytest.raises(rafter.InputError, match=message):
        rafter.mesh_from_arrays(**({"points": points, "cells": cells} | arguments))


@pytest.mark.parametrize("shape, points", [
    ("interval", [[1.0], [0]]), ("triangle", [[0, 0], [0, 1], [1, 0.0]]), ("quadrilateral", [[0, 0], [0, 1], [1, 1], [1, 0.0]]),
    ("tetrahedron", [[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1.0]]), ("prism", [[0, 0, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0.0]]),
    ("pyramid", [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0.5, 0.5, 1]]),
    ("hexahedron", [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])])
def test_mirrored_cells_are_turned(shape, points):
    volume = {"triangle": 1 / 2, "tetrahedron": 1 / 6, "prism": 1 / 2, "pyramid": 1 / 3}.get(shape, 1)
    mesh = rafter.mesh_from_arrays(points, {shape: [list(range(len(points)))]})
    assert rafter.assemble(rafter.Constant(mesh, 1.0) * dx) == pytest.approx(volume)


def test_cell_tags_by_shape_and_degree():
    points, cells = two_squares()
    mesh = rafter.mesh_from_arrays(points, {("quadrilateral", 1): cells["quadrilateral"]}, {"quadrilateral": [1, 2]})
    one = rafter.Constant(mesh, 1.0)
    assert rafter.assemble(one * dx(2)) == pytest.approx(1)


def test_jumps_by_constants_are_seen_by_levels():
    """1066 iterations with points of the levels' own."""
    mesh = rafter.box([8, 8, 8])
    V = rafter.FunctionSpace(mesh, "Lagrange", 2)
    u, v, x, uh = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(mesh), rafter.Function(V)
    k = ufl.conditional(ufl.gt(ufl.sin(17 * x[0]) * ufl.sin(17 * x[1]) * ufl.sin(17 * x[2]), 0), rafter.Constant(mesh, 1e6), 1.0)
    with pytest.warns(UserWarning, match="coefficients change within cells"):
        solution = rafter.solve(k * inner(grad(u), grad(v)) * dx == v * dx, uh, rafter.DirichletBC(V, 0.0),
                                solver={"method": "cg", "preconditioner": "multigrid"})
    assert solution.iterations < 100


def test_output_files_anywhere(tmp_path, V):
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="T")
    rafter.solve(u * v * dx == v * dx, uh, output={"file": tmp_path / "o.vtkhdf"}, output_fields={"twice": 2 * uh})
    assert (tmp_path / "o.vtkhdf").stat().st_size > 0


def test_forms_keep_their_meshes():
    x = ufl.SpatialCoordinate(rafter.box([2, 2]))
    assert rafter.assemble(x[0] * dx) == pytest.approx(0.5)
    c = rafter.Constant(rafter.box([2]), 2.0)
    assert rafter.assemble(c * dx) == pytest.approx(2)


def test_constants_of_any_rank(mesh):
    V = rafter.FunctionSpace(mesh, "Lagrange", 1, shape=(2,))
    K, g = rafter.Constant(mesh, [[2.0, 0.5], [0.5, 1.0]]), rafter.Constant(mesh, (1.0, -1.0))
    u, v, uh, x = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u"), ufl.SpatialCoordinate(mesh)
    exact = x[0] * g
    solution = rafter.solve(inner(grad(u) * K, grad(v)) * dx == 0, uh, rafter.DirichletBC(V, exact), exact={uh: exact})
    assert solution.errors["u"]["l2"] < 1e-12
    f = rafter.Function(rafter.FunctionSpace(mesh, "Lagrange", 1)).project(inner(g, K * uh))
    assert f([0.25, 0.5]) == pytest.approx(0.25 * (1 * (2 - 0.5) - (0.5 - 1)))
    f.interpolate(inner(g, ufl.as_vector((x[0], x[1]))))
    assert f([0.25, 0.5]) == pytest.approx(-0.25)


def test_long_sums(V):
    f = rafter.Function(V).interpolate(1.0)
    assert rafter.assemble(sum(ufl.sin(i * f) ** 2 + ufl.cos(i * f) ** 2 for i in range(150)) * dx) == pytest.approx(150)


@pytest.mark.parametrize("name", ["w0", "v", "my u", "x", "T"])
def test_names_of_unknowns(V, name):
    f, uh = rafter.Function(V).interpolate(2.0), rafter.Function(V, name=name)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    solution = rafter.solve(u * v * dx == f * v * dx, uh, exact={uh: 2.0 + 0 * ufl.SpatialCoordinate(V.mesh)[0]})
    assert np.allclose(uh.values, 2)
    assert list(solution.errors) == [name if name in ("w0", "T") else "u"]


def test_two_unknowns_of_one_name(mesh, V):
    W = ufl.MixedFunctionSpace(V, V)
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    one, other = rafter.Function(V, name="u"), rafter.Function(V, name="u")
    solution = rafter.solve(u * v * dx + p * q * dx == v * dx + 2 * q * dx, [one, other])
    assert np.allclose(one.values, 1) and np.allclose(other.values, 2)
    assert list(solution.fields) == ["u", "u_"]


def test_the_unknown_itself_is_the_state_before(V):
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u").interpolate(1.0)
    problem = rafter.Problem(u * v * dx == 2 * uh * v * dx, uh, functionals={"mean": uh * dx})
    for step in range(3):
        solution = problem.solve()
        assert solution.functionals["mean"] == pytest.approx(2.0 ** (step + 1))


def test_equal_spaces_are_one(mesh):
    u, v = ufl.TrialFunction(rafter.FunctionSpace(mesh, "Lagrange", 1)), ufl.TestFunction(rafter.FunctionSpace(mesh, "Lagrange", 1))
    uh = rafter.Function(rafter.FunctionSpace(mesh, "Lagrange", 1))
    rafter.solve(u * v * dx == v * dx, uh)
    assert np.allclose(uh.values, 1)
    assert rafter.Operator(u * v * dx).shape == (16, 16)


def test_tensor_valued_unknowns(mesh):
    V = rafter.FunctionSpace(mesh, "Lagrange", 1, shape=(2, 3))
    x, uh = ufl.SpatialCoordinate(mesh), rafter.Function(V, name="u")
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    exact = ufl.as_matrix(((x[0], 2 * x[0], x[1]), (1 + 0 * x[0], x[1], x[0] + x[1])))
    solution = rafter.solve(inner(grad(u), grad(v)) * dx == 0, uh, rafter.DirichletBC(V, exact), exact={uh: exact})
    assert solution.errors["u"]["l2"] < 1e-12
    assert uh([0.25, 0.5]).shape == (2, 3) and uh([0.25, 0.5])[1, 2] == pytest.approx(0.75)


def test_predicates_that_hold_nowhere_are_told(V):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    with pytest.warns(UserWarning, match="holds at no facet"):
        rafter.solve(u * v * dx == v * dx, rafter.Function(V, name="nowhere"), rafter.DirichletBC(V, 0.0, where=lambda x: x[0] < -1))


def test_algebra_of_forms(V):
    """action, adjoint, lhs, rhs and replace of UFL."""
    u, v, f = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V).interpolate(lambda x: 1 + x[0] * x[1])
    x = ufl.SpatialCoordinate(V.mesh)
    a = (u.dx(0) * v + x[0] * u * v) * dx
    A = rafter.Operator(a)
    assert np.allclose(rafter.assemble(ufl.action(a, f)), A @ f.values)
    assert np.allclose(rafter.Operator(ufl.adjoint(a)).to_csr().toarray(), A.to_csr().toarray().T)
    both = (u - f) * v * dx
    assert np.allclose(rafter.assemble(ufl.rhs(both)), rafter.Operator(ufl.lhs(both)) @ f.values)
    g = rafter.Function(V).interpolate(3.0)
    assert rafter.assemble(ufl.replace(f * dx, {f: g})) == pytest.approx(3)
    assert math.isclose(rafter.assemble(f**2 * dx), f.values @ (rafter.Operator(u * v * dx) @ f.values), rel_tol=1e-12)


def test_components_by_sub(mesh):
    V = rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(2,))
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V)
    rafter.solve(inner(u, v) * dx == inner(ufl.as_vector((1.0, 1.0)), v) * dx, uh, rafter.DirichletBC(V.sub(0), 0.25, tags="xmin"))
    assert uh([0.0, 0.5]) == pytest.approx([0.25, 1.0])
    with pytest.raises(rafter.InputError, match="no part 2"):
        V.sub(2)
    element = basix.ufl.mixed_element([basix.ufl.element("Lagrange", "triangle", 2, shape=(2,)), basix.ufl.element("Lagrange", "triangle", 1)])
    W = rafter.FunctionSpace(mesh, element)
    (u, p), (v, q), w = ufl.TrialFunctions(W), ufl.TestFunctions(W), rafter.Function(W)
    bc = rafter.DirichletBC(W.sub(0).sub(1), lambda x: 3 * x[1], tags="xmax")
    rafter.solve(inner(u, v) * dx + p * q * dx == q * dx, w, bc)
    assert w.parts[0]([1.0, 0.5]) == pytest.approx([0.0, 1.5])


def test_values_are_in_the_order_of_nodes(mesh):
    V = rafter.FunctionSpace(mesh, "Lagrange", 3)
    f = rafter.Function(V)
    f.values = np.sin(V.nodes[:, 0]) + V.nodes[:, 1]
    assert f(V.nodes[7]) == pytest.approx(f.values[7])
    assert np.array_equal(f.at_nodes()[:, 0], f.values)
    g = rafter.Function(rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(2,))).interpolate(lambda x: (x[0], 2 * x[1]))
    assert np.allclose(g.at_nodes(), g.function_space().nodes * [1, 2])
    copy = g.copy().interpolate(g.at_nodes().T)
    assert np.array_equal(copy.values, g.values)
    assert f(0.25, 0.5) == f([0.25, 0.5])


def test_means_over_cells(mesh):
    V = rafter.FunctionSpace(mesh, "Lagrange", 2)
    f = rafter.Function(V).interpolate(lambda x: x[0] ** 2)
    D = rafter.Function(rafter.FunctionSpace(mesh, "DG", 0)).project(grad(f)[0])
    assert np.allclose(D.values, 2 * D.function_space().nodes[:, 0])
    assert np.allclose(D.interpolate(2 * f).values, D.project(2 * f).values)


def test_files_of_functions_and_series(tmp_path, mesh, V):
    f = rafter.Function(V, name="f").interpolate(lambda x: x[0])
    k = rafter.Function(rafter.FunctionSpace(mesh, "DG", 0), name="k").interpolate(lambda x: x[1])
    rafter.write(tmp_path / "f.vtkhdf", f, k)
    with rafter.Series(tmp_path / "s.vtkhdf", f) as series:
        for time in (0.0, 0.1):
            series.append(time)
    for name, wanted in (("f.vtkhdf", (b"f", b"k")), ("s.vtkhdf", (b"f", b"Steps"))):
        content = (tmp_path / name).read_bytes()
        assert content.startswith(b"\x89HDF") and all(word in content for word in wanted)
    with pytest.raises(ZeroDivisionError):
        with rafter.Series(tmp_path / "none.vtkhdf", f):
            raise ZeroDivisionError
    assert not (tmp_path / "none.vtkhdf").exists()


def test_texts_of_kernels_do_not_depend_on_what_was_made_before(mesh, V):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)

    def source():
        k, c, f = rafter.by_tag(mesh, {1: 2.0}), rafter.Constant(mesh, 3.0), rafter.Function(V).interpolate(1.0)
        return rafter.Operator(k * c * (1 + f) * u * v * dx).kernels[0].source

    assert source() == source()


def test_expressions_of_functions_are_interpolated(mesh, V):
    W = rafter.FunctionSpace(mesh, "Lagrange", 3)
    x = ufl.SpatialCoordinate(mesh)
    f = rafter.Function(W).interpolate(x[0] ** 2 * x[1])
    g = rafter.Function(rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(2,))).interpolate(grad(f))
    assert g([0.3, 0.4]) == pytest.approx([0.24, 0.09], abs=1e-13)
    h = rafter.Function(V).interpolate(f * f + x[0])
    assert h.values == pytest.approx(V.nodes[:, 0] ** 4 * V.nodes[:, 1] ** 2 + V.nodes[:, 0], abs=1e-13)
    with pytest.raises(rafter.InputError, match="shape \\(2,\\), and the function \\(\\)"):
        h.interpolate(grad(f))
    k = rafter.Function(rafter.FunctionSpace(mesh, "DG", 0)).interpolate(f + 0 * x[0])
    assert rafter.assemble(k * dx) == pytest.approx(1 / 6)


def test_progress(V, capsys):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    form, events = inner(grad(u), grad(v)) * dx + u * v * dx == v * dx, []
    rafter.solve(form, rafter.Function(V), progress=events.append)
    rafter.solve(form, rafter.Function(V), progress=True)
    printed = capsys.readouterr().out
    assert "kernels: 1 for the operator" in printed and "\r" not in printed  # no terminal
    assert printed.splitlines() == events


def test_load_steps(mesh, V, recwarn):
    u, v = rafter.Function(V, name="u"), ufl.TestFunction(V)
    bcs = [rafter.DirichletBC(V, 0.0, tags="xmin"), rafter.DirichletBC(V, 0.5, tags="xmax")]
    rafter.solve((1 + u**2) * inner(grad(u), grad(v)) * dx == 0, u, bcs, newton={"load_steps": 2})
    assert not recwarn.list
    with pytest.warns(UserWarning, match="load_steps is not used"):
        rafter.solve((1 + u**2) * inner(grad(u), grad(v)) * dx - v * dx == 0, u, bcs[:1], newton={"load_steps": 2})


@pytest.mark.parametrize("transient", [False, True])
def test_newtons_method_with_a_null_space(transient):
    """A cavity: the mean of the pressure is fixed, and the flow is that of a small term that fixes it."""
    mesh = rafter.box([4, 4])
    V, Q = rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(2,)), rafter.FunctionSpace(mesh, "Lagrange", 1)
    W = ufl.MixedFunctionSpace(V, Q)
    (v, q) = ufl.TestFunctions(W)
    x = ufl.SpatialCoordinate(mesh)
    walls = [rafter.DirichletBC(V, (0.0, 0.0), tags=("xmin", "xmax", "ymin")),
             rafter.DirichletBC(V, ufl.as_vector((16 * x[0] ** 2 * (1 - x[0]) ** 2, 0.0)), tags="ymax")]
    flows = []
    for has_term in (False, True):
        u, p, old = rafter.Function(V, name="u"), rafter.Function(Q, name="p"), rafter.Function(V)
        F = (0.05 * inner(grad(u), grad(v)) + inner(ufl.dot(grad(u), u), v) - p * ufl.div(v) - q * ufl.div(u)) * dx
        if transient:
            F += 10 * inner(u - old, v) * dx
        if has_term:
            F -= 1e-9 * (p - 0.25) * q * dx
        rafter.solve(F == 0, [u, p], walls, null_space=() if has_term else rafter.NullSpace(1, mean=0.25), newton={"rtol": 1e-12})
        assert rafter.assemble(p * dx) == pytest.approx(0.25, abs=1e-6 if has_term else 1e-12)
        flows.append((u, p))
    (u, p), (other_u, other_p) = flows
    assert np.abs(u.values - other_u.values).max() < 1e-8 and np.abs(p.values - other_p.values).max() < 1e-7


@pytest.mark.parametrize("shape", ["triangle", "quadrilateral", "tetrahedron", "hexahedron"])
def test_curved_cells_of_either_orientation(shape):
    """A reflection of the mesh turns all cells; the volume of a curved one is that of the mesh before."""
    dim = 2 if shape in ("triangle", "quadrilateral") else 3
    reference = {"triangle": [[0, 0], [1, 0], [0, 1]], "quadrilateral": [[0, 0], [1, 0], [1, 1], [0, 1]],
                 "tetrahedron": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                 "hexahedron": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]}[shape]
    corners = np.array(reference, dtype=float)
    from rafter._mesh import _MIDDLES

    points = np.vstack([corners, *(corners[[int(c) for c in middle]].mean(axis=0, keepdims=True) for middle in _MIDDLES[shape])])
    points = points + 0.1 * np.sin(3 * points[:, ::-1]) * points[:, :1]
    volumes = []
    for sign in (1, -1):
        x = points.copy()
        x[:, 0] *= sign
        mesh = rafter.mesh_from_arrays(x, {(shape, 2): [list(range(len(x)))]})
        V = rafter.FunctionSpace(mesh, "Lagrange", 2)
        f = rafter.Function(V).interpolate(ufl.SpatialCoordinate(mesh)[dim - 1])
        volumes.append((rafter.assemble(rafter.Constant(mesh, 1.0) * dx), rafter.assemble(f * dx(degree=8))))
    assert volumes[0] == pytest.approx(volumes[1], rel=1e-13) and volumes[0][0] > 0.1


def test_parts_of_mixed_functions_take_what_functions_take(mesh, V):
    P1, P2 = (basix.ufl.element("Lagrange", "triangle", degree) for degree in (1, 2))
    w = rafter.Function(rafter.FunctionSpace(mesh, basix.ufl.mixed_element([basix.ufl.blocked_element(P2, shape=(2,)), P1])))
    x = ufl.SpatialCoordinate(mesh)
    g = rafter.Function(V).interpolate(x[0] + 2 * x[1])
    w.parts[0].interpolate(ufl.as_vector((x[1], x[0] * x[1])))
    w.parts[1].interpolate(g)
    assert w.parts[0]([0.2, 0.5]) == pytest.approx([0.5, 0.1]) and w.parts[1]([0.2, 0.5]) == pytest.approx(1.2)
    w.parts[0].interpolate(lambda x: (np.sin(x[0]), 0))
    assert w.parts[0].at_nodes()[:, 1] == pytest.approx(0)
    w.parts[0].project(grad(g))
    assert w.parts[0]([0.2, 0.5]) == pytest.approx([1, 2])


def test_constants_of_which_forms_hold_a_part(mesh, V):
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V)
    c, d, e = rafter.Constant(mesh, (1.0, 2.0)), rafter.Constant(mesh, 3.0), rafter.Constant(mesh, ((1.0, 2.0), (3.0, 4.0)))
    assert rafter.assemble(c[1] * dx) == pytest.approx(2) and rafter.assemble((c[0] + 0 * c[1]) * dx) == pytest.approx(1)
    A = rafter.Operator(e[1, 0] * u * v * dx)
    assert (A @ np.ones(A.shape[1])).sum() == pytest.approx(3)
    c.value, e.value = (5.0, 6.0), ((0, 0), (7.0, 0))
    assert (A.update() @ np.ones(A.shape[1])).sum() == pytest.approx(7)
    solution = rafter.solve(c[1] * u * v * dx == 12 * v * dx, uh, functionals={"a": d * uh * dx}, exact={uh: c[1] / 3})
    assert solution.functionals["a"] == pytest.approx(6) and list(solution.errors.values())[0]["l2"] < 1e-12


def test_stokes_with_a_form_for_the_preconditioner():
    """The pressure's block is scaled by the viscosity: without it iterations grow."""
    mesh = rafter.box([8, 8])
    Q = rafter.FunctionSpace(mesh, "Lagrange", 1)
    W = ufl.MixedFunctionSpace(rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(2,)), Q)
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    V = W.ufl_sub_spaces()[0]
    nu, iterations = 1e-3, []
    walls = [rafter.DirichletBC(V, (0.0, 0.0), tags=("xmin", "xmax", "ymin")), rafter.DirichletBC(V, (1.0, 0.0), tags="ymax")]
    for pressure in (1, 1 / nu):
        form = (nu * inner(grad(u), grad(v)) + pressure * p * q) * dx
        solution = rafter.solve((nu * inner(grad(u), grad(v)) - p * ufl.div(v) - q * ufl.div(u)) * dx == 0,
                                [rafter.Function(V, name="u"), rafter.Function(Q, name="p")],
                                walls, null_space=rafter.NullSpace(1, mean=0.0), preconditioner=form,
                                solver={"method": "minres", "preconditioner": "block", "blocks": {"u": "multigrid", "p": "jacobi"}, "rtol": 1e-8})
        iterations.append(solution.iterations)
    assert 1.2 * iterations[1] < iterations[0]


def test_values_of_components():
    mesh = rafter.box([2, 2, 2])
    V = rafter.FunctionSpace(mesh, "Lagrange", 1, shape=(3,))
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V)
    x = ufl.SpatialCoordinate(mesh)
    for value in (2.0, rafter.Constant(mesh, 2.0), 2 + 0 * x[1], lambda x: 2.0, [2.0, 2.0], [2.0, 2.0, 7.0]):
        rafter.solve(inner(u, v) * dx == 0, uh, rafter.DirichletBC(V, value, components=[0, 1]))
        on_boundary = np.isclose(np.abs(V.nodes - 0.5).max(axis=1), 0.5)
        assert np.allclose(uh.at_nodes()[on_boundary], [2, 2, 0])
    for value, components in [([2.0, 3.0], [0]), ([2.0, 3.0], [0, 1, 2]), (2.0, [3])]:
        with pytest.raises(rafter.InputError, match="DirichletBC: "):
            rafter.solve(inner(u, v) * dx == 0, uh, rafter.DirichletBC(V, value, components=components))


@pytest.mark.parametrize("shape", ["quadrilateral", "hexahedron"])
def test_means_over_cells_that_are_no_parallelepipeds(shape):
    points = {"quadrilateral": [[0, 0], [2, 0], [1, 1], [0, 1]],
              "hexahedron": [[0, 0, 0], [2, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [2, 0, 1], [1, 1, 1], [0, 1, 1]]}[shape]
    mesh = rafter.mesh_from_arrays(points, {shape: [list(range(len(points)))]})
    k = rafter.Function(rafter.FunctionSpace(mesh, "DG", 0)).project(ufl.SpatialCoordinate(mesh)[0] ** 2)
    assert k.values[0] == pytest.approx(rafter.assemble(ufl.SpatialCoordinate(mesh)[0] ** 2 * dx) / rafter.assemble(rafter.Constant(mesh, 1.0) * dx), rel=1e-10)


def test_the_limit_of_recursion_comes_back():
    import sys
    import threading

    before = sys.getrecursionlimit()

    def run():
        V = rafter.FunctionSpace(rafter.box([2, 2]), "Lagrange", 1)
        for _ in range(5):
            rafter.assemble(ufl.TestFunction(V) * dx)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.getrecursionlimit() == before


def test_problems_that_are_solved_again_take_what_has_changed(mesh, V):
    u, v, f, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V).interpolate(1.0), rafter.Function(V, name="u")
    c, bc = rafter.Constant(mesh, 2.0), rafter.DirichletBC(V, 0.0, tags="xmin")
    problem = rafter.Problem(c * u * v * dx == f * v * dx, uh, bc, functionals={"mean": uh * dx})
    on_the_left = np.isclose(V.nodes[:, 0], 0)
    problem.solve()
    assert np.allclose(uh.values[on_the_left], 0)
    problem.bcs = []
    assert problem.solve().functionals["mean"] == pytest.approx(0.5)
    f.interpolate(3.0)
    assert problem.solve().functionals["mean"] == pytest.approx(1.5)
    c.value = 1.0
    assert problem.solve().functionals["mean"] == pytest.approx(3)
    problem.functionals = {"twice": 2 * uh * dx}
    assert problem.solve().functionals == {"twice": pytest.approx(6)}
    problem.equation = u * v * dx == 7 * v * dx
    assert problem.solve().functionals["twice"] == pytest.approx(14)
    other = rafter.Function(V, name="other")
    problem.unknowns, problem.functionals = [other], {}
    problem.solve()
    assert np.allclose(other.values, 7)
    bc.value = 5.0
    problem.bcs = [bc]
    problem.solve()
    assert np.allclose(other.values[on_the_left], 5)
    other.name = "renamed"
    assert "renamed" in problem._stated().names
