# SPDX-License-Identifier: BSD-3-Clause
"""What is refused, and how it is said."""

import signal

import numpy as np
import pytest
import rafter
import ufl
from ufl import dx, grad, inner


def test_degrees_and_measures_that_are_refused(mesh, V):
    x, u, v = ufl.SpatialCoordinate(mesh)[0], ufl.TrialFunction(V), ufl.TestFunction(V)
    assert rafter.assemble(x**4 * dx(degree=4)) == pytest.approx(0.2)
    with pytest.raises(rafter.InputError, match="one rule"):
        rafter.assemble(x**4 * dx(degree=1) + x**3 * dx(degree=9))
    with pytest.raises(rafter.InputError, match="tags are those of the mesh"):
        rafter.assemble(x * ufl.Measure("dx", domain=mesh.ufl_domain(), subdomain_data=[1, 2])(1))
    with pytest.raises(rafter.InputError, match="quadrature degree"):
        rafter.assemble(x * dx(metadata={"quadrature_degree": 1.5}, domain=mesh.ufl_domain()))
    other = rafter.box([2, 2], shape="triangle")
    with pytest.raises(rafter.InputError, match="several meshes"):
        rafter.assemble(rafter.Function(V) * ufl.SpatialCoordinate(other)[0] * dx(domain=other.ufl_domain()))
    with pytest.raises(rafter.InputError, match="a form is expected"):
        rafter.assemble(rafter.Function(V))
    with pytest.raises(rafter.InputError, match="equation of forms"):
        rafter.solve(u * v * dx, rafter.Function(V))
    with pytest.raises(rafter.InputError, match='accepted are 1 to 12'):
        rafter.FunctionSpace(mesh, "Lagrange", 0)
    with pytest.raises(rafter.InputError, match="output_fields"):
        rafter.solve(u * v * dx == v * dx, rafter.Function(V), output={"fields": {"e": "u"}})
    with pytest.raises(rafter.InputError, match="exact"):
        rafter.solve(u * v * dx == v * dx, rafter.Function(V), check={"u": "x[0]", "max_l2_error": 1})


def test_signals_raise_what_their_handlers_raise():
    mesh = rafter.box([48, 48])
    V = rafter.FunctionSpace(mesh, "Lagrange", 4)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    problem = rafter.Problem(inner(grad(u), grad(v)) * dx == v * dx, rafter.Function(V), rafter.DirichletBC(V, 0.0),
                             solver={"method": "cg", "preconditioner": "none", "rtol": 1e-8, "max_iterations": 5000})

    def handler(number, frame):
        raise TimeoutError("of the handler")

    def at_the_solve(text):
        if text.startswith("setup"):
            signal.setitimer(signal.ITIMER_REAL, 1e-3)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(TimeoutError, match="of the handler"):
            problem.solve(progress=at_the_solve, check=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_surfaces_are_refused():
    meshio = pytest.importorskip("meshio")
    with pytest.raises(rafter.InputError):
        rafter.mesh_from_meshio(meshio.Mesh(np.array([[0, 0, 0], [1, 0, 1], [0, 1, 0.0]]), [("triangle", [[0, 1, 2]])]))


def test_mistakes_are_named(mesh, V):
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    form = u * v * dx == v * dx
    other = rafter.FunctionSpace(mesh, "Lagrange", 2)
    for message, call in {
        "unknown is missing": lambda: rafter.solve(form, None),
        "not linear": lambda: rafter.solve((u**2 - 1) * v * dx == 0, uh),
        "DirichletBC": lambda: rafter.solve(form, uh, rafter.DirichletBC(other, 0.0)),
        "solver is a dictionary": lambda: rafter.solve(form, uh, solver="cg"),
        "other names": lambda: rafter.solve(form, uh, output={"file": "x.vtkhdf"}, output_fields={"u": 2 * uh}),
        "do not hold": lambda: rafter.solve(form, uh, output={"file": "x.vtkhdf"}, output_fields={"e": uh - rafter.Function(V)}),
        "no transpose": lambda: rafter.Operator(u * v * dx).T,
        "constants are real": lambda: rafter.Constant(mesh, 1j),
        "accepted are 1 to 12": lambda: rafter.FunctionSpace(mesh, "Lagrange", 13),
    }.items():
        with pytest.raises(rafter.InputError, match=message):
            call()
    c = rafter.Constant(mesh, 1.0)
    with pytest.raises(rafter.InputError, match="shape"):
        c.value = (1.0, 2.0)


def test_warnings_are_at_the_lines_of_users(V):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    with pytest.warns(UserWarning, match="holds at no facet") as caught:
        rafter.solve(u * v * dx == v * dx, rafter.Function(rafter.FunctionSpace(V.mesh, "Lagrange", 1), name="here"),
                     rafter.DirichletBC(V, 0.0, where=lambda x: x[0] < -1))
    assert caught[0].filename == __file__


def test_messages_name_the_lines_of_users(V):
    u, v, w = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V)

    def forms():
        yield ufl.avg(u) * ufl.avg(v) * ufl.dS, "dS"
        yield ufl.erf(w) * v * dx, "erf"
        yield inner(grad(u), grad(v)) * dx + ufl.Circumradius(V.mesh.ufl_domain()) * u * v * dx, "Circumradius"
        yield ufl.div(grad(u)) * v * dx, "ufl.div(grad(u))"
        yield u * u * v * dx, "rafter.assemble(form)"  # nothing in it is wrong by itself: the line that asks for it

    for form, text in forms():
        with pytest.raises(rafter.InputError) as error:
            rafter.assemble(form)
        assert "test_mistakes.py, line" in str(error.value) and text in str(error.value).split("test_mistakes.py", 1)[1]


def test_quadrature_that_a_cap_limits_warns(V):
    u, v, f = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V).interpolate(1.0)
    with pytest.warns(UserWarning, match="degree 32 estimated .*capped"):
        rafter.Operator((1 + f**30) * u * v * dx)
    with pytest.warns(UserWarning, match="capped"):
        rafter.assemble(f**60 * dx)
    with pytest.warns(UserWarning, match="capped"):
        rafter.assemble(f**60 * v * dx)
    with pytest.warns(UserWarning, match="capped"):
        rafter.solve((1 + f**30) * u * v * dx == v * dx, rafter.Function(V))


def test_what_other_packages_call_differently_is_named(mesh, V):
    u, v, f = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V)
    form = inner(grad(u), grad(v)) * dx == v * dx
    for action, words in [(lambda: f.x, "u.values"), (lambda: f.split(), "u.parts"), (lambda: f.assign(1), "interpolate")]:
        with pytest.raises(AttributeError, match=words):
            action()
    for action, words in [(lambda: rafter.Constant(1.0), "first argument is the mesh"), (lambda: rafter.solve(form), "unknown is missing"),
                          (lambda: rafter.solve(form, f, [[rafter.DirichletBC(V, 0.0)]]), "DirichletBC, found list"),
                          (lambda: rafter.solve(form, f, rafter.DirichletBC(V, f)), "lambda x: g"),
                          (lambda: f.interpolate(ufl.as_vector((1.0, 2.0))), r"shape \(2,\)")]:
        with pytest.raises(rafter.InputError, match=words):
            action()


def test_errors_are_of_the_package_and_of_python(V):
    assert issubclass(rafter.InputError, (rafter.Error, ValueError)) and issubclass(rafter.SolverError, rafter.Error)
    for kinds in [(rafter.Error,), (ValueError,)]:
        with pytest.raises(kinds):
            rafter.box([0, 1])
    with pytest.raises(OSError):
        raise rafter.EnvironmentError("nothing there")


def test_messages_speak_of_python(V):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    with pytest.raises(rafter.Error) as error:
        rafter.solve(inner(grad(u), grad(v)) * dx == v * dx, rafter.Function(V))
    assert "rafter.DirichletBC" in str(error.value) and "null_space=rafter.NullSpace(field =" in str(error.value) and "[[" not in str(error.value)
    f = rafter.Function(V, name="f")
    rafter.solve(inner(grad(u), grad(v)) * dx == (ufl.SpatialCoordinate(V.mesh)[0] - 0.5) * v * dx, f, null_space=rafter.NullSpace("f", mean=0.0))
    assert rafter.assemble(f * dx) == pytest.approx(0, abs=1e-12)
    for field in ("g", 1):
        with pytest.raises(rafter.InputError, match="NullSpace: there is no"):
            rafter.solve(inner(grad(u), grad(v)) * dx == v * dx, f, null_space=rafter.NullSpace(field, mean=0.0))


def test_null_spaces_that_other_states_see_are_refused(V):
    u, v = rafter.Function(V, name="u"), ufl.TestFunction(V)
    load = ufl.cos(ufl.pi * ufl.SpatialCoordinate(V.mesh)[0]) * v * dx
    for k, mean in [(1 + u**2, 1.0), (ufl.exp(u), 3.0)]:
        with pytest.raises(rafter.InputError, match="not in the null space"):
            rafter.solve(k * inner(grad(u), grad(v)) * dx - load == 0, u, null_space=rafter.NullSpace(mean=mean))
    F = inner(grad(u), grad(v)) * dx + ufl.max_value(abs(u) - 10, 0) * v * dx - load
    with pytest.raises(rafter.SolverError):
        rafter.solve(F == 0, u, null_space=rafter.NullSpace(mean=20.0))
    rafter.solve((1 + inner(grad(u), grad(u))) * inner(grad(u), grad(v)) * dx - load == 0, u, null_space=rafter.NullSpace(mean=5.0))
    assert rafter.assemble(u * dx) == pytest.approx(5)


def test_expressions_of_other_meshes_are_refused(V):
    f = rafter.Function(rafter.FunctionSpace(rafter.box([3, 3], size=[2, 1], shape="triangle"), "Lagrange", 1)).interpolate(lambda x: x[0])
    g = rafter.Function(V).interpolate(f)
    assert g.values == pytest.approx(V.nodes[:, 0])
    for action in (g.interpolate, g.project):
        with pytest.raises(rafter.InputError, match="another mesh"):
            action(f + 1)


def test_cells_that_are_none():
    points = np.array([[0, 0], [1, 0], [0, 1.0]])
    for cells in [{("triangle", -1): [[0, 1, 2]]}, {("triangle", 3): [[0, 1, 2]]}, {("triangle", 2): [[0, 1, 2]]}, {"triangle": [[0.5, 1, 2]]}]:
        with pytest.raises(rafter.InputError):
            rafter.mesh_from_arrays(points, cells)


def test_arguments_are_checked_where_they_are_given(mesh, V):
    u, v, f = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V)
    W = rafter.FunctionSpace(mesh, "Lagrange", 1, shape=(2,))
    form = u * v * dx
    for action, words in [
            (lambda: rafter.Operator(form, threads="2"), "threads is a number"), (lambda: rafter.Operator(form, degree=-1), "degree is a number"),
            (lambda: rafter.assemble(form, rafter.DirichletBC(V, 0.0)), "device and plan are texts"), (lambda: rafter.DirichletBC(0.0, V), "first argument"),
            (lambda: rafter.DirichletBC(V, 0.0, lambda x: True), "where="), (lambda: rafter.DirichletBC(V, 0.0, tags=[]), "tags is empty"),
            (lambda: rafter.DirichletBC(V, "x[0]"), "values are numbers"), (lambda: rafter.DirichletBC(V, 0.0, tags=1.5), "tags are numbers"),
            (lambda: rafter.solve(form == v * dx, f, rafter.DirichletBC(V, (1.0, 7.0))), r"shape \(2,\)"),
            (lambda: rafter.solve(form == v * dx, f, rafter.DirichletBC(W.sub(0), (1.0, 7.0))), "no unknown"),
            (lambda: rafter.solve(form == v * dx, f, petsc_options={}), "solver="), (lambda: rafter.box([4.5, 4]), "integers"),
            (lambda: mesh.periodic("xmin", "xmax"), "pairs"), (lambda: rafter.write("u.vtu", f), "vtkhdf"), (lambda: rafter.Function(mesh), "FunctionSpace"),
            (lambda: f.interpolate(lambda x: 1 / (x[0] - 2) * np.nan), "no finite value"), (lambda: rafter.Series("u.pvd", f), "vtkhdf")]:
        with pytest.raises(rafter.InputError, match=words):
            action()
    with pytest.raises(AttributeError, match=r"rafter.Operator\(a, bcs\).lift"):
        rafter.apply_lifting
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        rafter.nothing


def test_series_keep_what_was_appended(tmp_path, V):
    f = rafter.Function(V, name="f")
    path = tmp_path / "f.vtkhdf"
    with pytest.raises(KeyError), rafter.Series(path, f) as series:
        series.append(0.0)
        series.append(1.0)
        with pytest.raises(rafter.InputError, match="ascend"):
            series.append(1.0)
        raise KeyError
    assert path.stat().st_size > 0
    series = rafter.Series(tmp_path / "g.vtkhdf", f)
    series.append(0.0)
    series.close()
    assert (tmp_path / "g.vtkhdf").exists()
    with pytest.raises(rafter.InputError, match="closed"):
        series.append(2.0)
    with rafter.Series(tmp_path / "h.vtkhdf", f):
        pass
    assert not (tmp_path / "h.vtkhdf").exists()
