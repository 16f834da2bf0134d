# SPDX-License-Identifier: BSD-3-Clause
"""Problems of Rafter beside the same ones of scikit-fem: meshes, values at the same points, and Newton's method."""

import numpy as np
import rafter
import scipy.sparse.linalg
import skfem

# Cells of scikit-fem: the shape, its degree, and the order of nodes of Gmsh.
_CELLS = {
    skfem.MeshLine1: ("interval", 1, [0, 1]),
    skfem.MeshTri1: ("triangle", 1, [0, 1, 2]),
    skfem.MeshTri2: ("triangle", 2, [0, 1, 2, 3, 4, 5]),
    skfem.MeshQuad1: ("quadrilateral", 1, [0, 1, 2, 3]),
    skfem.MeshTet1: ("tetrahedron", 1, [0, 1, 2, 3]),
    skfem.MeshHex1: ("hexahedron", 1, [7, 4, 1, 5, 6, 2, 0, 3]),
}


def twin(mesh):
    """The mesh of Rafter with the points and cells of one of scikit-fem, and with its boundaries and subdomains under their names."""
    shape, degree, order = _CELLS[type(mesh)]
    dim, key = mesh.dim(), (shape, degree)
    cells = mesh.dofs.element_dofs[order].T
    if degree == 2:  # Rafter turns straight cells that are inverted, but not curved ones
        (x0, y0), (x1, y1), (x2, y2) = mesh.doflocs[:, cells[:, :3].T].transpose(1, 0, 2)
        is_inverted = (x1 - x0) * (y2 - y0) < (x2 - x0) * (y1 - y0)
        cells[is_inverted] = cells[is_inverted][:, [0, 2, 1, 5, 4, 3]]
    tags, names, facets, facet_tags = np.zeros(len(cells), int), {}, [], []
    for number, (name, members) in enumerate((mesh.subdomains or {}).items(), start=1):
        tags[members] = number
        names[dim, number] = name
    for number, (name, members) in enumerate((mesh.boundaries or {}).items(), start=1):
        facets.extend(mesh.facets[:, members].T)
        facet_tags.extend([number] * len(members))
        names[dim - 1, number] = name
    return rafter.mesh_from_arrays(mesh.doflocs.T, {key: cells}, {key: tags}, facets or None, facet_tags or None, names)


def values(basis, u):
    """Values of a function of Rafter, in the order of the degrees of freedom of scikit-fem."""
    found = u(np.ascontiguousarray(basis.doflocs.T))
    return found if found.ndim == 1 else found[np.arange(len(found)), np.arange(len(found)) % found.shape[1]]


def difference(basis, u, expected):
    """The largest difference to a vector of scikit-fem, relative to its largest entry."""
    return np.abs(values(basis, u) - expected).max() / np.abs(expected).max()


def newton(residual, tangent, u, fixed):
    """Newton's method with a residual and a tangent of scikit-fem, from u with its fixed entries, to the last digits."""
    u = u.copy()
    free = np.setdiff1d(np.arange(len(u)), fixed)
    for _ in range(40):
        step = scipy.sparse.linalg.spsolve(tangent(u).tocsc()[free][:, free], -residual(u)[free])
        u[free] += step
        if np.abs(step).max() < 1e-13 * np.abs(u).max():
            return u
    raise AssertionError("Newton's method of scikit-fem does not converge")
