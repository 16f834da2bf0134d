# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of functions and meshes (by PyVista), of convergence and of rooflines (by the library)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._mesh import Mesh

if TYPE_CHECKING:
    from ._operator import Operator
    from ._problem import Solution
    from ._spaces import Function


class Picture:
    """A picture that notebooks show. `data` is its text of SVG or its bytes of PNG; save(path) writes it."""

    def __init__(self, data):
        self.data = data

    def save(self, path: str | os.PathLike) -> Picture:
        """Writes a file, .svg of drawings and .png of functions and meshes, and returns the picture."""
        kind = ".svg" if isinstance(self.data, str) else ".png"
        if os.path.splitext(os.fspath(path))[1].lower() != kind:
            raise _core.InputError(f"the picture is of the kind {kind}; found the path '{path}'")
        with open(path, "wb") as file:
            file.write(self.data.encode() if isinstance(self.data, str) else self.data)
        return self

    def _repr_svg_(self):
        return self.data if isinstance(self.data, str) else None

    def _repr_png_(self):
        return self.data if isinstance(self.data, bytes) else None


def plot(what: Function | Mesh, path: str | os.PathLike | None = None, part: int | None = None, component: int | None = None,
         warp: float | None = None, warp_by: Function | None = None, edges: bool | None = None, subdivide: int | None = None, size: tuple[int, int] = (900, 700),
         show: bool = False, **arguments: Any) -> Picture | None:
    """A picture of a Function or a mesh, with its curved and high-order cells subdivided.

    path: where a PNG is written. part: of a mixed function. component: the one that colours it (of vectors their length by default).
    warp: the factor by which a vector displaces the mesh, or a scalar on a mesh in the plane lifts it; warp_by: another Function that does. edges: whether edges of
    cells are drawn (of meshes by default). subdivide: how often edges are halved. show: True opens a window, which needs a display.
    Further arguments are those of pyvista.Plotter.add_mesh, such as cmap or clim. Returns the Picture, which notebooks show.
    """
    try:
        import pyvista
    except ImportError:
        raise _core.EnvironmentError("pictures of functions need PyVista: pip install pyvista") from None

    with pyvista.vtk_verbosity("off"):  # without a display VTK says so, and goes on
        plotter = _plotter(pyvista, what, part, component, (warp, warp_by), edges, subdivide, size, show, arguments)
        if show:
            plotter.show()
            return None
        picture = Picture(_png(plotter))
    return picture if path is None else picture.save(path)


def _plotter(pyvista, what, part, component, warping, edges, subdivide, size, show, arguments):
    is_mesh = isinstance(what, Mesh)
    warp, warp_by = warping
    surface, name, by = _surface(pyvista, what, part, subdivide, warp_by)
    if by is not None and warp is not None:
        is_vector = surface[by].ndim > 1
        surface = surface.warp_by_vector(by, factor=warp) if is_vector else surface.warp_by_scalar(by, factor=warp, normal=(0, 0, 1))
    mesh = what if is_mesh else what.function_space().mesh
    is_plane = mesh.dim < 3 and surface.bounds[4] == surface.bounds[5]
    plotter = pyvista.Plotter(off_screen=not show, window_size=list(size))
    if is_mesh:
        arguments = {"color": "lightsteelblue", "lighting": not is_plane, **arguments}
    else:
        bar = {"title": name if component is None else f"{name} {component}", "vertical": True, "position_x": 0.82, "fmt": "%.3g"}
        arguments = {"scalars": name, "component": component, "lighting": not is_plane, "scalar_bar_args": bar, **arguments}
    plotter.add_mesh(surface, **arguments)
    if is_mesh if edges is None else edges:
        lines = plotter.add_mesh(_edges(pyvista, surface), color="black", line_width=1, lighting=False).mapper
        lines.SetResolveCoincidentTopologyToPolygonOffset()  # or surfaces hide parts of the lines on them
        lines.SetRelativeCoincidentTopologyLineOffsetParameters(-2, -2)
    if is_plane:
        plotter.view_xy()
    return plotter


def _grid(pyvista, mesh, fields):
    """What ParaView would read: cells of high order with values of high order."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.vtkhdf")
        _core.write(path, mesh.core, fields)
        return pyvista.read(path)


def _surface(pyvista, what, part, subdivide, warp_by):
    """The surface, and the names of what colours it and of what displaces it."""
    from ._problem import _fields
    from ._spaces import Function

    mesh = what if isinstance(what, Mesh) else None
    fields, degree = [], 0
    if mesh is None:
        if not isinstance(what, Function):
            raise _core.InputError(f"a Function or a Mesh is plotted, found {type(what).__name__}: rafter.Function(V).project(e) has expressions")
        if part is None and len(what.parts) > 1:
            raise _core.InputError(f"the function is on a mixed space: plot(u, part=i), i from 0 to {len(what.parts) - 1}")
        if not 0 <= (part or 0) < len(what.parts):
            raise _core.InputError(f"the function has no part {part}")
        mesh, degree = what.function_space().mesh, what.parts[part or 0].leaf.degree
        fields.append(_fields([what])[part or 0])
    if warp_by is not None:
        if not isinstance(warp_by, Function) or len(warp_by.parts) > 1 or warp_by.function_space().mesh is not mesh:
            raise _core.InputError("warp_by is a Function on the same mesh, and on no mixed space")
        if warp_by is not what:
            name, *rest = _fields([warp_by])[0]
            fields.append((name + "_" if fields and fields[0][0] == name else name, *rest))
            degree = max(degree, warp_by.parts[0].leaf.degree)
    degree = max(degree, mesh.core.degree)
    # By default an edge has about twice as many pieces as the degree.
    times = subdivide if subdivide is not None else 0 if degree == 1 else degree.bit_length()
    surface = _grid(pyvista, mesh, fields).extract_surface(nonlinear_subdivision=times, algorithm="dataset_surface")
    name = fields[0][0] if not isinstance(what, Mesh) else None
    return surface, name, fields[-1][0] if fields else None


def _edges(pyvista, surface):
    """Edges of cells on a surface: those between pieces of different cells, or between pieces of one that meet at an angle."""
    surface = surface.triangulate()
    triangles = surface.faces.reshape(-1, 4)[:, 1:]
    cells, normals = surface.cell_data["vtkOriginalCellIds"], surface.compute_normals(point_normals=False, auto_orient_normals=False).cell_data["Normals"]
    pairs = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(triangles)), 3)
    order = np.lexsort(pairs.T)
    pairs, owner = pairs[order], owner[order]
    starts = np.flatnonzero(np.r_[True, (pairs[1:] != pairs[:-1]).any(axis=1)])
    is_pair = np.diff(np.r_[starts, len(pairs)]) == 2
    one, other = owner[starts], owner[np.minimum(starts + 1, len(pairs) - 1)]
    is_flat = np.abs((normals[one] * normals[other]).sum(axis=1)) > 0.7
    shown = pairs[starts[~(is_pair & (cells[one] == cells[other]) & is_flat)]]
    return pyvista.PolyData(surface.points, lines=np.column_stack([np.full(len(shown), 2), shown]).ravel())


def _png(plotter):
    import io

    from matplotlib.image import imsave  # PyVista needs it, too

    image = plotter.screenshot(return_img=True)
    plotter.close()
    data = io.BytesIO()
    imsave(data, image)
    return data.getvalue()


def plot_convergence(*solutions: Solution, names: Sequence[str] | None = None, path: str | os.PathLike | None = None) -> Picture:
    """A picture of the residuals of solutions over iterations, or over the steps of Newton's method."""
    if not solutions or (names and len(names) != len(solutions)):
        raise _core.InputError("plot_convergence takes one solution or more, and a name for each")
    if not all(hasattr(solution, "to_dict") for solution in solutions):
        raise _core.InputError("plot_convergence takes what rafter.solve and Problem.solve return")
    curves, are_newton = [], False
    for number, solution in enumerate(solutions):
        record = solution.to_dict()
        are_newton = are_newton or "newton" in record
        name = names[number] if names else record["title"] or ", ".join(filter(None, [record.get("method"), record.get("preconditioner_name")]))
        curves.append((name, list(enumerate(record["history"]))))
    picture = Picture(_core.convergence("relative residual over " + ("steps" if are_newton else "iterations"), curves))
    return picture if path is None else picture.save(path)


def plot_roofline(*operators: Operator, names: Sequence[str] | None = None, path: str | os.PathLike | None = None) -> Picture:
    """A picture of operations per second over operations per byte, below the ceilings of the machine. Operators are timed."""
    if not operators or (names and len(names) != len(operators)):
        raise _core.InputError("plot_roofline takes one operator or more, and a name for each")
    if not all(hasattr(A, "speed") for A in operators):
        raise _core.InputError("plot_roofline takes rafter.Operator")
    names = names or [f"operator with {A.shape[0]} rows" for A in operators]
    curves = [(name, [(speed["flops_per_byte"], speed["executed_gflops"])]) for name, speed in zip(names, [A.speed() for A in operators])]
    picture = Picture(_core.roofline(operators[0].core, "operations that are executed, compulsory bytes", curves))
    return picture if path is None else picture.save(path)
