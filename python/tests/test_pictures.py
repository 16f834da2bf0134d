# SPDX-License-Identifier: BSD-3-Clause
"""Pictures, speeds and suites: what is drawn and counted, not how fast it is."""

import ast
import io
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import rafter
import ufl
from matplotlib.image import imread
from ufl import dx, grad, inner


def colours(picture):
    """The pixels of a PNG that are not white, shape (pixel, 3)."""
    pixels = imread(io.BytesIO(picture._repr_png_()))[..., :3].reshape(-1, 3)
    return pixels[(pixels < 0.99).any(axis=1)]


@pytest.mark.parametrize("shape", ["triangle", "hexahedron", "pyramid"])
def test_functions_are_drawn_with_their_values(shape, tmp_path):
    mesh = rafter.box([2, 2] if shape == "triangle" else [2, 2, 2], shape=shape)
    u = rafter.Function(rafter.FunctionSpace(mesh, "Lagrange", 3), name="u").interpolate(lambda x: x[0])
    picture = rafter.plot(u, tmp_path / "u.png", size=(200, 150), cmap="gray", edges=False)
    assert (tmp_path / "u.png").read_bytes() == picture.data
    found = colours(picture)
    assert len(found) > 3000 and np.allclose(found[:, 0], found[:, 1], atol=0.02 if shape == "triangle" else 0.5)  # lights have colours in space
    constant = colours(rafter.plot(rafter.Function(u.function_space(), name="u"), size=(200, 150), cmap="gray", clim=(-1, 1), show_scalar_bar=False))
    assert len(np.unique(found.round(2), axis=0)) > 5 * len(np.unique(constant.round(2), axis=0))


def test_vectors_displace_the_mesh_and_edges_of_curved_cells_are_drawn():
    mesh = rafter.box([3, 3, 3], degree=2)
    V = rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(3,))
    w = rafter.Function(V, name="w").interpolate(lambda x: np.stack([0 * x[0], 0 * x[0], x[0] ** 2]))
    still, moved = rafter.plot(w, size=(200, 150)), rafter.plot(w, size=(200, 150), warp=1.0, component=2)
    assert still.data != moved.data
    other = rafter.Function(rafter.FunctionSpace(mesh, "Lagrange", 1), name="w").interpolate(lambda x: x[1])
    assert len({rafter.plot(other, size=(200, 150), warp=warp, warp_by=w).data for warp in (0.5, 1.0)}) == 2
    plain, edges = rafter.plot(mesh, size=(300, 300), edges=False), rafter.plot(mesh, size=(300, 300))
    dark = [np.count_nonzero(colours(picture).max(axis=1) < 0.2) for picture in (plain, edges)]
    assert dark[1] > dark[0] + 300


def test_values_of_cells_and_parts_of_mixed_functions():
    mesh = rafter.box([4, 4])
    k = rafter.Function(rafter.FunctionSpace(mesh, "DG", 0), name="k").interpolate(lambda x: x[0])
    levels = np.unique(colours(rafter.plot(k, size=(200, 150), cmap="gray", show_scalar_bar=False)).round(3), axis=0)
    assert 4 <= len(levels) < 12  # four values, and pixels between two of them
    import basix.ufl

    P = basix.ufl.element("Lagrange", "quadrilateral", 1)
    u = rafter.Function(rafter.FunctionSpace(mesh, basix.ufl.mixed_element([P, P])), name="u")
    with pytest.raises(rafter.InputError, match="part=i"):
        rafter.plot(u)
    assert rafter.plot(u, part=1, size=(100, 100))._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(rafter.InputError, match="Function or a Mesh"):
        rafter.plot(u[0])
    with pytest.raises(rafter.InputError, match=r"\.png"):
        rafter.plot(k, "k.jpg", size=(100, 100))


def problem(solver):
    V = rafter.FunctionSpace(rafter.box([6, 6], shape="triangle"), "Lagrange", 2)
    u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
    return rafter.solve(inner(grad(u), grad(v)) * dx == v * dx, uh, rafter.DirichletBC(V, 0.0), solver=solver)


def test_convergence_is_drawn_with_a_point_for_each_residual(tmp_path):
    solution = problem({"method": "cg", "preconditioner": "jacobi"})
    other = problem({"method": "cg", "preconditioner": "multigrid"})
    text = rafter.plot_convergence(solution, other, path=tmp_path / "c.svg")._repr_svg_()
    assert (tmp_path / "c.svg").read_text() == text
    points = [len(line.split()) for line in re.findall(r'points="([^"]*)"', text)]
    assert points == [solution.iterations + 1, other.iterations + 1]
    assert "jacobi" in text and "multigrid" in text
    V = rafter.FunctionSpace(rafter.box([4, 4]), "Lagrange", 1)
    u, v = rafter.Function(V, name="u"), ufl.TestFunction(V)
    newton = rafter.solve(((1 + u**2) * inner(grad(u), grad(v)) - 10 * v) * dx == 0, u, rafter.DirichletBC(V, 0.0))
    text = rafter.plot_convergence(newton, names=["Newton"]).data
    assert "over steps" in text and "Newton" in text
    assert [len(line.split()) for line in re.findall(r'points="([^"]*)"', text)] == [newton.iterations + 1]
    assert "quadrature: Gauss" in newton.details()


def test_speeds_are_those_of_the_roofline(tmp_path):
    V = rafter.FunctionSpace(rafter.box([8, 8, 8]), "Lagrange", 2)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    A = rafter.Operator(inner(grad(u), grad(v)) * dx)
    speed = A.speed(0.01)
    assert speed["share"] == pytest.approx(speed["bound_seconds"] / speed["seconds"])
    assert speed["dofs_per_second"] == pytest.approx(A.shape[0] / speed["seconds"])
    text = str(A)
    assert "MDoF/s" in text and "%" in text and A.kernels[0].plan in text
    drawn = rafter.plot_roofline(A, names=["Laplace"], path=tmp_path / "r.svg").data
    assert "Laplace" in drawn and "GFLOP/s" in drawn
    x = np.sin(np.arange(A.shape[1]))
    before, tuned = A @ x, A.tune()
    assert [name for name, _, _ in tuned] == [kernel.name for kernel in A.kernels]
    assert A.kernels[0].plan == tuned[0][1]
    assert np.abs(A @ x - before).max() < 1e-13 * np.abs(before).max()
    assert A.tune()[0][2] == 0  # remembered
    matrices = A.cell_matrices()
    timed = A.tune(cell_matrices=True)
    assert timed[0][2] > 0 and A.tune(cell_matrices=True)[0][2] == 0
    np.testing.assert_allclose(A.cell_matrices(), matrices, rtol=0, atol=1e-13)


def test_suite_of_simplices():
    rows = rafter.bench.simplex(triangles=60, tetrahedra=60, degrees=(1, 2), tune=False, seconds=1e-3, progress=None)
    assert [row["case"] for row in rows[:6]] == ["mass.2D.P1", "helmholtz.2D.P1", "laplace.2D.P1", "elasticity.2D.P1", "st_venant_kirchhoff.2D.P1",
                                                 "mass.2D.P2"]
    assert len(rows) == 20 and sum(count for _, count in rows.histogram()) == 20
    assert rows[-1]["unknowns"] == 3 * 5**3 and rows[-1]["cells"] == 48
    assert str(rows).count("\n") > 20
    cases = sum(len(degrees) * len(rafter.bench.OPERATORS) for degrees in rafter.bench.DEGREES.values())
    assert cases == 70
    with pytest.raises(rafter.InputError, match="no operator"):
        rafter.bench.simplex(["masses"])


def test_types(tmp_path):
    """Stubs name what there is, and programs of users pass a checker of types; wrong ones do not."""
    folder = pathlib.Path(rafter.__file__).parent
    names = {alias.asname for node in ast.parse((folder / "__init__.pyi").read_text()).body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names - {"bench"} == set(rafter.__all__)
    defined = {node.name for node in ast.parse((folder / "_core.pyi").read_text()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert {"Mesh", "Operator", "Problem", "speed"} <= defined
    program = tmp_path / "program.py"
    program.write_text("import rafter\n"
                       "mesh = rafter.box([2, 2], shape='triangle')\n"
                       "u = rafter.Function(rafter.FunctionSpace(mesh, 'Lagrange', 2))\n"
                       "reveal_type(mesh)\nreveal_type(u.values)\n"
                       "mesh.refined('twice')\n")
    found = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir", str(tmp_path), str(program)],
                           env={"MYPYPATH": "", "PYTHONPATH": str(folder.parent), "PATH": ""}, capture_output=True, text=True, check=False).stdout
    assert 'Revealed type is "rafter._mesh.Mesh"' in found and "ndarray" in found, found
    assert re.search(r'program.py:6: error: Argument 1 to "refined" of "Mesh"', found), found
