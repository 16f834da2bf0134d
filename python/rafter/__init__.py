# SPDX-License-Identifier: BSD-3-Clause
"""Weak forms in UFL become finite element operators at the speed of the machine, and solutions.

    import rafter, ufl

    mesh = rafter.box([16, 16, 16])
    V = rafter.FunctionSpace(mesh, "Lagrange", 4)
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(mesh)
    uh = rafter.Function(V, name="u")
    solution = rafter.solve(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx == x[0] * v * ufl.dx, uh,
                            bcs=[rafter.DirichletBC(V, 0.0)])
    print(solution.report)

UFL itself is imported when the first of these names that needs it is used.
"""

from . import _core
from ._core import EnvironmentError, Error, InputError, SolverError
from ._mesh import Mesh, box, mesh_from_arrays, mesh_from_gmsh, mesh_from_meshio, read_mesh

__version__ = _core.version
for _error in (EnvironmentError, Error, InputError, SolverError):
    _error.__module__ = __name__  # where users import them from

# Names that need UFL, and the modules that have them.
_LAZY = {
    "Constant": "_spaces",
    "DirichletBC": "_spaces",
    "Function": "_spaces",
    "FunctionSpace": "_spaces",
    "by_tag": "_spaces",
    "assemble": "_operator",
    "cell_vectors": "_operator",
    "Operator": "_operator",
    "Vector": "_operator",
    "Preconditioner": "_preconditioner",
    "PetscPC": "_petsc",
    "petsc_mat": "_petsc",
    "petsc_pc": "_petsc",
    "NullSpace": "_problem",
    "Problem": "_problem",
    "Series": "_problem",
    "Solution": "_problem",
    "Picture": "_pictures",
    "plot": "_pictures",
    "plot_convergence": "_pictures",
    "plot_roofline": "_pictures",
    "solve": "_problem",
    "write": "_problem",
}

# Names of DOLFINx and Firedrake, in small letters, and what does the same here.
_CALLED = {"functionspace": "FunctionSpace", "vectorfunctionspace": "FunctionSpace(mesh, \"Lagrange\", p, shape=(3,))", "dirichletbc": "DirichletBC",
           "linearproblem": "Problem", "nonlinearproblem": "Problem", "linearvariationalproblem": "Problem", "nonlinearvariationalproblem": "Problem",
           "unitcubemesh": "box([n, n, n])", "unitsquaremesh": "box([n, n])", "unitintervalmesh": "box([n])", "create_unit_cube": "box([n, n, n])",
           "create_unit_square": "box([n, n])", "create_box": "box", "boxmesh": "box", "rectanglemesh": "box", "expression": "Function(V).interpolate",
           "interpolate": "Function(V).interpolate", "project": "Function(V).project", "assemble_matrix": "Operator(a, bcs).to_csr()",
           "assemble_vector": "assemble", "assemble_scalar": "assemble", "apply_lifting": "Operator(a, bcs).lift(b)", "xdmffile": "write", "vtkfile": "write",
           "vtxwriter": "Series"}

__all__ = ["EnvironmentError", "Error", "InputError", "Mesh", "SolverError", "box", "mesh_from_arrays", "mesh_from_gmsh",
           "mesh_from_meshio", "read_mesh", *_LAZY]


def __getattr__(name):
    from importlib import import_module

    if name == "bench":
        return import_module(".bench", __name__)
    if name not in _LAZY:
        hint = f"; here it is rafter.{_CALLED[name.lower()]}" if name.lower() in _CALLED else ""
        raise AttributeError(f"module 'rafter' has no attribute '{name}'{hint}")
    value = getattr(import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_LAZY))


def _warn(text):
    import sys
    import warnings

    level, frame = 2, sys._getframe(1)  # the line of the user, outside of the package
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def _warn_of_caps(rules):
    """Warns where a polynomial is integrated by a rule of a lower degree, which is the choice of a cap and not of the user."""
    for rule in rules:
        if "capped" in rule and "(a guess" not in rule:
            _warn(f"quadrature is not exact: {rule}; dx(degree=...) or numerics={{'max_degree': ...}} takes more points")


_core.set_warning_handler(_warn)
# The handler belongs to the interpreter, which may end before the library does.
import atexit as _atexit  # noqa: E402

_atexit.register(_core.set_warning_handler, None)
