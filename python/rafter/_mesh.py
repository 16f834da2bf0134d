# SPDX-License-Identifier: BSD-3-Clause
"""Meshes: boxes, files, models of Gmsh in memory, and plain arrays."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    import ufl
    from numpy.typing import ArrayLike

# Meshes by the numbers of the domains that UFL knows them by.
_of_domain = weakref.WeakValueDictionary()

# Cells of meshio: shape, degree, and where its nodes are in Gmsh's order (None: in the same).
_MESHIO_CELLS = {
    "line": ("interval", 1, None),
    "line3": ("interval", 2, None),
    "triangle": ("triangle", 1, None),
    "triangle6": ("triangle", 2, None),
    "quad": ("quadrilateral", 1, None),
    "quad9": ("quadrilateral", 2, None),
    "tetra": ("tetrahedron", 1, None),
    "tetra10": ("tetrahedron", 2, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]),
    "hexahedron": ("hexahedron", 1, None),
    "hexahedron27": ("hexahedron", 2, [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 9, 17, 10, 18, 19, 12, 15, 13, 14, 24, 22, 20, 21, 23, 25, 26]),
    "wedge": ("prism", 1, None),
    "pyramid": ("pyramid", 1, None),
}
_DIM = {"interval": 1, "triangle": 2, "quadrilateral": 2, "tetrahedron": 3, "hexahedron": 3, "prism": 3, "pyramid": 3}
# Of straight cells, in Gmsh's order: corners beside the first one along the axes, and the order of a mirrored cell.
_MIRRORED = {
    "interval": ([1], [1, 0]),
    "triangle": ([1, 2], [0, 2, 1]),
    "quadrilateral": ([1, 3], [0, 3, 2, 1]),
    "tetrahedron": ([1, 2, 3], [0, 1, 3, 2]),
    "hexahedron": ([1, 3, 4], [0, 3, 2, 1, 4, 7, 6, 5]),
    "prism": ([1, 2, 3], [0, 2, 1, 3, 5, 4]),
    "pyramid": ([1, 3, 4], [0, 3, 2, 1, 4]),
}
# Of cells of degree 2, in Gmsh's order: the corners of the edges, faces and interiors whose middles the nodes behind the corners are.
_MIDDLES = {
    "interval": ["01"],
    "triangle": ["01", "12", "02"],
    "quadrilateral": ["01", "12", "23", "03", "0123"],
    "tetrahedron": ["01", "12", "02", "03", "23", "13"],
    "hexahedron": ["01", "03", "04", "12", "15", "23", "26", "37", "45", "47", "56", "67", "0123", "0145", "0347", "1256", "2367", "4567", "01234567"],
}
_NUM_CORNERS = {"interval": 2, "triangle": 3, "quadrilateral": 4, "tetrahedron": 4, "hexahedron": 8, "prism": 6, "pyramid": 5}


class Mesh:
    """A mesh of intervals, triangles, quadrilaterals, tetrahedra, hexahedra, prisms or pyramids, also mixed and curved.

    It is made by box(), read_mesh() and the functions beside them, and keeps the meshes that it was refined from: multigrid
    makes its levels of them. Spaces on one mesh may occur in one form.
    """

    def __init__(self, core):
        self.core = core
        self._domain = None
        self._spaces, self._leaves, self._of_cells = {}, {}, {}  # by elements, what spaces are made of, quantities of cells

    @property
    def dim(self) -> int:
        """Dimension of the cells and of the space."""
        return self.core.dim

    @property
    def num_cells(self) -> int:
        """Number of cells of all shapes."""
        return self.core.num_cells

    @property
    def cells_by_shape(self) -> dict[str, int]:
        """Number of cells of each shape, such as {"hexahedron": 512}."""
        return self.core.cells_by_shape

    @property
    def points(self) -> np.ndarray:
        """Geometry nodes, shape (node, dim)."""
        return self.core.points

    @property
    def groups(self) -> list[tuple[int, str, int]]:
        """Named groups of cells and facets: (dimension, name, number)."""
        return self.core.groups

    def tags(self, name: str, dim: int | None = None) -> tuple[int, ...]:
        """Numbers of the groups with this name, for dx(...) and ds(...): of facets, or of the dimension that is given."""
        dim = self.dim - 1 if dim is None else dim
        found = tuple(number for of_dim, of_name, number in self.groups if of_dim == dim and name in (of_name, number))
        if not found:
            names = sorted(of_name for of_dim, of_name, _ in self.groups if of_dim == dim)
            raise _core.InputError(f"the mesh has no group '{name}' of dimension {dim}; it has: {', '.join(names) or 'none'}")
        return found

    def cell_tags(self, name: str) -> tuple[int, ...]:
        """Numbers of the groups of cells with this name, for dx(...)."""
        return self.tags(name, self.dim)

    def refined(self, times: int = 1) -> Mesh:
        """The mesh with all cells halved along all axes so many times."""
        return Mesh(self.core.refined(times))

    def periodic(self, *pairs: tuple[str | int, str | int]) -> Mesh:
        """The mesh with parts of its boundary identified: mesh.periodic(("xmin", "xmax"), ...)."""
        if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
            raise _core.InputError('periodic takes pairs of parts of the boundary: mesh.periodic(("xmin", "xmax"), ("ymin", "ymax"))')
        return Mesh(self.core.periodic([tuple(str(part) for part in pair) for pair in pairs]))

    def write(self, path: str | os.PathLike) -> None:
        """Writes a file: .msh (Gmsh) or .mesh (MFEM)."""
        self.core.write(str(path))

    def ufl_domain(self) -> ufl.Mesh:
        """The domain of UFL, as SpatialCoordinate(mesh), FacetNormal(mesh) and FunctionSpace(mesh, ...) take it."""
        if self._domain is None:
            import ufl

            from ._elements import Element, ufl_cell

            cell = ufl_cell(self)
            self._domain = ufl.Mesh(Element("Lagrange", cell, self.core.degree, (self.dim,)))
            self._domain._mesh_of_rafter = self  # forms keep their mesh
            _of_domain[self._domain.ufl_id()] = self
        return self._domain

    def __repr__(self):
        shapes = ", ".join(f"{count} {shape}" for shape, count in sorted(self.cells_by_shape.items()))
        return f"<rafter.Mesh: {shapes} in {self.dim}D>"


def mesh_of(domain):
    """The mesh of a domain of UFL."""
    mesh = _of_domain.get(domain.ufl_id())
    if mesh is None:
        raise _core.InputError("the form is on a domain that is no mesh of Rafter: make its spaces on one, as rafter.FunctionSpace(mesh, ...)")
    return mesh


def box(cells: ArrayLike, size: ArrayLike | None = None, shape: str = "", degree: int = 1, refine: int = 0) -> Mesh:
    """A box from 0 to `size` (1 along each axis) with so many cells along each axis.

    `shape`: the name of a shape, "mixed", or "" (intervals, quadrilaterals, hexahedra). Facets are in the groups 1 to 2*dim, named
    xmin, xmax, ymin, ymax, zmin, zmax, and cells in group 1.
    """
    cells = np.atleast_1d(cells)
    if not np.issubdtype(cells.dtype, np.integer):
        raise _core.InputError(f"box: numbers of cells are integers, found {cells.tolist()}")
    cells = [int(n) for n in cells]
    return Mesh(_core.box(cells, [float(s) for s in np.atleast_1d(size)] if size is not None else [], shape, degree, refine))


def read_mesh(path: str | os.PathLike, merge: float | None = None) -> Mesh:
    """A mesh of a file of Gmsh or MFEM. `merge`: nodes that are closer than this length are one."""
    return Mesh(_core.read_mesh(str(path), merge))


def mesh_from_arrays(points: ArrayLike, cells: Mapping[str | tuple[str, int], ArrayLike],
                     cell_tags: Mapping[str | tuple[str, int], ArrayLike] | None = None, facets: ArrayLike | None = None,
                     facet_tags: ArrayLike | None = None, names: Mapping[tuple[int, int], str] | None = None, source: str = "arrays") -> Mesh:
    """A mesh of plain arrays.

    points: shape (node, dim). cells: {shape: nodes of shape (cell, node)}, or {(shape, degree): nodes} in Gmsh's order of nodes.
    cell_tags: {the same keys: numbers of groups, shape (cell)}. facets: corners, shape (facet, corner), padded with -1 where facets
    differ; facet_tags: numbers of groups, shape (facet). names: {(dimension, number): name}.
    """
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3:
        raise _core.InputError(f"points have the shape {points.shape}; accepted is (node, dim)")
    cell_tags = {_key(key): tags for key, tags in (cell_tags or {}).items()}
    raw, dim = [], 0
    for key, nodes in cells.items():
        shape, degree = _key(key)
        if shape not in _NUM_CORNERS:
            raise _core.InputError(f"'{shape}' is no shape of cells; accepted: {', '.join(sorted(_NUM_CORNERS))}")
        dim = max(dim, _DIM[shape])
        if not 1 <= degree <= 12:
            raise _core.InputError(f"cells of shape '{shape}' have the degree {degree}; accepted are 1 and more")
        nodes = _table(nodes, f"cells of shape '{shape}' and degree {degree}", len(points), _num_nodes(shape, degree))
        tags = _tags(cell_tags.pop((shape, degree), None), f"cell_tags of shape '{shape}'", len(nodes))
        if (degree == 1 or (degree == 2 and shape in _MIDDLES)) and points.shape[1] == _DIM[shape]:
            _turn_inverted(points, nodes, shape, degree)
        raw.append((shape, degree, nodes, tags))
    if cell_tags:
        raise _core.InputError(f"cell_tags name cells that there are none of: {', '.join(shape for shape, _ in cell_tags)}")
    in_space = np.zeros((len(points), 3))
    in_space[:, : points.shape[1]] = points
    corners = np.full((0, 4), -1, np.int32)
    if facets is not None and len(facets):
        facets = _table(facets, "facets", len(points), None, least=-1)
        corners = np.full((len(facets), 4), -1, np.int32)
        corners[:, : facets.shape[1]] = facets
    tags = _tags(facet_tags, "facet_tags", len(corners))
    listed = [(int(d), str(name), int(number)) for (d, number), name in (names or {}).items()]
    return Mesh(_core.mesh_from_arrays(dim, in_space, raw, corners, tags, listed, source))


def _key(key):
    return (key, 1) if isinstance(key, str) else (key[0], int(key[1]))


def _num_nodes(shape, degree):
    """Nodes of a cell."""
    n = degree + 1
    return {"interval": n, "triangle": n * (n + 1) // 2, "quadrilateral": n**2, "tetrahedron": n * (n + 1) * (n + 2) // 6, "hexahedron": n**3,
            "prism": n * n * (n + 1) // 2, "pyramid": n * (n + 1) * (2 * n + 1) // 6}[shape]


def _table(numbers, what, num_points, columns, least=0):
    """A table of numbers of points."""
    table = np.array(numbers)
    if table.size and not np.issubdtype(table.dtype, np.integer):
        raise _core.InputError(f"{what} are numbers of points, found {table.dtype}")
    table = table.astype(np.int32)
    if table.ndim != 2 or (columns is not None and table.shape[1] != columns) or (least < 0 and table.shape[1] > 4):
        raise _core.InputError(f"{what} have the shape {table.shape}; accepted is (number, {columns or 'nodes of one'})")
    if table.size and (table.min() < least or table.max() >= num_points):
        raise _core.InputError(f"{what} name points from {table.min()} to {table.max()}, but there are {num_points}")
    return table


def _tags(tags, what, count):
    tags = np.zeros(count, np.int32) if tags is None else np.ascontiguousarray(tags, dtype=np.int32)
    if tags.shape != (count,):
        raise _core.InputError(f"{what} have the shape {tags.shape}; accepted is ({count},)")
    return tags


def _turn_inverted(points, cells, shape, degree):
    """Gives cells that are inverted the other orientation: other codes do not mind it."""
    neighbours, mirrored = _MIRRORED[shape]
    edges = points[cells[:, neighbours]] - points[cells[:, :1]]
    inverted = np.linalg.det(edges) < 0
    if degree == 2:
        middles = _MIDDLES[shape]
        turned = ["".join(sorted(str(mirrored[int(corner)]) for corner in middle)) for middle in middles]
        mirrored = mirrored + [len(mirrored) + middles.index(middle) for middle in turned]
    cells[inverted] = cells[inverted][:, mirrored]


def mesh_from_meshio(mesh: Any) -> Mesh:
    """A mesh of meshio: its cells of the highest dimension, and as groups of facets those below, by "gmsh:physical"."""
    tags_of_blocks = mesh.cell_data.get("gmsh:physical", [np.zeros(len(block.data), np.int32) for block in mesh.cells])
    known = [(block, np.asarray(tags), *_MESHIO_CELLS[block.type]) for block, tags in zip(mesh.cells, tags_of_blocks)
             if block.type in _MESHIO_CELLS]
    unknown = sorted({block.type for block in mesh.cells} - set(_MESHIO_CELLS) - {"vertex"})
    if unknown or not known:
        raise _core.InputError(f"cells of meshio that are not read: {', '.join(unknown) or 'there are none'}")
    dim = max(_DIM[shape] for _, _, shape, _, _ in known)
    cells, cell_tags, facets, facet_tags = {}, {}, [], []
    for block, tags, shape, degree, order in known:
        if _DIM[shape] == dim:
            nodes = block.data if order is None else block.data[:, order]
            cells.setdefault((shape, degree), []).append(nodes)
            cell_tags.setdefault((shape, degree), []).append(tags)
        elif _DIM[shape] == dim - 1:
            corners = np.full((len(block.data), 4), -1, np.int32)
            num_corners = {"interval": 2, "triangle": 3, "quadrilateral": 4}.get(shape, 1)
            corners[:, :num_corners] = block.data[:, :num_corners]
            facets.append(corners)
            facet_tags.append(tags)
    names = {(int(data[1]), int(data[0])): name for name, data in mesh.field_data.items()}
    is_flat = np.ptp(mesh.points[:, dim:], axis=0).max(initial=0) == 0
    return mesh_from_arrays(mesh.points[:, :dim] if is_flat else mesh.points, {key: np.vstack(parts) for key, parts in cells.items()},
                            {key: np.concatenate(parts) for key, parts in cell_tags.items()},
                            np.vstack(facets) if facets else None, np.concatenate(facet_tags) if facets else None, names, "meshio")


def mesh_from_gmsh(model: Any = None) -> Mesh:
    """The mesh of a model of Gmsh in memory, gmsh.model by default, with its physical groups."""
    import gmsh

    if not gmsh.isInitialized():
        raise _core.InputError("mesh_from_gmsh: there is no model of Gmsh: gmsh.initialize(), a geometry, gmsh.model.mesh.generate(dim)")
    if model is not None and model is not gmsh.model:
        gmsh.model.setCurrent(model)
    if not len(gmsh.model.mesh.getNodes()[0]):
        raise _core.InputError("mesh_from_gmsh: the model has no mesh; gmsh.model.mesh.generate(dim) makes it")
    with tempfile.TemporaryDirectory() as folder:  # Rafter's reader knows all of Gmsh's cells, orders and groups
        path = os.path.join(folder, "model.msh")
        gmsh.write(path)
        return read_mesh(path)
