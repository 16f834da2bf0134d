# SPDX-License-Identifier: BSD-3-Clause
"""Matrices and vectors of cells: beside those that tables of Basix give, and their sums over cells beside operators and vectors."""

from functools import partial

import basix
import numpy as np
import pytest
import rafter
import scipy.sparse
import ufl
from ufl import div, dot, ds, dx, grad, inner, sym

# Corners in Gmsh's order on the reference cells of Basix. The first one is the origin.
CORNERS = {
    "interval": [[0], [1]],
    "triangle": [[0, 0], [1, 0], [0, 1]],
    "quadrilateral": [[0, 0], [1, 0], [1, 1], [0, 1]],
    "tetrahedron": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "hexahedron": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
    "prism": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]],
    "pyramid": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]],
}
LAMBDA, MU, WIND = 1.3, 0.8, [0.7, -1.1, 0.4]


def slanted_box(shape):
    """Points and cells of a mesh: two boxes of different width are cut into cells of the shape and moved by an affine map, so that each cell
    is an affine image of the reference cell. Points and cells are in no order."""
    dim, num_corners = len(CORNERS[shape][0]), len(CORNERS[shape])
    points = [[x, y, z] for z in (0, 0.9) for y in (0, 1.2) for x in (0, 1, 1.7)] + [[0.5, 0.6, 0.45], [1.35, 0.6, 0.45]]  # the last: of pyramids
    squares, triangles = [[0, 1, 4, 3], [1, 2, 5, 4]], [[0, 1, 4], [0, 3, 4], [1, 2, 5], [1, 4, 5]]
    cells = {
        "interval": [[0, 1], [1, 2]],
        "triangle": triangles,
        "quadrilateral": squares,
        "tetrahedron": [of for a, b, c in triangles for of in ([a, b, c, c + 6], [a, b, b + 6, c + 6], [a, a + 6, b + 6, c + 6])],
        "hexahedron": [base + [p + 6 for p in base] for base in squares],
        "prism": [base + [p + 6 for p in base] for base in triangles],
        "pyramid": [[*base, 12 + box] for box, (a, b, c, d) in enumerate(squares) for base in (
            [a, b, c, d], [a + 6, b + 6, c + 6, d + 6], *([p, q, q + 6, p + 6] for p, q in ((a, b), (b, c), (c, d), (d, a))))],
    }[shape]
    slant = np.array([[1.1, 0.3, -0.2], [0.25, 0.9, 0.4], [-0.1, 0.2, 1.3]])[:dim, :dim]
    used, cells = np.unique(cells, return_inverse=True)
    random = np.random.default_rng(1)
    order = random.permutation(len(used))
    moved = np.empty((len(used), dim))
    moved[order] = np.array(points)[used, :dim] @ slant.T + 0.3
    return moved, random.permutation(order[cells.reshape(-1, num_corners)])


class ReferenceCell:
    """Integrals of products of Basix's functions and their derivatives on the reference cell."""

    def __init__(self, shape, degree):
        # Basix has no other points on pyramids than equispaced ones. Its spaces are those of Rafter there, too: they hold rational functions.
        variant = basix.LagrangeVariant.equispaced if shape == "pyramid" else basix.LagrangeVariant.gll_warped
        cell = getattr(basix.CellType, shape)
        self.element = basix.create_element(basix.ElementFamily.P, cell, degree, variant)
        points, weights = basix.make_quadrature(cell, 2 * degree + 2)
        tables = self.element.tabulate(1, points)[..., 0]  # those of functions, and of derivatives along the axes
        self.integrals = np.array([[(weights[:, None] * one).T @ other for other in tables] for one in tables])

    def matrices(self, jacobian, nodes):
        """The matrices of an image of the cell by form, for the functions that are 1 at one of the nodes of the reference cell and 0 at the
        others. Those of vectors have the shape (component, node, component, node)."""
        # Basix's functions are sums of them, phi = V psi with V[i, j] = phi_i(X_j): a matrix K of Basix is V^-1 K V^-T for them.
        inverse = np.linalg.inv(self.element.tabulate(0, nodes)[0, :, :, 0].T)
        of_nodes = np.abs(np.linalg.det(jacobian)) * (inverse @ self.integrals @ inverse.T)
        to_axes, dim = np.linalg.inv(jacobian), len(jacobian)
        slopes = np.einsum("ka,lb,klij->abij", to_axes, to_axes, of_nodes[1:, 1:], optimize=True)  # derivative a of test, b of trial functions
        laplace = np.einsum("aaij->ij", slopes)
        elasticity = LAMBDA * slopes + MU * (slopes.swapaxes(0, 1) + np.eye(dim)[:, :, None, None] * laplace)
        return {
            "mass": of_nodes[0, 0],
            "laplace": laplace,
            "convection": np.einsum("a,ka,kij->ij", WIND[:dim], to_axes, of_nodes[0, 1:]),
            "elasticity": elasticity.transpose(0, 2, 1, 3),
        }


def on_reference_cell(shape, jacobian, steps):
    """Nodes on the reference cell that are at these steps from corner 0 of a cell. Corners are exact: the tables of rational functions next to
    the tip of pyramids depend on the last bits of points, by 1e-10 at degree 4."""
    nodes = np.linalg.solve(jacobian, steps.T).T
    for corner in np.array(CORNERS[shape], float):
        is_corner = np.abs(nodes - corner).max(axis=1) < 1e-12
        assert is_corner.sum() == 1
        nodes[is_corner] = corner
    return nodes


def matrices_by_form(mesh, degree):
    """Of each form: the space and the operator, which has its coefficients."""
    V = rafter.FunctionSpace(mesh, "Lagrange", degree)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    factors = [rafter.Constant(mesh) for _ in range(3)]
    terms = u * v, inner(grad(u), grad(v)), dot(ufl.as_vector(WIND[: mesh.dim]), grad(u)) * v
    A = rafter.Operator(sum(factor * term for factor, term in zip(factors, terms)) * dx)  # one kernel is compiled sooner than three
    for name, factor in zip(("mass", "laplace", "convection"), factors):
        factor.value = 1.0
        yield name, V, A.update()
        factor.value = 0.0
    V = rafter.FunctionSpace(mesh, "Lagrange", degree, shape=(mesh.dim,))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    yield "elasticity", V, rafter.Operator(inner(LAMBDA * div(u) * ufl.Identity(mesh.dim) + 2 * MU * sym(grad(u)), sym(grad(v))) * dx)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", CORNERS)
def test_matrices_are_those_of_tables_of_basix(shape, degree):
    points, cells = slanted_box(shape)
    mesh, reference = rafter.mesh_from_arrays(points, {shape: cells}), ReferenceCell(shape, degree)
    along_axes, unlike = [CORNERS[shape].index(axis) for axis in np.eye(mesh.dim).tolist()], 0
    for name, V, A in matrices_by_form(mesh, degree):
        found, unknowns, expected = A.cell_matrices(), A.cell_unknowns(), []
        assert found.shape == (len(cells), *2 * unknowns.shape[1:]) and len(unknowns) == len(cells)
        size = mesh.dim if name == "elasticity" else 1
        # The values of a function tell which component at which node an entry of vectors is.
        places = rafter.Function(V).interpolate(np.arange(size * len(V.nodes)).reshape(size, -1)).values.astype(int)[unknowns]
        for number, (corners, of_cell) in enumerate(zip(points[cells], places)):
            order = np.argsort(of_cell)  # as ReferenceCell has them
            components, nodes = np.divmod(of_cell[order].reshape(size, -1), len(V.nodes))
            assert (nodes == nodes[0]).all() and (components.T == np.arange(size)).all()
            found[number] = found[number][order][:, order]
            jacobian = (corners[along_axes] - corners[0]).T
            expected.append(reference.matrices(jacobian, on_reference_cell(shape, jacobian, V.nodes[nodes[0]] - corners[0]))[name].reshape(found.shape[1:]))
        expected = np.array(expected)
        largest = np.abs(expected).max(axis=(1, 2))
        assert (np.abs(found - expected).max(axis=(1, 2)) < 1e-13 * largest).all(), name
        unlike = np.maximum(unlike, np.abs(expected[:, None] - expected).max(axis=(2, 3)) / largest)
    assert (unlike + np.eye(len(cells)) > 0.01).all()  # A wrong order of the cells would have been found.


def sum_of_cells(A, mesh):
    """The matrix of an operator, from those of the cells."""
    result = scipy.sparse.csr_matrix(A.shape)
    for shape in mesh.cells_by_shape:
        matrices, rows, columns = A.cell_matrices(shape), A.cell_unknowns(shape), A.cell_unknowns(shape, columns=True)
        assert matrices.shape == (mesh.cells_by_shape[shape], rows.shape[1], columns.shape[1])
        places = np.broadcast_arrays(rows[:, :, None], columns[:, None, :])
        result += scipy.sparse.coo_matrix((matrices.ravel(), [of.ravel() for of in places]), A.shape)
    return result


def difference(one, other):
    """The largest difference of entries, relative to the largest entry."""
    return abs(one - other).max() / abs(other).max()


@pytest.fixture(params=["2 shapes", "4 shapes"])
def mixed(request):
    """Meshes of several shapes."""
    mesh = rafter.box([4, 3] if request.param == "2 shapes" else [4, 2, 1], shape="mixed")
    assert len(mesh.cells_by_shape) == int(request.param[0])
    return mesh


def test_the_sum_over_cells_is_the_matrix(mixed):
    V, C = rafter.FunctionSpace(mixed, "Lagrange", 2 if mixed.dim == 2 else 1), rafter.FunctionSpace(mixed, "DG", 0)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(mixed)
    f, k = rafter.Function(V).interpolate(lambda x: 1 + x[0] * x[1]), rafter.Function(C).interpolate(lambda x: 2 + x[0])
    c = rafter.Constant(mixed, 3.0)
    a = (k * inner(grad(u), grad(v)) + f * u.dx(0) * v) * dx + c * f * (1 + x[1]) * u * v * ds((2, 3))
    A = rafter.Operator(a)
    before = sum_of_cells(A, mixed)
    assert difference(before, A.to_csr()) < 1e-14
    c.value = 0.0
    assert difference(before, sum_of_cells(A.update(), mixed)) > 0.01  # facets count
    c.value, f.values[:] = 5.0, np.cos(np.arange(len(f.values)))
    after = sum_of_cells(A.update(), mixed)
    assert difference(after, A.to_csr()) < 1e-14 and difference(after, before) > 0.01
    fixed = rafter.Operator(a, rafter.DirichletBC(V, 1.0))
    assert len(fixed.constrained) > 0 and difference(sum_of_cells(fixed, mixed), after) == 0


def test_rows_and_columns_are_of_several_spaces():
    mesh = rafter.box([4, 3], shape="mixed")
    V, Q = rafter.FunctionSpace(mesh, "Lagrange", 2, shape=(2,)), rafter.FunctionSpace(mesh, "Lagrange", 1)
    W = ufl.MixedFunctionSpace(V, Q)
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    stokes = rafter.Operator((inner(grad(u), grad(v)) - p * div(v) - q * div(u)) * dx)
    divergence = rafter.Operator(ufl.TestFunction(Q) * (div(u) + p) * dx)
    assert divergence.shape == (len(Q.nodes), stokes.shape[1])
    for A in divergence, stokes:
        x, found = np.cos(np.arange(A.shape[1])), sum_of_cells(A, mesh)
        assert all(difference((found @ x)[rows], (A @ x)[rows]) < 1e-13 for rows in A.parts)
        assert found.nnz == found[np.concatenate([np.r_[rows] for rows in A.parts])].nnz  # no cell has the rows between the parts


def test_cells_of_periodic_meshes_have_unknowns_in_common():
    mesh = rafter.box([4, 3], shape="mixed").periodic(("xmin", "xmax"))
    V = rafter.FunctionSpace(mesh, "Lagrange", 2)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    A = rafter.Operator((inner(grad(u), grad(v)) + u.dx(0) * v) * dx)
    assert difference(sum_of_cells(A, mesh), A.to_csr()) < 1e-14


def test_cells_are_taken_in_any_order(mixed):
    V = rafter.FunctionSpace(mixed, "Lagrange", 1)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(mixed)
    A, L = rafter.Operator((1 + x[0] + x[1]) * u * v * dx), (1 + x[0] + x[1]) * v * dx
    for shape, number in mixed.cells_by_shape.items():
        matrices, unknowns, (vectors, _) = A.cell_matrices(shape), A.cell_unknowns(shape), rafter.cell_vectors(L, shape)
        assert len(np.unique(matrices.sum(axis=(1, 2)).round(12))) > 1  # cells differ
        order = np.random.default_rng(2).permutation(number)
        for cells in order, order[: number // 2], order[:1], order.astype(np.uint8), list(map(int, order)), order[::2], int(order[-1]):
            of_cells = np.atleast_1d(cells)
            assert np.array_equal(A.cell_matrices(shape, cells), matrices[of_cells])
            assert np.array_equal(A.cell_unknowns(shape, cells), unknowns[of_cells])
            assert all(map(np.array_equal, rafter.cell_vectors(L, shape, cells), (vectors[of_cells], unknowns[of_cells])))
            single = A.cell_matrices(shape, cells, np.float32)
            assert single.dtype == np.float32 and np.array_equal(single, matrices[of_cells].astype(np.float32))
        assert matrices.dtype == float and unknowns.dtype == np.int32


def test_matrices_are_written_into_arrays_of_callers():
    V = rafter.FunctionSpace(rafter.box([4, 3], shape="mixed"), "Lagrange", 1)
    A, cells = rafter.Operator((1 + ufl.SpatialCoordinate(V.mesh)[0]) * ufl.TrialFunction(V) * ufl.TestFunction(V) * dx), [5, 0, 3]
    expected = A.cell_matrices("triangle", cells)
    for dtype in float, np.float32:
        room = np.full((5, 3, 3), 7.0, dtype)
        out = room[1:4]
        assert A.cell_matrices("triangle", cells, out=out) is out
        assert np.array_equal(out, expected.astype(dtype)) and (room[[0, 4]] == 7).all()
    read_only = np.zeros((3, 3, 3))
    read_only.flags.writeable = False
    for out in np.zeros((2, 3, 3)), np.zeros((3, 9)), np.zeros((3, 3, 3), order="F"), np.zeros((3, 3, 6))[:, :, ::2], read_only:
        with pytest.raises(rafter.InputError, match=r"writeable array of shape \(3, 3, 3\) in the order of C"):
            A.cell_matrices("triangle", cells, out=out)
        assert not out.any()
    with pytest.raises(rafter.InputError, match="float64 or float32, not int64"):
        A.cell_matrices("triangle", cells, out=np.zeros((3, 3, 3), int))


WRONG_CELLS = [
    ([0, 1, 0], "cell 0 is named twice"),
    ([3], "no cell 3 among its 3 of shape interval"),
    ([1, -1], "no cell -1"),
    ([2**32 + 1], "no cell 4294967297"),
    ([0.0], "cells are numbers.*float64"),
    (1.0, "cells are numbers.*float64"),
    ([True, False, True], "cells are numbers.*bool"),
    (["0"], "cells are numbers"),
    ([[0, 1]], r"cells are numbers.*shape \(1, 2\)"),
]


@pytest.mark.parametrize("cells, message", WRONG_CELLS)
def test_wrong_numbers_of_cells_are_refused(cells, message):
    V = rafter.FunctionSpace(rafter.box([3]), "Lagrange", 1)
    A, L = rafter.Operator(ufl.TrialFunction(V) * ufl.TestFunction(V) * dx), ufl.TestFunction(V) * dx
    for of_cells in A.cell_matrices, partial(A.cell_matrices, dtype=np.float32), A.cell_unknowns, partial(rafter.cell_vectors, L):
        with pytest.raises(rafter.InputError, match=message):
            of_cells(cells=cells)


def test_lists_without_cells_have_arrays_without_cells():
    V = rafter.FunctionSpace(rafter.box([3]), "Lagrange", 1)
    A, L = rafter.Operator(ufl.TrialFunction(V) * ufl.TestFunction(V) * dx), ufl.TestFunction(V) * dx
    none = np.array([], int)
    assert A.cell_matrices(cells=none).shape == (0, 2, 2) and A.cell_unknowns(cells=none).shape == (0, 2)
    assert [of.shape for of in rafter.cell_vectors(L, cells=none)] == [(0, 2), (0, 2)]


def test_wrong_shapes_are_refused():
    mesh = rafter.box([4, 3], shape="mixed")
    V = rafter.FunctionSpace(mesh, "Lagrange", 1)
    A, L = rafter.Operator(ufl.TrialFunction(V) * ufl.TestFunction(V) * dx), ufl.TestFunction(V) * dx
    for of_cells in A.cell_matrices, A.cell_unknowns, partial(rafter.cell_vectors, L):
        with pytest.raises(rafter.InputError, match="several shapes: name one with shape=: .*(triangle, quadrilateral|quadrilateral, triangle)"):
            of_cells()
        for shape in "prism", "square":
            with pytest.raises(rafter.InputError, match=f"no cells of shape '{shape}'; it has: .*triangle"):
                of_cells(shape)
    for dtype in int, complex, np.float16:
        with pytest.raises(rafter.InputError, match=f"float64 or float32, not {np.dtype(dtype)}"):
            A.cell_matrices("triangle", dtype=dtype)


def test_vectors_of_cells_are_of_linear_forms():
    V = rafter.FunctionSpace(rafter.box([3]), "Lagrange", 1)
    u, v, f = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V)
    for form in u * v * dx, f * dx, 0 * v * dx(V.mesh):
        with pytest.raises(rafter.InputError, match="takes a linear form"):
            rafter.cell_vectors(form)


def test_the_sum_of_vectors_of_cells_is_the_vector(mixed):
    V, Q = rafter.FunctionSpace(mixed, "Lagrange", 2, shape=(mixed.dim,)), rafter.FunctionSpace(mixed, "Lagrange", 1)
    v, q = ufl.TestFunctions(ufl.MixedFunctionSpace(V, Q))
    x, f = ufl.SpatialCoordinate(mixed), rafter.Function(Q).interpolate(lambda x: 1 + x[0] * x[1])
    L = f * ufl.TestFunction(Q) * dx if mixed.dim == 3 else dot(x, v) * dx + f**2 * q * dx + f * v[0] * ds(1) + x[0] * q * ds
    expected = rafter.assemble(L)
    found = np.zeros(len(expected))
    for shape, number in mixed.cells_by_shape.items():
        values, unknowns = rafter.cell_vectors(L, shape)
        assert values.shape == unknowns.shape and len(values) == number and values.any(axis=1).all()
        np.add.at(found, unknowns, values)
    assert difference(found, expected) < 1e-14


def test_matrices_on_a_device_are_those_on_the_host():
    """On a device with memory of its own, which can be seen here: that which checks every access."""
    V = rafter.FunctionSpace(rafter.box([4, 3], shape="mixed"), "Lagrange", 2)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a, L = (inner(grad(u), grad(v)) + u * v) * dx + u * v * ds, v * dx
    A, (values, unknowns) = rafter.Operator(a, device="checked"), rafter.cell_vectors(L, "triangle", device="checked")
    of_host = rafter.cell_vectors(L, "triangle")
    assert difference(values, of_host[0]) < 1e-14 and np.array_equal(unknowns, of_host[1])
    assert difference(A.cell_matrices("triangle", [3, 1]), rafter.Operator(a).cell_matrices("triangle")[[3, 1]]) < 1e-14
