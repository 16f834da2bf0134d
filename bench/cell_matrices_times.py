#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times the matrices of all cells of a box: nanoseconds for each cell on one thread, by the processor's clock, and the rate of writing them.

    PYTHONPATH=build/python build/python-env/bin/python bench/cell_matrices_times.py --shapes tetrahedron,prism --degrees 1

The array is there before the clock runs. Beside the rate stands that at which NumPy copies an array of the same size into another.
"""

import argparse
import statistics
import time

import numpy as np
import rafter
import ufl
from ufl import dot, dx, grad, inner


def median_seconds(call, rounds):
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default="tetrahedron,prism,hexahedron")
    parser.add_argument("--degrees", default="1")
    parser.add_argument("--cells", type=int, default=40, help="boxes along each edge, which are cut into cells of the shape")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for shape in arguments.shapes.split(","):
        for degree in map(int, arguments.degrees.split(",")):
            V = rafter.FunctionSpace(rafter.box([arguments.cells] * 3, shape=shape), "Lagrange", degree)
            u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
            laplace, wind = inner(grad(u), grad(v)), ufl.as_vector([1.0, 2.0, 3.0])
            for name, integrand in (("mass", u * v), ("laplace", laplace), ("convection-diffusion", laplace + dot(wind, grad(u)) * v)):
                A = rafter.Operator(integrand * dx, threads=1)
                matrices = A.cell_matrices()
                copy = matrices.copy()
                seconds = median_seconds(lambda: A.cell_matrices(out=matrices), arguments.rounds)
                copied = median_seconds(lambda: np.copyto(copy, matrices), arguments.rounds)
                rate = 1e-9 * matrices.nbytes
                print(f"{shape:<13} p={degree} {name:<21} {1e9 * seconds / len(matrices):8.1f} ns per cell, {rate / seconds:5.2f} GB/s; "
                      f"copied at {rate / copied:5.2f} GB/s", flush=True)


if __name__ == "__main__":
    main()
