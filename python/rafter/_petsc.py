# SPDX-License-Identifier: BSD-3-Clause
"""Operators and preconditioners as objects of PETSc. petsc4py is imported where one of them is made, and not before."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._operator import Operator
from ._preconditioner import Preconditioner


def petsc_mat(A: Operator, assembled: bool = False) -> Any:
    """A matrix of PETSc on this process: matrix-free, of the type python, or assembled (AIJ), for preconditioners and factors of PETSc.

        mat, b = rafter.petsc_mat(A), PETSc.Vec().createWithArray(load, comm=PETSc.COMM_SELF)
        ksp.setOperators(mat)                                       # with rafter.petsc_pc(A), or the options -pc_type jacobi
        ksp.setOperators(mat, rafter.petsc_mat(A, assembled=True))  # with what needs entries, such as -pc_type gamg

    After A.update() the matrix-free one has the new values, and petsc_pc(A) follows; mat.assemble() lets preconditioners of PETSc know.
    """
    PETSc = _petsc()
    if not isinstance(A, Operator):
        raise _core.InputError(f"petsc_mat takes a rafter.Operator, found {type(A).__name__}")
    if not assembled:
        mat = PETSc.Mat().createPython(A.shape, _Matrix(A), comm=PETSc.COMM_SELF)
        mat.setUp()
        return mat
    csr = A.to_csr()
    if csr.nnz > np.iinfo(PETSc.IntType).max:
        raise _core.InputError(f"the matrix has {csr.nnz} entries, and the indices of this PETSc count to {np.iinfo(PETSc.IntType).max}")
    rows, columns = (indices.astype(PETSc.IntType, copy=False) for indices in (csr.indptr, csr.indices))
    return PETSc.Mat().createAIJ(A.shape, csr=(rows, columns, csr.data), comm=PETSc.COMM_SELF)


def petsc_pc(A: Operator | Preconditioner, kind: str | None = None, solver: Mapping[str, Any] | None = None) -> Any:
    """A preconditioner of PETSc: that of Preconditioner(A, kind=kind, solver=solver), which is multigrid where nothing else is named.

        ksp.setPC(rafter.petsc_pc(A, kind="amg"))

    Options of PETSc name it, too, for a KSP whose matrix is of petsc_mat: -pc_type python -pc_python_type rafter.PetscPC, and
    -pc_rafter_kind amg.
    """
    PETSc = _petsc()
    if isinstance(A, Preconditioner) and (kind is not None or solver is not None):
        raise _core.InputError("petsc_pc of a Preconditioner takes neither a kind nor keys: it has its own")
    M = A if isinstance(A, Preconditioner) else Preconditioner(A, kind=kind, solver=solver)
    pc = PETSc.PC().create(comm=PETSc.COMM_SELF)
    pc.setOperators(petsc_mat(M.operator))
    pc.setType("python")
    pc.setPythonContext(PetscPC(M))
    return pc


class _Through:
    """What is applied to vectors of PETSc, through vectors of the core, which are kept."""

    def __init__(self, of, A):
        self.of, self.A, self.core = of, A, None

    def __call__(self, x, y):
        if self.core is not self.A.core:  # tune() makes another one
            self.core, self.room = self.A.core, (self.A.vector(), self.A.row_vector())
        self.room[0].copy_from(x.array_r)
        self.of.apply(*self.room)
        self.room[1].core.copy_to(y.array_w)


class _Context:
    """What PETSc calls. It may be freed after the interpreter, by which time what it has of the core is to be gone."""

    _all = weakref.WeakSet()

    def __init__(self):
        self._all.add(self)

    @staticmethod
    @atexit.register
    def _forget():
        for context in list(_Context._all):
            vars(context).clear()


class _Matrix(_Context):
    """The methods that PETSc calls of a matrix of the type python."""

    def __init__(self, A):
        super().__init__()
        self.A = A
        self._apply, self._apply_transpose = _Through(A, A), None

    def mult(self, mat, x, y):
        self._apply(x, y)

    def multTranspose(self, mat, x, y):
        if self._apply_transpose is None:
            T = self.A.T  # raises where the operator has none
            self._apply_transpose = _Through(T, T)
        self._apply_transpose(x, y)

    def getDiagonal(self, mat, d):
        d.setArray(self.A.diagonal())

    def view(self, mat, viewer):
        kernels = ", ".join(kernel.name for kernel in self.A.kernels)
        viewer.printfASCII(f"  rafter.Operator, matrix-free, {len(self.A.constrained)} rows fixed by conditions; kernels: {kernels}\n")


class PetscPC(_Context):
    """The methods that PETSc calls of a preconditioner of the type python."""

    def __init__(self, M=None):
        super().__init__()
        self.M = M
        self._kind, self._apply = None, None

    def setFromOptions(self, pc):
        self._kind = _petsc().Options(pc.getOptionsPrefix()).getString("pc_rafter_kind", "") or None

    def setUp(self, pc):
        if self.M is None:
            contexts = [matrix.getPythonContext() for matrix in pc.getOperators()[::-1] if matrix.getType() == "python"]
            context = next((context for context in contexts if isinstance(context, _Matrix)), None)
            if context is None:
                raise _core.InputError("rafter.PetscPC is for matrices of rafter.petsc_mat(A), and both of this KSP are others or assembled")
            self.M = Preconditioner(context.A, kind=self._kind)
        self._apply = self._apply or _Through(self.M, self.M.operator)

    def apply(self, pc, x, y):
        self._apply(x, y)

    def applyTranspose(self, pc, x, y):
        if self.M.T is self.M:  # raises where it is not symmetric
            self._apply(x, y)

    def view(self, pc, viewer):
        viewer.printfASCII(f"  rafter.Preconditioner, {self.M}\n")


def _petsc():
    try:
        from petsc4py import PETSc
    except ImportError as error:
        raise _core.EnvironmentError(f"matrices of PETSc need the package petsc4py: {error}") from None
    if np.dtype(PETSc.ScalarType) != float:
        raise _core.EnvironmentError(f"this PETSc computes with {np.dtype(PETSc.ScalarType).name}, and operators with float64")
    return PETSc
