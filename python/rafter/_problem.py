# SPDX-License-Identifier: BSD-3-Clause
"""Problems and their solutions: what the command does with a problem file, for forms of UFL."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import sys
import time
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import ufl

from . import _core, _warn_of_caps
from ._lowering import Lowering
from ._operator import run_arguments
from ._spaces import DirichletBC, Function, LeafValues, conditions_of, field_names, flat, space_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class NullSpace:
    """What fixes the part of a field that the form leaves open: mean=0.0 (or one for each component), point=[...] with value=0.0, or
    rigid_modes=True. `field`: the number of the unknown or of the part of a mixed space, or the name of the unknown."""

    def __init__(self, field: int | str = 0, mean: ArrayLike | None = None, point: ArrayLike | None = None, value: ArrayLike = 0.0,
                 rigid_modes: bool = False):
        if (mean is not None) + (point is not None) + bool(rigid_modes) != 1:
            raise _core.InputError("NullSpace takes one of mean, point and rigid_modes")
        self.field = field
        if mean is not None:
            self.kind, self.values, self.point = "mean", np.atleast_1d(mean), []
        elif point is not None:
            self.kind, self.values, self.point = "point", np.atleast_1d(value), list(np.atleast_1d(point))
        else:
            self.kind, self.values, self.point = "rigid_modes", [], []

    def core(self, sizes, names=()):
        if isinstance(self.field, str) and self.field not in names:
            raise _core.InputError(f"NullSpace: there is no unknown '{self.field}'; there are: {', '.join(names)}")
        field = names.index(self.field) if isinstance(self.field, str) else self.field
        if not 0 <= field < len(sizes):
            raise _core.InputError(f"NullSpace: there is no field {field}; there are {len(sizes)}")
        values = [float(v) for v in self.values]
        if len(values) == 1:
            values = values * sizes[field]
        return (field, self.kind, values, [float(x) for x in self.point])


class Solution:
    """How a problem was solved. `report` is the text of the command, `to_dict()` what `rafter solve --json` writes."""

    def __init__(self, core):
        self.core = core

    @functools.cached_property
    def _record(self):
        return json.loads(self.core.to_json())

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.core.is_converged

    @property
    def report(self) -> str:
        """The report of the command."""
        return self.core.to_text(False)

    def details(self) -> str:
        """The report with what `--verbose` adds."""
        return self.core.to_text(True)

    def to_dict(self) -> dict[str, Any]:
        """The report as `rafter solve --json` writes it."""
        return json.loads(self.core.to_json())

    @property
    def iterations(self) -> int:
        """Number of iterations, of Newton steps where the problem is not linear."""
        return self._record["iterations"]

    @property
    def functionals(self) -> dict[str, float]:
        """Values of the functionals, by name."""
        return self._record.get("functionals", {})

    @property
    def errors(self) -> dict[str, dict[str, float]]:
        """Relative errors where an exact solution is known: {field: {"l2": ..., "h1": ...}}."""
        return self._record.get("errors", {})

    @property
    def fields(self) -> dict[str, LeafValues]:
        """The solution of a problem file, by field: objects with `values`, `at_nodes()` and evaluation at points."""
        return {name: LeafValues(_FileLeaf(self.core.space(i)), self.core.values(i)) for i, name in enumerate(self.core.names)}

    def __repr__(self):
        return f"<rafter.Solution: {self.core.status}>"


class _FileLeaf:
    """A space of a problem file, as LeafValues takes it."""

    def __init__(self, core):
        self.core, self._nodes = core, core.nodes()
        self.dim = self._nodes[0].shape[1]
        self.size = self._nodes[1].shape[1]
        self.shape = (self.size,) if self.size > 1 else ()

    def nodes(self):
        return self._nodes

    def core_values(self, values):
        return values


class Problem:
    """Equations with everything that belongs to them: solve() fills the unknown functions.

    equation: a == L, or F == 0 with F a residual of the unknowns (Newton's method; its derivative is found).
    unknowns: a Function, or a list of them for forms on ufl.MixedFunctionSpace, in the order of its parts.
    bcs: DirichletBC. null_space: NullSpace. energy: the functional whose derivative F is, for the line search.
    preconditioner: the bilinear form that solver={"preconditioner": "block"} takes the blocks of instead of a.
    functionals: {name: form of rank 0}. exact: {unknown: expression of x}, whose errors are reported; max_l2_error, max_h1_error in
    `check` make larger ones an error.
    solver, newton, output, check, numerics: the sections of a problem file, as dictionaries with all their keys.
    output_fields: {name: expression of the unknowns and of functions in the equations}, which are written beside the unknowns.
    initial: whether Newton's method starts from the present values of the unknowns (else from 0).
    """

    def __init__(self, equation: ufl.equation.Equation, unknowns: Function | Sequence[Function], bcs: DirichletBC | Iterable[DirichletBC] = (),
                 null_space: NullSpace | Iterable[NullSpace] = (), energy: ufl.Form | None = None, preconditioner: ufl.Form | None = None,
                 functionals: Mapping[str, ufl.Form] | None = None,
                 exact: Mapping[Function, Any] | None = None, solver: dict | None = None, newton: dict | None = None, output: dict | None = None,
                 output_fields: Mapping[str, Any] | None = None, check: dict | None = None, numerics: dict | None = None, title: str = "",
                 device: str = "host", threads: int = 0, plan: str = "", degree: int | None = None, initial: bool = True):
        if unknowns is None:
            raise _core.InputError("the unknown is missing: solve(a == L, u) with u = rafter.Function(V), or a list of Functions")
        self.unknowns = list(unknowns) if isinstance(unknowns, (list, tuple)) else [unknowns]
        if len({id(unknown) for unknown in self.unknowns}) < len(self.unknowns):
            raise _core.InputError("an unknown stands in the list twice")
        if not self.unknowns or not all(isinstance(unknown, Function) for unknown in self.unknowns):
            raise _core.InputError("the unknowns of a problem are Functions: rafter.Function(V)")
        named = {"solver": solver, "newton": newton, "output": output, "check": check, "numerics": numerics, "functionals": functionals,
                 "exact": exact, "output_fields": output_fields}
        for name, value in named.items():
            if value is not None and not isinstance(value, dict):
                raise _core.InputError(f"{name} is a dictionary, found {type(value).__name__}")
        self.equation = equation
        self.bcs = conditions_of(bcs)
        self.null_space = [null_space] if isinstance(null_space, NullSpace) else list(null_space)
        if not all(isinstance(of, NullSpace) for of in self.null_space):
            raise _core.InputError("null_space is a rafter.NullSpace, or a list of them")
        self.energy, self.preconditioner, self.functionals, self.exact, self.title = energy, preconditioner, functionals or {}, exact or {}, title
        self.sections = {"solver": solver, "newton": newton, "output": output, "check": check, "numerics": numerics}
        self.output_fields = output_fields or {}
        self.run = run_arguments(device, threads, plan, degree)
        self.initial = initial
        self._kept = None

    def _names(self):
        """Names of the fields, for each unknown one for each of its parts. No two are equal."""
        names, used = [], set()
        for unknown in self.unknowns:
            of_one = field_names(unknown.name, len(unknown.parts))
            while used & set(of_one):
                of_one = [name + "_" for name in of_one]
            used |= set(of_one)
            names.append(of_one)
        return names

    def core(self):
        """The problem of the core, with the present values of functions, constants and conditions."""
        stated = self._stated()
        lowering, parts, names = stated.lowering, stated.parts, stated.names
        result = _core.Problem()
        for attribute, value in stated.core.items():
            setattr(result, attribute, value)
        result.title, result.run = self.title, self.run
        result.conditions = [bc.core(lowering) for bc in self.bcs]
        result.null_space = [of.core([part.leaf.size for part in parts], names) for of in self.null_space]
        for name, core, values in lowering.data():
            result.add_data(name, core, values)
        result.parameters = lowering.parameters()
        if self.initial and stated.is_residual:
            for part in parts:
                result.add_initial(part.values)
        are_moving = any(bc.is_moving for bc in self.bcs)
        result.options, result.overrides = _problem_text(parts, names, stated.is_residual, are_moving, self.sections,
                                                         [number for number, _ in result.exact])
        return result

    def _stated(self):
        """The forms and expressions of the core. Those of the solve before stay as long as the user has put no other ones in their place."""
        made_of = [self.equation, self.energy, self.preconditioner, *self.unknowns, *self.functionals.values(), *self.exact, *self.exact.values(),
                   *self.output_fields.values()]
        names = [self._names(), list(self.functionals), list(self.output_fields)]
        kept = self._kept
        if kept is None or kept.of_names != names or len(kept.made_of) != len(made_of) or any(a is not b for a, b in zip(kept.made_of, made_of)):
            kept = self._kept = self._state()
            kept.made_of, kept.of_names = made_of, names
        return kept

    def _state(self):
        if not isinstance(self.equation, ufl.equation.Equation) or not isinstance(self.equation.lhs, ufl.Form):
            raise _core.InputError("a problem is an equation of forms, a == L or F == 0")
        lhs, rhs = self.equation.lhs, self.equation.rhs
        of_unknowns = self._names()
        names = [name for of_one in of_unknowns for name in of_one]
        lowering = _ProblemLowering(self.unknowns, of_unknowns)
        leaves = [leaf for unknown in self.unknowns for leaf in lowering.leaves_of(unknown)]
        core = {"unknowns": [(leaf.core, name) for leaf, name in zip(leaves, names)]}
        is_residual = {argument.number() for argument in lhs.arguments()} == {0}
        if is_residual:
            core["F"] = lowering.form(lhs if _is_zero(rhs) else lhs - rhs)
            core["energy"] = None if self.energy is None else lowering.form(self.energy)
        else:
            core["a"] = lowering.form(lhs, are_unknowns_data=True)
            core["L"] = None if _is_zero(rhs) else lowering.form(rhs, are_unknowns_data=True)
            core["preconditioner"] = lowering.form(self.preconditioner, are_unknowns_data=True)
        core["functionals"] = [(name, lowering.form(form)) for name, form in self.functionals.items()]
        known = {name for name, _, _ in lowering.data()}
        core["output_fields"] = [(name, lowering.expression(e)) for name, e in self.output_fields.items()]
        if set(names) & set(self.output_fields):
            raise _core.InputError("output_fields have other names than the unknowns")
        if {name for name, _, _ in lowering.data()} > known:
            raise _core.InputError("output_fields: a function that the equations do not hold; project() the expression, and rafter.write() it")
        core["exact"] = [(self._number(unknown), flat(lowering.expression(e))) for unknown, e in self.exact.items()]
        parts = [part for unknown in self.unknowns for part in unknown.parts]
        return types.SimpleNamespace(lowering=lowering, parts=parts, names=names, is_residual=is_residual, core=core)

    def _number(self, unknown):
        """The number of the field of an unknown among all fields."""
        number = 0
        for other in self.unknowns:
            if other is unknown:
                return number
            number += len(other.parts)
        raise _core.InputError(f"exact: '{getattr(unknown, 'name', unknown)}' is no unknown of the problem")

    def solve(self, progress: bool | Callable[[str], None] | None = None, check: bool = True) -> Solution:
        """Solves the problem, fills the unknowns, and returns the Solution.

        progress: True prints what happens; or a function of a line of text. check: raise SolverError where the solve does not converge
        or errors are too large, with the text of the command.
        """
        with _followed(progress) as callbacks, in_words_of_python():
            core = self.core().solve(*callbacks)
        parts = [part for unknown in self.unknowns for part in unknown.parts]
        for i, part in enumerate(parts):
            part.values[:] = core.values(i)
        with in_words_of_python():
            return _checked(core, check)


class _ProblemLowering(Lowering):
    """The core knows unknowns by their spaces: each has one of its own, with its name, which no other function is on."""

    def __init__(self, unknowns, names):
        super().__init__(zip(unknowns, names))
        self._all = unknowns
        self._leaves = {}
        for i, (unknown, of_one) in enumerate(zip(unknowns, names)):
            V = unknown.ufl_function_space()
            leaves = V.leaves()
            is_free = all(others is not leaves for others in self._leaves.values())
            is_named = [leaf.name for leaf in leaves] == of_one
            self._leaves[unknown] = leaves if is_free and is_named else V.leaves(f"unknown {i} {of_one}", of_one)

    def leaves_of(self, function):
        return self._leaves[function] if function in self._leaves else self._leaves_of_data(function)

    def _leaves_of_data(self, function):
        leaves = [part.leaf for part in function.parts]
        is_taken = any(leaf is other for others in self._leaves.values() for other in others for leaf in leaves)
        return function.ufl_function_space().leaves("data") if is_taken else leaves

    def leaves_of_condition(self, space, part=None):
        if all(unknown.ufl_function_space() != space for unknown in self._all):
            raise _core.InputError("a condition (DirichletBC) is on a space that no unknown of the problem is on")
        return super().leaves_of_condition(space, part)

    def leaves(self, space, part=None):
        space = space_of(space)
        if part is not None:
            if part >= len(self._all) or self._all[part].ufl_function_space() != space:
                raise _core.InputError(f"unknown {part} of the problem is to be a Function of part {part} of the space of the form")
            return self._leaves[self._all[part]]
        for unknown in self._all:
            if unknown.ufl_function_space() == space:
                return self._leaves[unknown]
        raise _core.InputError("an argument of the form is on a space that no unknown is on")


def solve(equation: ufl.equation.Equation | str | os.PathLike, unknowns: Function | Sequence[Function] | None = None,
          bcs: DirichletBC | Iterable[DirichletBC] = (), *, progress: bool | Callable[[str], None] | None = None, check_solution: bool = True,
          **arguments: Any) -> Solution:
    """Solves a problem file, solve("beam.toml", solver={"rtol": 1e-10}), or an equation: solve(a == L, u, bcs, ...), as Problem takes it.

    Returns the Solution. Of a problem file, keys of all sections may be given: they replace those of the file.
    """
    if isinstance(equation, (str, os.PathLike)):
        run = run_arguments(arguments.pop("device", "host"), arguments.pop("threads", 0), arguments.pop("plan", ""), None)
        wrong = [name for name, keys in arguments.items() if not isinstance(keys, dict)]
        if wrong or unknowns is not None or bcs:
            raise _core.InputError(f"of a problem file, sections are replaced by dictionaries of keys; found {', '.join(wrong) or 'unknowns'}")
        overrides = [f"{section}.{key}={_toml(value)}" for section, keys in arguments.items() for key, value in keys.items()]
        with _followed(progress) as callbacks:
            return _checked(_core.solve_file(os.fspath(equation), overrides, run, *callbacks), check_solution)
    foreign = [name for name in ("petsc_options", "solver_parameters", "rtol", "atol", "max_iterations", "method") if name in arguments]
    if foreign:
        raise _core.InputError(f"{foreign[0]}: options are keys of the sections of a problem file, such as solver={{'method': 'cg', 'rtol': 1e-10}}")
    return Problem(equation, unknowns, bcs, **arguments).solve(progress, check_solution)


def _fields(functions):
    return [(name, leaf.core, leaf.core_values(part.values), leaf.degree == 0) for function in functions
            for name, leaf, part in zip(field_names(function.name, len(function.parts)), [p.leaf for p in function.parts], function.parts)]


def _require_vtkhdf(path):
    if not os.fspath(path).endswith((".vtkhdf", ".hdf")):
        raise _core.InputError(f"files are VTK-HDF ones, whose names end with .vtkhdf, found '{os.fspath(path)}'")


def write(path: str | os.PathLike, *functions: Function) -> None:
    """Writes functions of one mesh to a VTK-HDF file, which ParaView opens: write("u.vtkhdf", u, p)."""
    if not functions or not all(isinstance(function, Function) for function in functions):
        raise _core.InputError("write(path, u, ...) takes one Function or more")
    _require_vtkhdf(path)
    _core.write(os.fspath(path), functions[0].function_space().mesh.core, _fields(functions))


class Series:
    """A VTK-HDF file of functions at several times:

        with rafter.Series("u.vtkhdf", u) as series:
            series.append(0.0)

    The file is there when the series is closed, by the end of the block or by close(); where the block ends with an error, it has the
    times that were appended until then.
    """

    def __init__(self, path: str | os.PathLike, *functions: Function):
        if not functions or not all(isinstance(function, Function) for function in functions):
            raise _core.InputError("Series(path, u, ...) takes one Function or more")
        _require_vtkhdf(path)
        self._functions = functions
        if any(part.leaf.degree == 0 for function in functions for part in function.parts):
            raise _core.InputError("functions of cells are not written at several times")
        self._core = _core.Series(os.fspath(path), functions[0].function_space().mesh.core, _fields(functions))
        self._last = None

    def append(self, time: float) -> None:
        """Writes the present values."""
        if self._core is None:
            raise _core.InputError("the series is closed")
        if self._last is not None and not float(time) > self._last:
            raise _core.InputError(f"times ascend: {time} does not follow {self._last}")
        self._core.append(float(time), _fields(self._functions))
        self._last = float(time)

    def close(self) -> None:
        """Completes the file; without times there is none."""
        if self._core is not None and self._last is not None:
            self._core.commit()
        self._core = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# What the library's messages have of problem files, and what it is here.
_IN_PYTHON = {
    "[[dirichlet]]": "rafter.DirichletBC",
    "[[constraint]] (": "null_space=rafter.NullSpace(",
    "[[constraint]]": "null_space=rafter.NullSpace",
    'fields.NAME.initial = "expression" gives another state': "the values of the unknowns are another state",
    "fields.NAME.initial": "the values of the unknowns",
}


@contextlib.contextmanager
def in_words_of_python():
    """Errors of the library as users of the package would write what they ask for."""
    try:
        yield
    except (_core.InputError, _core.SolverError) as error:
        text = str(error)
        for there, here in _IN_PYTHON.items():
            text = text.replace(there, here)
        text = re.sub(r"\boptions:\d+:\d+: (key )?", "", text)  # places in a text that the user has not written
        if text == str(error):
            raise
        raise type(error)(text) from None


def _checked(core, check):
    solution = Solution(core)
    _warn_of_caps(entry["rule"] for entry in solution._record.get("quadrature", []))
    if check and core.status != "converged":
        raise _core.SolverError(f"{core.status}: {core.message}" if core.message else core.status)
    return solution


@contextlib.contextmanager
def _followed(progress):
    """What the core calls with lines of text, and with numbers and residuals of iterations."""
    if progress is not True:
        yield progress or None, None
        return
    shown = _Progress()
    try:
        yield shown.event, shown.iteration
    finally:
        shown.write("")


class _Progress:
    """Prints events, and below them, in terminals and notebooks, the iteration that runs, in a line that is written over."""

    def __init__(self):
        self._is_live = sys.stdout.isatty() or "ipykernel" in sys.modules
        self._shown, self._last = "", 0.0

    def event(self, text):
        self.write("")
        print(text, flush=True)

    def iteration(self, number, residual):
        now = time.monotonic()
        if self._is_live and now - self._last > 0.1:  # nobody reads more of them
            self._last = now
            self.write(f"iteration {number}: relative residual {residual:.2e}")

    def write(self, text):
        if self._shown or text:
            print("\r" + text.ljust(len(self._shown)) + ("" if text else "\r"), end="", flush=True)
        self._shown = text


def _is_zero(form):
    return isinstance(form, (int, float)) and form == 0 or isinstance(form, (ufl.ZeroBaseForm, ufl.classes.Zero))


def _problem_text(parts, names, is_residual, are_moving, sections, exact):
    """The sections as a problem file, whose mesh, forms and exact solutions stand for those of the core: its reader knows every key. And
    what replaces keys of it, as --set does."""
    check = sections["check"] or {}
    unknown = set(check) - {"max_l2_error", "max_h1_error"}
    if unknown or "fields" in (sections["output"] or {}):
        raise _core.InputError("exact solutions are given by exact={u: expression}, fields of the output by output_fields={name: expression}")
    if check:
        zeros = {names[i]: [0.0] * parts[i].leaf.size if parts[i].leaf.shape else 0.0 for i in exact}
        sections = sections | {"check": zeros | check}
    lines = stand_in([part.leaf for part in parts], names, "F" if is_residual else "a")
    if are_moving:  # boundary values that load steps reach
        ones = [1.0] * parts[0].leaf.size if parts[0].leaf.shape else 1.0
        lines.append(f"dirichlet = [{{ field = {json.dumps(names[0])}, tags = \"all\", value = {_toml(ones)} }}]")
    overrides = []
    for section, keys in sections.items():
        keys = dict(keys or {})
        if section == "output" and "file" in keys:
            overrides.append(f"output.file={_toml(keys.pop('file'))}")
        lines += section_lines(section, keys)
    return "\n".join(lines) + "\n", overrides


def stand_in(leaves, names, form):
    """Lines of a problem file for a mesh, these fields and a form, which stand for those of the core."""
    lines = ['mesh.box = { cells = [2, 2, 2], shape = "hexahedron" }']
    for leaf, name in zip(leaves, names):
        components = f", components = {leaf.size}" if leaf.shape else ""
        lines.append(f"fields.{name} = {{ degree = {leaf.degree}{components} }}")
    tests = ["v"] if len(names) == 1 else [f"v_{name}" for name in names]
    return [*lines, f"forms.{form} = " + json.dumps(" + ".join(f"inner({name}, {test})*dx" for name, test in zip(names, tests)))]


def section_lines(section, keys):
    """Lines of a section of a problem file; none without keys."""
    return [f"[{section}]", *(f"{_key(key)} = {_toml(value)}" for key, value in keys.items())] if keys else []


def _key(name):
    if not re.fullmatch(r"[A-Za-z0-9_-]+", str(name)):
        raise _core.InputError(f"{name!r} is no key of a problem file")
    return name


def _toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(v)}" for key, v in value.items()) + " }"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return json.dumps(os.fspath(value) if isinstance(value, os.PathLike) else str(value))
