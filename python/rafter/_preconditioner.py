# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners of problem files, for the methods of other packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse.linalg
import ufl

from . import _core
from ._operator import Operator, Vector, leaves_of_arguments
from ._problem import NullSpace, _toml, in_words_of_python, section_lines, stand_in
from ._spaces import DirichletBC


class Preconditioner(scipy.sparse.linalg.LinearOperator):
    """An approximate inverse of an operator: z = M @ r. It is what the problem file has as solver.preconditioner, for methods of others:

        M = rafter.Preconditioner(A)                      # of an Operator
        x, info = scipy.sparse.linalg.cg(A, b, M=M)
        M = rafter.Preconditioner(a, bcs, kind="amg")     # of a form; M.operator is the operator

    kind: "multigrid", "amg", "chebyshev", "jacobi", "block" or "none", or "direct", the factors of the matrix. Multigrid makes its levels
    of lower degrees and of the meshes that the mesh was refined from. solver: the keys of [solver] of a problem file, such as
    {"multigrid": {"cycle": "W"}, "method": "gmres"}. The method is that of the iteration, "cg" where none is named: operators that are
    not symmetric are refused for cg and minres, and taken for gmres and bicgstab. Its tolerances are not read. null_space: NullSpace.
    Rows that conditions fix are those of the identity, as in the Operator. After A.update() its next application begins with what follows
    from the values; one that is to stay as it is has an operator of its own. It is used by one thread at a time.
    """

    def __init__(self, a: Operator | ufl.Form, bcs: DirichletBC | Iterable[DirichletBC] = (), kind: str | None = None,
                 solver: Mapping[str, Any] | None = None, null_space: NullSpace | Iterable[NullSpace] = (), device: str = "host",
                 threads: int = 0, plan: str = "", degree: int | None = None):
        if isinstance(bcs, str):
            raise _core.InputError(f'the kind of a preconditioner is named with its key: kind="{bcs}"')
        if isinstance(a, Operator):
            if bcs or device != "host" or plan or degree is not None:
                raise _core.InputError("Preconditioner(A, kind=..., solver=..., null_space=..., threads=...): the operator has the rest of its own")
        else:
            a = Operator(a, bcs, device, threads, plan, degree)
        if a.shape[0] != a.shape[1]:
            raise _core.InputError(f"a preconditioner is of a square operator, and this one has {a.shape[0]} rows and {a.shape[1]} columns")
        solver = dict(solver or {})
        if kind not in (None, "direct") and solver.get("method") == "direct":
            raise _core.InputError(f'kind="{kind}" is no preconditioner of the method direct, which is one by itself: kind="direct"')
        if kind == "direct":
            solver["method"] = "direct"
        elif kind is not None or solver.get("method") != "direct":
            solver["preconditioner"] = kind or solver.get("preconditioner", "multigrid")
        self.operator = a
        self.kind = solver.get("preconditioner", "direct")
        leaves = leaves_of_arguments(a._lowering, a._lowering._arguments, 0)
        text = _text(leaves, solver, [null_space] if isinstance(null_space, NullSpace) else null_space)
        mesh = leaves[0].mesh.core

        def make():
            with in_words_of_python():
                return _core.Preconditioner(a.core, mesh, text, threads)

        self._make = make
        self._of, self._made, self._room = a.core, self._make(), None
        super().__init__(np.dtype(float), a.shape)

    @property
    def core(self):
        """That of the core. It has the values that its operator has now."""
        if self._of is self.operator.core and self._made is not None:
            made, self._made = self._made, None  # what could not follow is of no use
            if made.is_current or made.refresh():
                self._made = made
        if self._made is None or self._of is not self.operator.core:
            self._of, self._made, self._room = self.operator.core, None, None
            self._made = self._make()
        return self._made

    def update(self) -> Preconditioner:
        """Takes the present values of the functions and constants in the form now, and so does its operator."""
        self.operator.update()
        _ = self.core
        return self

    def apply(self, r: Vector, z: Vector) -> Vector:
        """z = M r on the device, without copies, for vectors of operator.vector(). Returns z, whose entries are there when it returns."""
        self.core.apply(r.core, z.core)
        return z

    def _matvec(self, r):
        if np.iscomplexobj(r):
            raise _core.InputError("the preconditioner is real; apply it to the real and the imaginary part")
        core = self.core
        room, self._room = self._room or (self.operator.vector(), self.operator.vector()), None
        room[0].copy_from(r)
        core.apply(room[0].core, room[1].core)
        z = room[1].to_numpy()
        self._room = room
        return z

    def _adjoint(self):
        if not self.core.is_symmetric:
            raise _core.InputError("the preconditioner is not symmetric, and has no transpose")
        return self

    _transpose = _adjoint

    @property
    def is_variable(self) -> bool:
        """Whether it changes from one application to the next, which flexible methods alone bear."""
        return self.core.is_variable

    def __str__(self):
        return f"preconditioner {self.kind}" + (f": {self.core.description}" if self.core.description else "")


def _text(leaves, solver, null_space):
    """A problem file with these fields, whose mesh and form stand for those of the operator: its reader knows every key."""
    names = [leaf.name for leaf in leaves]
    if len(set(names)) < len(names):
        if solver.get("preconditioner") == "block" or null_space:
            raise _core.InputError("fields of a MixedFunctionSpace have no names of their own here: take a mixed element of basix.ufl")
        names = [f"{name}_{i}" for i, name in enumerate(names)]
    lines = stand_in(leaves, names, "a")
    if isinstance(solver.get("blocks"), (list, tuple)):
        if len(solver["blocks"]) != len(names):
            raise _core.InputError(f"blocks are a list with one for each of {len(names)} fields, found {len(solver['blocks'])}")
        solver = solver | {"blocks": dict(zip(names, solver["blocks"]))}
    lines += section_lines("solver", solver)
    for of in null_space:
        field, kind, values, point = of.core([leaf.size for leaf in leaves], names)
        values = _toml(values if leaves[field].shape else values[0]) if values else "true"
        lines += ["[[constraint]]", f'field = "{names[field]}"', f"{'value' if kind == 'point' else kind} = {values}"]
        lines += [f"point = {_toml(point)}"] if kind == "point" else []
    return "\n".join(lines) + "\n"
