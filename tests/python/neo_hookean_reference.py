#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Energy and volume of the compressed block of examples/neo-hookean.toml by a finite element code of its own: NumPy, SciPy's direct
solver, and nothing of Rafter (its equations are derived by hand from the energy).

usage: neo_hookean_reference.py [POINTS]
"""
import sys

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from beam_reference import TensorElement, lobatto_points

LAMBDA, MU = 2.0, 1.0
CELLS, DEGREE, HEIGHT = 4, 2, -0.33333333333333  # of the displacement above


def law(deformation):
    """Energy, its derivative P and the second derivative, at points: shapes (...), (..., i, j), (..., i, j, k, l)."""
    det = np.linalg.det(deformation)
    transposed = np.swapaxes(np.linalg.inv(deformation), -1, -2)  # d ln(det F) / dF
    log = np.log(det)[..., None, None]
    energy = (0.5 * MU * (np.einsum("...ij,...ij", deformation, deformation) - 3 - 2 * np.log(det))
              + 0.5 * LAMBDA * np.log(det)**2)
    stress = MU * (deformation - transposed) + LAMBDA * log * transposed
    identity = np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3))
    tangent = (MU * identity + LAMBDA * np.einsum("...ij,...kl->...ijkl", transposed, transposed)
               + np.einsum("...,...il,...kj->...ijkl", MU - LAMBDA * np.log(det), transposed, transposed))
    return energy, stress, tangent


def solve(num_points=4):
    """(energy, volume) of the deformed unit cube, with Gauss points so many per direction."""
    element = TensorElement(lobatto_points(DEGREE), 3, num_points)
    gradients = CELLS * np.moveaxis(element.gradients, 0, -1)  # shape (point, node, axis)
    weights = element.weights / CELLS**3
    side = CELLS * DEGREE + 1
    lattice = np.arange(side**3).reshape(side, side, side)
    local = np.stack(np.meshgrid(*[np.arange(DEGREE + 1)] * 3, indexing="ij"), -1).reshape(-1, 3)
    nodes = np.array([[lattice[tuple(DEGREE * np.array(cell) + offset)] for offset in local]
                      for cell in np.ndindex(CELLS, CELLS, CELLS)])
    dofs = (3 * nodes[:, :, None] + np.arange(3)).reshape(len(nodes), -1)
    z = np.tile(np.linspace(0, 1, side), side**2)
    u = np.zeros((side**3, 3))
    u[:, 2] = HEIGHT * z
    is_free = np.repeat((z > 0) & (z < 1), 3)
    free = np.flatnonzero(is_free)
    size = u.size
    for _ in range(20):
        deformation = np.eye(3) + np.einsum("cni,qnj->cqij", u[nodes], gradients)
        assert np.all(np.linalg.det(deformation) > 0)
        energy, stress, tangent = law(deformation)
        residual = np.zeros(size)
        np.add.at(residual, dofs.ravel(), np.einsum("q,cqij,qnj->cni", weights, stress, gradients).ravel())
        if np.linalg.norm(residual[free]) < 1e-12:
            break
        matrices = np.einsum("q,cqijkl,qnj,qml->cnimk", weights, tangent, gradients, gradients, optimize=True)
        rows, columns = np.repeat(dofs, dofs.shape[1], axis=1), np.tile(dofs, dofs.shape[1])
        stiffness = scipy.sparse.csr_matrix((matrices.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size))
        u.ravel()[free] -= scipy.sparse.linalg.spsolve(stiffness[free][:, free].tocsc(), residual[free])
    else:
        raise AssertionError("no convergence")
    return float(np.einsum("q,cq->", weights, energy)), float(np.einsum("q,cq->", weights, np.linalg.det(deformation)))


def uniaxial():
    """(energy, volume) where the sides are free and may slide on both ends: the deformation is the same everywhere."""
    axial = 1 + HEIGHT
    low, high = 1.0, 2.0  # lateral stretch: the stress on the sides grows with it
    for _ in range(200):
        stretch = 0.5 * (low + high)
        _, stress, _ = law(np.diag([stretch, stretch, axial]))
        low, high = (stretch, high) if stress[0, 0] < 0 else (low, stretch)
    energy, _, _ = law(np.diag([stretch, stretch, axial]))
    return float(energy), stretch**2 * axial


if __name__ == "__main__":
    print("block: energy = {!r}, volume = {!r}".format(*solve(int(sys.argv[1]) if len(sys.argv) > 1 else 4)))
    print("uniaxial: energy = {!r}, volume = {!r}".format(*uniaxial()))
