# SPDX-License-Identifier: BSD-3-Clause
"""Operators and vectors of forms, as SciPy takes them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
import ufl

from . import _core, _warn_of_caps
from ._lowering import Lowering
from ._spaces import DirichletBC, conditions_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


Kernel = namedtuple("Kernel", ["name", "plan", "quadrature", "source"])


def run_arguments(device, threads, plan, degree):
    """Where operators run, and how; what is no such argument is named."""
    if not isinstance(device, str) or not isinstance(plan, str):
        raise _core.InputError(f"device and plan are texts, found {device!r} and {plan!r}")
    for name, value in (("threads", threads), ("degree", degree)):
        if not (value is None and name == "degree") and (not isinstance(value, (int, np.integer)) or value < 0):
            raise _core.InputError(f"{name} is a number, 0 or more, found {value!r}")
    return _core.RunArguments(device, int(threads), plan, None if degree is None else int(degree))


class Vector:
    """A vector on the device of an operator. Other packages share its entries by DLPack: numpy.from_dlpack(x) on the host,
    cupy.from_dlpack(x) or torch.from_dlpack(x) on a GPU. Who writes to them on a stream of his own waits for that before A.apply(x, y).
    """

    def __init__(self, A, is_row, values):
        self.core = _core.vector(A.core, is_row, A._device)
        if values is not None:
            self.copy_from(values)

    def copy_from(self, values: ArrayLike) -> Vector:
        """Takes values of the host."""
        if np.iscomplexobj(values):
            raise _core.InputError("vectors are real here")
        self.core.copy_from(np.ascontiguousarray(values, dtype=float).ravel())
        return self

    def to_numpy(self) -> np.ndarray:
        """A copy on the host."""
        values = np.empty(self.core.size)
        self.core.copy_to(values)
        return values

    @property
    def device(self) -> str:
        """The kind of device: "host", "opencl", "cuda" or "hip"."""
        return self.core.device

    def __len__(self):
        return self.core.size

    def __dlpack__(self, **arguments):
        return self.core.shared().__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.core.__dlpack_device__()


class Operator(scipy.sparse.linalg.LinearOperator):
    """The operator of a bilinear form, matrix-free: y = A @ x, also of blocks of vectors.

    Rows and columns of unknowns that `bcs` fix are those of the identity. Vectors are those of Function.values; of mixed spaces they hold
    those of the parts in the ranges `parts`, between which rows are those of the identity. device: "host", "opencl:0", ...; degree: of
    quadrature; plan: a text, as `rafter kernel` prints it.
    """

    def __init__(self, a: ufl.Form, bcs: DirichletBC | Iterable[DirichletBC] = (), device: str = "host", threads: int = 0, plan: str = "",
                 degree: int | None = None):
        self._lowering = lowering = Lowering()
        form = lowering.form(a)
        if form is None or form.rank != 2:
            raise _core.InputError("Operator takes a bilinear form, with a test and a trial function")
        spaces = [_spaces(lowering, a, number) for number in (0, 1)]
        bcs = conditions_of(bcs)
        conditions, run = [bc.core(lowering) for bc in bcs], run_arguments(device, threads, plan, degree)
        self._make = lambda: _core.Operator(form, *spaces, conditions, run, self._data())
        self.core, self._device, self._rooms = self._make(), device, []
        _warn_of_caps(kernel.quadrature for kernel in self.kernels)
        super().__init__(np.dtype(float), (self.core.rows, self.core.columns))

    def _data(self):
        return _core.DataArguments([(name, values) for name, _, values in self._lowering.data()], self._lowering.parameters())

    def update(self) -> Operator:
        """Takes the present values of the functions and constants in the form. Nothing is compiled. No other thread may apply the operator
        meanwhile."""
        self.core.bind(self._data())
        return self

    def vector(self, values: ArrayLike | None = None) -> Vector:
        """A vector x of A.apply(x, y) on the device of the operator, with zeros or with values."""
        return Vector(self, False, values)

    def row_vector(self, values: ArrayLike | None = None) -> Vector:
        """A vector y of A.apply(x, y); it is as long as x where test and trial functions are on one space."""
        return Vector(self, True, values)

    def apply(self, x: Vector, y: Vector) -> Vector:
        """y = A x on the device, without copies. Returns y, whose entries are there when it returns."""
        if not isinstance(x, Vector) or not isinstance(y, Vector):
            raise _core.InputError("apply(x, y) takes vectors of A.vector() and A.row_vector(); A @ x takes arrays")
        _core.apply_vectors(self.core, x.core, y.core)
        return y

    def _matvec(self, x):
        if np.iscomplexobj(x):
            raise _core.InputError("the operator is real; apply it to the real and the imaginary part")
        try:  # room that is there already costs no new memory pages; threads have theirs
            room = self._rooms.pop()
        except IndexError:
            room = self.vector(), self.row_vector()
        room[0].copy_from(x)
        self.apply(*room)
        y = room[1].to_numpy()
        self._rooms.append(room)
        return y

    def _adjoint(self):
        raise _core.InputError("the operator has no transpose; Operator(ufl.adjoint(a)) is one")

    _transpose = _adjoint

    def lift(self, b: ArrayLike) -> np.ndarray:
        """The right-hand side of A @ x = b for the values of the conditions: b minus what they make, and the values themselves at the entries
        that they fix. For b = assemble(L), methods of SciPy then find the solution of a == L."""
        x, load = self.vector(), self.row_vector(b)
        _core.lift(self.core, load.core, x.core)
        return load.to_numpy()

    def diagonal(self) -> np.ndarray:
        """The diagonal of the matrix, with 1 at entries that conditions fix."""
        return self.core.diagonal()

    def to_csr(self) -> scipy.sparse.csr_matrix:
        """The matrix, as scipy.sparse.csr_matrix."""
        values, columns, starts = self.core.compressed_rows()
        return scipy.sparse.csr_matrix((values, columns, starts), shape=self.shape)

    def cell_matrices(self, shape: str = "", cells: ArrayLike | None = None, dtype: Any = float, out: np.ndarray | None = None) -> np.ndarray:
        """The matrices of cells, shape (cell, row, column), for the present values of the form's functions and constants, with the integrals
        over the exterior facets of a cell, and whatever conditions there are.

        Rows and columns belong to the entries of vectors that cell_unknowns() tells. shape: of the cells, where the mesh has several; cells:
        their numbers in the order of the result, each once; all of the shape by default, in the order of the mesh. dtype: float or
        numpy.float32, to which terms are rounded. out: an array of this shape in the order of C and of either type, whatever dtype is, that is
        filled and returned.
        """
        if out is not None and not isinstance(out, np.ndarray):
            raise _core.InputError(f"out is to be an array of NumPy, not {type(out).__name__}")
        if (found := np.dtype(dtype) if out is None else out.dtype) not in (np.float64, np.float32):
            raise _core.InputError(f"matrices of cells are of float64 or float32, not {found}")
        cells = _numbers(cells)
        extents = self.core.shape_of_cell_matrices(shape, cells)
        if out is None:
            out = np.empty(extents, found)
        if out.shape != extents or not out.flags.carray:
            raise _core.InputError(f"out is to be a writeable array of shape {extents} in the order of C; its shape is {out.shape}")
        self.core.fill_cell_matrices(shape, cells, out)
        return out

    def cell_unknowns(self, shape: str = "", cells: ArrayLike | None = None, columns: bool = False) -> np.ndarray:
        """The entries of vectors that the rows of cell_matrices() belong to, or its columns: shape (cell, row). shape, cells: as there."""
        return self.core.cell_unknowns(shape, _numbers(cells), columns)

    @property
    def parts(self) -> list[slice]:
        """Where the fields are in vectors y: slices, in the order of the parts of the space."""
        return [slice(begin, end) for begin, end in self.core.row_ranges]

    @property
    def constrained(self) -> np.ndarray:
        """Entries of vectors that conditions fix."""
        return self.core.constrained

    @property
    def kernels(self) -> list[Kernel]:
        """The kernels: each has name, plan, quadrature and source."""
        return [Kernel(*of) for of in self.core.kernels()]

    def speed(self, seconds: float = 0.1) -> dict[str, Any]:
        """The speed of an application, timed for about so many seconds, beside the roofline: a dictionary of seconds, dofs_per_second,
        gflops (of the algorithm as written), executed_gflops, flops_per_byte, gbytes_per_second, bound_seconds (no execution on this machine is
        faster), share (bound over time), limited_by, machine."""
        return _core.speed(self.core, seconds)

    def tune(self, fresh: bool = False, cell_matrices: bool = False) -> list[tuple[str, str, int]]:
        """Times plans of the kernels on this mesh and remembers the best for operators on this form that are made later, and takes them.
        fresh: also where plans are remembered; cell_matrices: those of the kernels that compute matrices of cells instead.
        Returns (kernel, plan, number of plans that were timed) for each kernel."""
        result = _core.tune(self.core, fresh, cell_matrices)
        self.core, self._rooms = self._make(), []
        return result

    @property
    def kernel(self) -> Kernel:
        """The first of the kernels, which is the only one where the mesh has one shape and one kind of map."""
        return self.kernels[0]

    def __str__(self):
        speed = self.speed()
        return "\n".join([
            f"operator with {self.shape[0]} rows: {1e-6 * speed['dofs_per_second']:.4g} MDoF/s, {speed['gflops']:.3g} GFLOP/s, "
            f"{speed['gbytes_per_second']:.3g} GB/s",
            f"  {1e3 * speed['seconds']:.3g} ms, of which no execution on this machine needs fewer than "
            f"{1e3 * speed['bound_seconds']:.3g} ({speed['limited_by']}): {100 * speed['share']:.0f} %",
            *(f"{kernel.name}: {kernel.plan}\n  {kernel.quadrature}" for kernel in self.kernels)])


def _numbers(cells):
    """Numbers of cells as the core takes them."""
    if cells is None:
        return None
    found = np.atleast_1d(cells)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise _core.InputError(f"cells are numbers, shape (cell); these are of type {found.dtype} and shape {found.shape}")
    if found.size and not 0 <= found.min() <= found.max() < 2**31:  # which would be other cells as numbers of 32 bits
        raise _core.InputError(f"the mesh has no cell {found.min() if found.min() < 0 else found.max()}")
    return np.ascontiguousarray(found, np.int32)


def leaves_of_arguments(lowering, arguments, number):
    """The Lagrange spaces of the test (0) or trial functions (1) among the arguments of a form, in the order of their parts."""
    found = sorted((argument for argument in arguments if argument.number() == number), key=lambda argument: argument.part() or 0)
    return [leaf for argument in found for leaf in lowering.leaves(argument.ufl_function_space(), argument.part())]


def _spaces(lowering, form, number):
    return [leaf.core for leaf in leaves_of_arguments(lowering, form.arguments(), number)]


def assemble(form: ufl.Form, device: str = "host", threads: int = 0, degree: int | None = None) -> Any:
    """A number for a functional, the vector of a linear form, or the Operator of a bilinear form (without conditions)."""
    lowering = Lowering()
    lowered = lowering.form(form)
    if lowered is None:
        return 0.0
    if lowered.rank == 2:
        return Operator(form, device=device, threads=threads, degree=degree)
    run = run_arguments(device, threads, "", degree)
    data = _core.DataArguments([(name, values) for name, _, values in lowering.data()], lowering.parameters())
    if lowered.rank == 1:
        values, rules = _core.assemble_vector(lowered, _spaces(lowering, form, 0), run, data)
        _warn_of_caps(rules)
        return values
    spaces = [core for _, core, _ in lowering.data()] or [_any_space(form)]
    value, rules = _core.assemble_scalar(lowered, spaces, run, data)
    _warn_of_caps(rules)
    return value


def cell_vectors(L: ufl.Form, shape: str = "", cells: ArrayLike | None = None, device: str = "host", threads: int = 0,
                 degree: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of cells of a linear form and the entries of assemble(L) that they belong to, both of shape (cell, row); `shape` and `cells`
    are those of Operator.cell_matrices."""
    lowering = Lowering()
    lowered = lowering.form(L)
    if lowered is None or lowered.rank != 1:
        raise _core.InputError("cell_vectors takes a linear form, with a test function alone")
    data = _core.DataArguments([(name, values) for name, _, values in lowering.data()], lowering.parameters())
    values, unknowns, rules = _core.cell_vectors(lowered, _spaces(lowering, L, 0), run_arguments(device, threads, "", degree), data, shape,
                                                 _numbers(cells))
    _warn_of_caps(rules)
    return values, unknowns


def _any_space(form):
    """A functional without functions needs a mesh all the same."""
    from ._mesh import mesh_of
    from ._spaces import FunctionSpace

    return FunctionSpace(mesh_of(form.ufl_domains()[0]), "Lagrange", 1).leaves()[0].core
