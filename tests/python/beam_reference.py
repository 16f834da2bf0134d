#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Elastic energy of the two-material beam of examples/beam.toml by a finite element code of its own: NumPy, SciPy's direct
solver, and nothing of Rafter (own reader of the mesh, own basis, own numbering by coordinates, own assembly).

usage: beam_reference.py MESH [--write FILE] [--cases REFINE:DEGREE ...]
"""
import argparse
import json
import sys

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.polynomial import legendre

LAMBDA = {1: 50.0, 2: 1.0}  # keys are cell attributes
MU = {1: 50.0, 2: 1.0}
TRACTION = np.array([0.0, 0.0, -1.0e-2])
CLAMPED, PULLED = 1, 2  # these are boundary attributes
CASES = ((0, 1), (0, 2), (0, 4), (1, 1), (1, 2))


def read_mesh(path):
    """Returns cells (attribute, corners[i, j, k, axis]) and boundary faces (attribute, corners[i, j, axis]) of an MFEM file."""
    with open(path, encoding="ascii") as file:
        lines = [line.split("#")[0].strip() for line in file]
    words = iter(" ".join(lines[1:]).split())
    cells, faces = [], []

    def entities(vertices_per_entity):
        rows = []
        for _ in range(int(next(words))):
            attribute, _geometry = int(next(words)), int(next(words))
            rows.append((attribute, [int(next(words)) for _ in range(vertices_per_entity)]))
        return rows

    for word in words:
        if word == "dimension":
            assert next(words) == "3"
        elif word == "elements":
            cells = entities(8)
        elif word == "boundary":
            faces = entities(4)
        elif word == "vertices":
            count, dimension = int(next(words)), int(next(words))
            points = np.array([float(next(words)) for _ in range(count * dimension)]).reshape(count, dimension)
    # The file lists vertices around each quadrilateral, while arrays follow the axes, the first one slowest.
    quad = np.array([[0, 3], [1, 2]])
    hexahedron = np.stack([quad, quad + 4], axis=-1)
    return ([(attribute, points[np.array(v)[hexahedron]]) for attribute, v in cells],
            [(attribute, points[np.array(v)[quad]]) for attribute, v in faces])


def split(corners):
    """Divides a multilinear patch in half along every direction into 2^d patches; corners have shape (2, ..., 2, axis)."""
    for axis in range(corners.ndim - 1):
        first, last = np.take(corners, [0], axis), np.take(corners, [1], axis)
        corners = np.concatenate([first, 0.5 * (first + last), last], axis)
    starts = np.ndindex(*([2] * (corners.ndim - 1)))
    return [corners[tuple(slice(s, s + 2) for s in start)] for start in starts]


def lobatto_points(degree):
    """Returns the Gauss-Lobatto points on [0, 1]: the ends and the roots of P_degree'."""
    inner = legendre.legroots(legendre.legder([0] * degree + [1])) if degree > 1 else []
    return 0.5 * (1 + np.concatenate([[-1.0], np.sort(inner), [1.0]]))


def lagrange(nodes, points):
    """Returns values and derivatives of the Lagrange polynomials, shape (point, node)."""
    size = len(nodes)
    values, slopes = np.ones((len(points), size)), np.zeros((len(points), size))
    for n in range(size):
        others = [m for m in range(size) if m != n]
        scale = np.prod(nodes[n] - nodes[others])
        for q, x in enumerate(points):
            values[q, n] = np.prod(x - nodes[others]) / scale
            slopes[q, n] = sum(np.prod(x - nodes[[m for m in others if m != left]]) for left in others) / scale
    return values, slopes


class TensorElement:
    """The element has Lagrange polynomials of one degree per direction on [0, 1]^dim with a Gauss rule, first axis slowest."""

    def __init__(self, nodes, dim, num_points):
        points, weights = legendre.leggauss(num_points)
        points, weights = 0.5 * (1 + points), 0.5 * weights
        values, slopes = lagrange(nodes, points)

        def product(factors):
            result = factors[0]
            for factor in factors[1:]:
                result = np.kron(result, factor)
            return result

        self.weights = product([weights] * dim)
        self.values = product([values] * dim)
        # The shape is (direction, point, node).
        self.gradients = np.array([product([slopes if d == e else values for e in range(dim)]) for d in range(dim)])


def patch_nodes(corners, nodes):
    """Returns the images of the tensor nodes under the multilinear map, shape (node, axis)."""
    for axis in range(corners.ndim - 1):
        shape = [1] * corners.ndim
        shape[axis] = len(nodes)
        t = nodes.reshape(shape)
        corners = (1 - t) * np.take(corners, [0], axis) + t * np.take(corners, [1], axis)
    return corners.reshape(-1, corners.shape[-1])


class Numbering:
    """Nodes are the same if their coordinates are the same."""

    def __init__(self, patches):
        keys = self.keys(np.concatenate(patches))
        self.size = 0
        self.known = {}
        for key in keys:
            if key not in self.known:
                self.known[key] = self.size
                self.size += 1

    @staticmethod
    def keys(points):
        return [tuple(row) for row in np.round(points * 1e8).astype(np.int64)]

    def of(self, points):
        return np.array([self.known[key] for key in self.keys(points)])


def cell_matrix(element, geometry, corners, lam, mu):
    """Returns the stiffness matrix of isotropic elasticity, shape (node, component, node, component)."""
    jacobian = np.einsum("dqg,gx->qxd", geometry.gradients, corners.reshape(8, 3))
    det = np.linalg.det(jacobian)
    assert np.all(det > 0)
    inverse = np.linalg.inv(jacobian)
    g = np.einsum("dqn,qdx->qnx", element.gradients, inverse)
    w = (element.weights * det)[:, None, None] * g
    mixed = np.tensordot(w, g, axes=(0, 0))  # [n, i, m, j] = integral of d_i phi_n d_j phi_m
    laplace = np.einsum("nimi->nm", mixed)
    return (lam * mixed + mu * mixed.transpose(0, 3, 2, 1)
            + mu * np.einsum("nm,ij->nimj", laplace, np.eye(3)))


def face_load(element, geometry, corners):
    """Returns the integral of each basis function over a face times the traction, shape (node, component)."""
    tangents = np.einsum("dqg,gx->dqx", geometry.gradients, corners.reshape(4, 3))
    area = np.linalg.norm(np.cross(tangents[0], tangents[1]), axis=1)
    return np.outer(element.values.T @ (element.weights * area), TRACTION)


def energy(path, refine, degree):
    """Returns 0.5 a(u, u) of the solution of the given degree on the mesh refined so many times."""
    cells, faces = read_mesh(path)
    for _ in range(refine):
        cells = [(attribute, child) for attribute, corners in cells for child in split(corners)]
        faces = [(attribute, child) for attribute, corners in faces for child in split(corners)]
    nodes, num_points = lobatto_points(degree), degree + 2
    element, geometry = TensorElement(nodes, 3, num_points), TensorElement(np.array([0.0, 1.0]), 3, num_points)
    face_element, face_geometry = TensorElement(nodes, 2, num_points), TensorElement(np.array([0.0, 1.0]), 2, num_points)
    cell_points = [patch_nodes(corners, nodes) for _, corners in cells]
    numbering = Numbering(cell_points)
    rows, columns, entries = [], [], []
    for (attribute, corners), points in zip(cells, cell_points):
        dofs = (3 * numbering.of(points)[:, None] + np.arange(3)).ravel()
        matrix = cell_matrix(element, geometry, corners, LAMBDA[attribute], MU[attribute])
        rows.append(np.repeat(dofs, len(dofs)))
        columns.append(np.tile(dofs, len(dofs)))
        entries.append(matrix.ravel())
    size = 3 * numbering.size
    stiffness = scipy.sparse.csc_matrix((np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))),
                                        shape=(size, size))
    load, is_free = np.zeros(size), np.ones(size, dtype=bool)
    for attribute, corners in faces:
        dofs = 3 * numbering.of(patch_nodes(corners, nodes))[:, None] + np.arange(3)
        if attribute == CLAMPED:
            is_free[dofs] = False
        elif attribute == PULLED:
            load[dofs] += face_load(face_element, face_geometry, corners)
    free = np.flatnonzero(is_free)
    factors = scipy.sparse.linalg.splu(stiffness[free][:, free].tocsc())
    u = np.zeros(size)
    u[free] = factors.solve(load[free])
    u[free] += factors.solve((load - stiffness @ u)[free])  # one step of refinement
    result = 0.5 * u @ (stiffness @ u)
    assert abs(result - 0.5 * load @ u) <= 1e-11 * result  # Clapeyron's theorem
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mesh")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--cases", nargs="+", metavar="REFINE:DEGREE")
    arguments = parser.parse_args()
    cases = [tuple(map(int, case.split(":"))) for case in arguments.cases] if arguments.cases else CASES
    energies = [{"refine": refine, "degree": degree, "energy": energy(arguments.mesh, refine, degree)}
                for refine, degree in cases]
    content = {"quantity": "0.5*a(u, u) of examples/beam.toml",
               "command": " ".join(["python3", "tests/python/beam_reference.py", *sys.argv[1:]]), "energies": energies}
    if arguments.write:
        with open(arguments.write, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
    else:
        json.dump(content, sys.stdout, indent=2)
        print()


if __name__ == "__main__":
    main()
