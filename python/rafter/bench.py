# SPDX-License-Identifier: BSD-3-Clause
"""Suites of operators, planned, tuned and timed from forms of UFL."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import ufl
from ufl import Identity, dx, grad, inner, sym, tr

from . import _core
from ._mesh import box
from ._operator import Operator
from ._spaces import Function, FunctionSpace


def _mass(V):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    return u * v * dx


def _laplace(V):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    return inner(grad(u), grad(v)) * dx


def _helmholtz(V):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    return (inner(grad(u), grad(v)) + 0.37 * u * v) * dx


def _elasticity(V):
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    stress = 0.9 * tr(sym(grad(u))) * Identity(V.mesh.dim) + 2 * 0.6 * sym(grad(u))
    return inner(stress, sym(grad(v))) * dx


def _st_venant_kirchhoff(V):
    """The tangent at a displacement, by the derivatives of UFL."""
    w = Function(V, name="w")
    generator = np.random.default_rng(3)
    w.values[:] = 1e-3 * generator.standard_normal(w.values.size)
    E = 0.5 * (grad(w) + grad(w).T + grad(w).T * grad(w))
    energy = (0.45 * tr(E) ** 2 + 0.6 * inner(E, E)) * dx
    return ufl.derivative(ufl.derivative(energy, w, ufl.TestFunction(V)), w, ufl.TrialFunction(V))


# Forms by name, and whether they are on vectors.
OPERATORS = {
    "mass": (_mass, False),
    "helmholtz": (_helmholtz, False),
    "laplace": (_laplace, False),
    "elasticity": (_elasticity, True),
    "st_venant_kirchhoff": (_st_venant_kirchhoff, True),
}
DEGREES = {2: range(1, 9), 3: range(1, 7)}


class Rows(list):
    """What was measured: a dictionary for each case, in the order of the cases."""

    def table(self) -> str:
        """A text with a line for each case."""
        lines = [f"{'case':32} {'unknowns':>10} {'GFLOP/s':>9} {'bound':>9} {'share':>7}  limited by"]
        lines += [f"{row['case']:32} {row['unknowns']:10d} {row['gflops']:9.3g} {row['bound_gflops']:9.3g} {100 * row['share']:5.0f} %  {row['limited_by']}"
                  for row in self]
        return "\n".join(lines)

    def histogram(self, width: float = 0.1) -> list[tuple[float, int]]:
        """The number of cases by their share of the bound, in steps of `width`: pairs of the lower end and a number. What is above 1 is counted there."""
        steps = round(1 / width)
        counts = [0] * (steps + 1)
        for row in self:
            counts[min(int(row["share"] / width), steps)] += 1
        return [(i * width, count) for i, count in enumerate(counts)]

    def __str__(self):
        bars = [f"{100 * share:4.0f} % {'#' * count} {count or ''}" for share, count in self.histogram()]
        mean = math.exp(sum(math.log(row["share"]) for row in self) / len(self)) if self else math.nan
        return "\n".join([self.table(), "", "cases by their share of the bound:", *bars, f"geometric mean of the shares: {100 * mean:.0f} %"])


def simplex(operators: Sequence[str] = tuple(OPERATORS), dims: Sequence[int] = (2, 3), degrees: Sequence[int] | None = None,
            triangles: int = 500_000, tetrahedra: int = 200_000, tune: bool = True, seconds: float = 0.2, device: str = "host",
            threads: int = 0, progress: Callable[[str], None] | None = print) -> Rows:
    """Operators on simplices, each planned, tuned and timed: mass, Helmholtz, Laplace, elasticity and the tangent of a St Venant-Kirchhoff
    body on P1 to P8 of the unit square and P1 to P6 of the unit cube, 70 cases. The suite is that of Kulkarni and Klöckner, "Code
    Generation for Near-Roofline Finite Element Actions on GPUs from Symbolic Variational Forms", whose sizes are the defaults.

    operators: names of OPERATORS. dims: of the cells. degrees: those that are wanted (all by default). triangles, tetrahedra: about so
    many cells. tune: plans are timed and the best one taken, else they are predicted. seconds: for which each operator is timed. progress:
    gets a line for each case. Returns Rows, whose text has the table and the histogram: GFLOP/s are operations of the algorithm as
    written, of which kernels may execute fewer, and the share is that of the least time that an execution needs.
    """
    wrong = [name for name in operators if name not in OPERATORS]
    if wrong:
        raise _core.InputError(f"there is no operator {', '.join(wrong)}; accepted are {', '.join(OPERATORS)}")
    if set(dims) - set(DEGREES):
        raise _core.InputError(f"dims are of {', '.join(map(str, DEGREES))}, found {dims}")
    result = Rows()
    for dim in dims:
        n = round(math.sqrt(triangles / 2)) if dim == 2 else round((tetrahedra / 6) ** (1 / 3))
        for degree in DEGREES[dim]:
            if degrees is not None and degree not in degrees:
                continue
            mesh = box([n] * dim, shape="triangle" if dim == 2 else "tetrahedron")  # its batches are best for this degree
            for name in operators:
                make, is_vector = OPERATORS[name]
                A = Operator(make(FunctionSpace(mesh, "Lagrange", degree, shape=(dim,) if is_vector else ())), device=device, threads=threads)
                timed = sum(count for _, _, count in A.tune()) if tune else 0
                speed = A.speed(seconds)
                row = {"case": f"{name}.{dim}D.P{degree}", "unknowns": A.shape[0], "cells": mesh.num_cells, "timed_plans": timed,
                       "plan": A.kernels[0].plan, "quadrature": A.kernels[0].quadrature,
                       "bound_gflops": speed["gflops"] * speed["seconds"] / speed["bound_seconds"], **speed}
                result.append(row)
                if progress:
                    progress(f"{row['case']:32} {row['gflops']:9.3g} GFLOP/s, {100 * row['share']:.0f} % of the bound")
    return result
