# SPDX-License-Identifier: BSD-3-Clause
"""Function spaces, functions, constants and boundary conditions: objects of UFL with numbers behind them."""

from __future__ import annotations

import itertools
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import ufl

from . import _core
from ._elements import Element, leaves_of, ufl_cell
from ._mesh import Mesh, mesh_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_numbers = itertools.count()


def flat(e):
    """The components of an expression of the core in one row, as those of fields stand."""
    if len(e.shape) < 2:
        return e
    return _core.as_tensor([e.at(list(index)) for index in np.ndindex(*e.shape)])


class Leaf:
    """A Lagrange space that a space is made of: its components are `offset` to `offset + size - 1` of all, row by row."""

    def __init__(self, mesh, degree, shape, is_broken, offset, name):
        self.degree, self.shape, self.offset, self.is_broken = degree, shape, offset, is_broken
        self.size = math.prod(shape)
        # A function that is constant on cells is one of degree 1 to the core, with one value at all nodes of a cell.
        self.name = name
        self.core = _core.space(mesh.core, "Lagrange", max(degree, 1), self.size if shape else 0, name, is_broken)
        self.mesh, self.dim = mesh, mesh.dim
        self._nodes = self._cells = self._weights = None

    @property
    def num_values(self):
        return self.num_cells * self.size if self.degree == 0 else self.core.size

    @property
    def num_cells(self):
        return sum(len(entries) for entries in self._cell_entries())

    def _cell_entries(self):
        if self._cells is None:
            self._cells = self.core.cell_entries()
        return self._cells

    def nodes(self):
        """Coordinates of nodes, shape (node, dim), and the values that belong to them, shape (node, component)."""
        if self._nodes is None:
            points, entries = self.core.nodes()
            if self.degree == 0:  # the middles of cells
                at = np.empty((self.core.size, points.shape[1]))
                at[entries[:, 0]] = points
                points = np.concatenate([at[of_cells[:, : of_cells.shape[1] // self.size]].mean(axis=1) for of_cells in self._cell_entries()])
                entries = np.arange(self.num_values, dtype=np.int32).reshape(-1, self.size)
            order = np.argsort(entries[:, 0], kind="stable")  # of scalar functions, value i is that at node i
            self._nodes = points[order], entries[order]
        return self._nodes

    def means(self, vector):
        """Means over cells: sums of the values at the nodes, weighed by the integrals of their functions."""
        if self._weights is None:
            v = _core.test_function(self.core)
            integrand = v.at([0]) if self.shape else v
            for c in range(1, self.size):
                integrand = _core.apply("+", [integrand, v.at([c])])
            run = _core.RunArguments("host", 0, "", None)
            self._weights, _ = _core.assemble_vector(_core.form([(integrand, "cell", [], -1)]), [self.core], run, _core.DataArguments([], []))
        result = []
        for of_cells in self._cell_entries():
            shape = (len(of_cells), self.size, -1)
            weights = self._weights[of_cells].reshape(shape)
            result.append((vector[of_cells].reshape(shape) * weights).sum(axis=2) / weights.sum(axis=2))
        return np.concatenate([of_group.ravel() for of_group in result])

    def core_values(self, values):
        """The vector of the core for values of a function."""
        if self.degree > 0:
            return values
        result, begin = np.empty(self.core.size), 0
        values = values.reshape(-1, self.size)
        for entries in self._cell_entries():
            result[entries] = np.repeat(values[begin: begin + len(entries)], entries.shape[1] // self.size, axis=1)
            begin += len(entries)
        return result


class FunctionSpace(ufl.FunctionSpace):
    """Functions on a mesh: FunctionSpace(mesh, "Lagrange", 2), with shape=(3,) those of vectors, or with an element of basix.ufl.

    Degrees go up to 12. "DG" is for given functions: of degree 0 they have a value for each cell, in the order of the mesh, those of one
    shape after those of another. Mixed elements of basix.ufl are taken apart; `sub(i)` names their parts in boundary conditions.
    """

    def __init__(self, mesh: Mesh | ufl.Mesh, element: Any, degree: int | None = None, shape: int | tuple[int, ...] = (), components: int | None = None):
        if not isinstance(mesh, Mesh):
            mesh = mesh_of(ufl.domain.as_domain(mesh))
        if isinstance(element, str):
            if degree is None:
                raise _core.InputError(f"FunctionSpace(mesh, '{element}', degree): the degree is missing")
            shape = (int(components),) if components is not None else (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
            element = Element(element, ufl_cell(mesh), degree, shape)
        elif isinstance(element, tuple):  # (family, degree) or (family, degree, shape), as DOLFINx takes it
            element = Element(element[0], ufl_cell(mesh), element[1], element[2] if len(element) > 2 else ())
        super().__init__(mesh.ufl_domain(), element)
        self.mesh = mesh
        self._leaf_arguments = leaves_of(element)
        for leaf_degree, _, is_broken in self._leaf_arguments:
            mesh.core.reserve(leaf_degree if not is_broken else 1)

    def leaves(self, part=None, names=None):
        """The Lagrange spaces that it is made of; spaces of one mesh and equal elements have them in common. `part`: another set of them,
        since the core tells fields by their spaces: that of a part of a MixedFunctionSpace, or of functions that are data where
        unknowns are on the space, too. `names`: of the fields, where the set is made now."""
        key = (tuple(self._leaf_arguments), part)
        made = self.mesh._leaves
        if key not in made:
            offsets = itertools.accumulate((math.prod(shape) for _, shape, _ in self._leaf_arguments), initial=0)
            if names is None:
                names = ["u"] if len(self._leaf_arguments) == 1 else [f"u{i}" for i in range(len(self._leaf_arguments))]
            made.setdefault(key, [Leaf(self.mesh, *arguments, offset, name)
                                  for arguments, offset, name in zip(self._leaf_arguments, offsets, names)])
        return made[key]

    @property
    def num_dofs(self) -> int:
        """Number of unknowns."""
        return sum(leaf.num_values if leaf.degree == 0 else leaf.core.num_dofs for leaf in self.leaves())

    @property
    def nodes(self) -> np.ndarray:
        """Coordinates of the nodes, shape (node, dim)."""
        return self._only_leaf("nodes").nodes()[0]

    def sub(self, i: int) -> Part:
        """Part i of a mixed space, or component i of a space of vectors, for boundary conditions."""
        return Part(self, i) if len(self._leaf_arguments) > 1 else Part(self, 0).sub(i)

    def _only_leaf(self, what):
        leaves = self.leaves()
        if len(leaves) > 1:
            raise _core.InputError(f"{what}: the space is mixed; ask one of its parts")
        return leaves[0]

    def __repr__(self):
        return f"rafter.FunctionSpace({self.mesh!r}, {self.ufl_element()!r})"


class Part:
    """A part of a mixed space, or a component of one."""

    def __init__(self, of, number, component=None):
        self.of, self.number, self.component = of, number, component
        if not 0 <= number < len(of._leaf_arguments):
            raise _core.InputError(f"the space has no part {number}; it has {len(of._leaf_arguments)}")

    def sub(self, i):
        size = math.prod(self.of._leaf_arguments[self.number][1])
        if self.component is not None or not 0 <= i < size or not self.of._leaf_arguments[self.number][1]:
            raise _core.InputError(f"the space has no part {i}: it is scalar, or has {size} components")
        return Part(self.of, self.number, i)


def space_of(ufl_space):
    """The space of Rafter for one of UFL, which may be ufl.FunctionSpace(domain of a mesh, element)."""
    if isinstance(ufl_space, FunctionSpace):
        return ufl_space
    mesh = mesh_of(ufl_space.ufl_domain())
    key = ufl_space.ufl_element()
    if key not in mesh._spaces:
        mesh._spaces[key] = FunctionSpace(mesh, key)
    return mesh._spaces[key]


class LeafValues:
    """A function of one Lagrange space, with its values."""

    def __init__(self, leaf, values=None):
        self.leaf = leaf
        self.values = np.zeros(leaf.num_values) if values is None else values

    def at_nodes(self) -> np.ndarray:
        """Values at the nodes, shape (node, component)."""
        return self.values[self.leaf.nodes()[1]]

    def __call__(self, points):
        """Values at points, shape (point, dim) or (dim): shape (point, *shape), NaN outside of the mesh."""
        points = np.asarray(points, dtype=float)
        dim = self.leaf.dim
        if dim == 1 and (points.ndim == 0 or points.shape[-1] != 1):
            return self(points[..., None])  # numbers are points of a line
        if points.ndim not in (1, 2) or points.shape[-1] != dim:
            raise _core.InputError(f"points have the shape {points.shape}; accepted is (point, {dim}) or ({dim},)")
        many = np.ascontiguousarray(np.atleast_2d(points))
        found = self.leaf.core.evaluate(self.leaf.core_values(self.values), many).reshape(len(many), *self.leaf.shape)
        return found if points.ndim == 2 else found[0]

    def interpolate(self, value):
        """See Function.interpolate."""
        if isinstance(value, Function) and value.function_space().mesh is not self.leaf.mesh:
            return self.interpolate(lambda x: np.moveaxis(value(np.ascontiguousarray(x.T)), 0, -1))
        if isinstance(value, LeafValues):
            return self.interpolate(lambda x: np.moveaxis(value(np.ascontiguousarray(x.T)), 0, -1))
        if isinstance(value, ufl.core.expr.Expr):
            return self._interpolate_expression(value)
        points, entries = self.leaf.nodes()
        size, shape = self.leaf.size, (*self.leaf.shape, len(points))
        found = value(points.T) if callable(value) else value
        try:
            found = np.asarray(found)
        except ValueError:  # components of which some are numbers
            try:
                found = np.stack([np.broadcast_to(np.asarray(one), len(points)) for one in found])
            except (ValueError, TypeError):
                raise _core.InputError(f"interpolate: components are numbers or arrays of {len(points)} values at the nodes") from None
        if np.iscomplexobj(found):
            raise _core.InputError("functions are real here")
        try:
            found = found.astype(float)
        except (TypeError, ValueError):
            raise _core.InputError(f"interpolate takes numbers, functions of x and expressions, found an array of {found.dtype}") from None
        if found.shape in (shape, (size, len(points))):
            found = found.reshape(-1, len(points)).T
        elif found.size in (1, size):
            found = np.broadcast_to(found.reshape(1, -1), (len(points), size))
        else:
            raise _core.InputError(f"interpolate: values of shape {found.shape} at {len(points)} nodes; accepted is {shape}")
        self._require_finite(found, points)
        self.values[entries] = found
        return self

    @staticmethod
    def _require_finite(found, points):
        wrong = ~np.isfinite(found).all(axis=1)
        if wrong.any():
            at = points[np.flatnonzero(wrong)[0]].tolist()
            raise _core.InputError(f"interpolate: no finite value at {np.count_nonzero(wrong)} of {len(points)} nodes, the first of them at {at}")

    def _interpolate_expression(self, value):
        if value.ufl_shape != self.leaf.shape:
            raise _core.InputError(f"interpolate: the expression has the shape {value.ufl_shape}, and the function {self.leaf.shape}")
        e, known = _lowered(value, self.leaf.mesh)
        if not known:
            points, entries = self.leaf.nodes()
            found = flat(e).at_points(np.ascontiguousarray(points))
            self._require_finite(found, points)
            self.values[entries] = found
        elif self.leaf.degree == 0:
            self.project(value)
        else:
            self.values[:] = self.leaf.core.interpolate(flat(e), known)
        return self

    def project(self, value):
        """See Function.project."""
        value = ufl.as_ufl(value)
        if math.prod(value.ufl_shape) != self.leaf.size:
            raise _core.InputError(f"project: the expression has the shape {value.ufl_shape}, and the function {self.leaf.shape}")
        e, known = _lowered(value, self.leaf.mesh)
        values = self.leaf.core.project(flat(e), known)
        self.values[:] = self.leaf.means(values) if self.leaf.degree == 0 else values
        return self


def _lowered(value, mesh):
    """An expression of the core, and the functions in it, which are on this mesh, with their values."""
    from ._lowering import Lowering

    for domain in ufl.domain.extract_domains(value):
        if mesh_of(domain) is not mesh:
            raise _core.InputError("the expression is on another mesh than the function that takes it; interpolate(f) takes a Function f of another mesh")
    lowering = Lowering(constants_are_numbers=True)
    e = lowering.expression(value)
    return e, [(core, known) for _, core, known in lowering.data()]


# Names that texts of problem files read otherwise.
_RESERVED = {"x", "n", "v", "t", "dx", "ds", "dt", "pi", "e", "load_factor", "grad", "div", "curl", "inner", "dot", "cross", "outer", "tr", "det", "inv",
             "sym", "skew", "dev", "transpose", "identity", "sqrt", "exp", "ln", "log", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
             "tanh", "abs", "sign", "min", "max", "min_value", "max_value", "pow", "conditional", "variable", "diff", "as_vector", "as_matrix", "if", "and",
             "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "max_l2_error", "max_h1_error", "facet_area", "cell_volume"}


def field_names(name, count):
    """Names of the fields of the core for a function, which messages and reports have: its own, where it can be one."""
    is_name = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and name not in _RESERVED and not name.startswith("data_")
    name = name if is_name else "u"
    return [name] if count == 1 else [f"{name}_{i}" for i in range(count)]


# What functions of DOLFINx and Firedrake have, and what it is here.
_NAMED_ELSEWHERE = {
    "x": "the vector is u.values",
    "vector": "the vector is u.values",
    "dat": "the vector is u.values",
    "sub": "the parts of a mixed function are u.parts, ufl.split(u) has them in forms, and u[i] is a component",
    "split": "the parts of a mixed function are u.parts, and ufl.split(u) has them in forms",
    "subfunctions": "the parts of a mixed function are u.parts",
    "assign": "u.values = other.values copies, and u.interpolate(value) takes numbers and expressions",
}


class Function(ufl.Coefficient):
    """A function of a space: in forms a coefficient, and where it is solved for the unknown.

    `values` is its vector as an array of NumPy (of mixed spaces there is one for each part: `parts[i].values`); u(points) evaluates it.
    """

    def __init__(self, V: ufl.FunctionSpace, name: str | None = None):
        if not isinstance(V, ufl.FunctionSpace):
            raise _core.InputError(f"Function(V): V is a rafter.FunctionSpace, found {type(V).__name__}")
        V = space_of(V)
        super().__init__(V)
        self.name = name or f"f{next(_numbers)}"
        self.parts = [LeafValues(leaf) for leaf in V.leaves(names=field_names(self.name, len(V._leaf_arguments)))]

    def function_space(self) -> FunctionSpace:
        """Its space."""
        return self.ufl_function_space()

    @property
    def values(self) -> np.ndarray:
        """Its vector; what is assigned is copied into it."""
        return self._only_part().values

    @values.setter
    def values(self, values):
        if np.iscomplexobj(values):
            raise _core.InputError("functions are real here")
        self._only_part().values[:] = values

    def copy(self, name: str | None = None) -> Function:
        """A function with the same values."""
        result = Function(self.function_space(), name)
        for part, mine in zip(result.parts, self.parts):
            part.values[:] = mine.values
        return result

    def at_nodes(self) -> np.ndarray:
        """Values at V.nodes, shape (node, component)."""
        return self._only_part().at_nodes()

    def __call__(self, *points, **arguments):
        if points and not arguments and all(isinstance(x, numbers.Real) for x in points):
            return self._only_part()(np.array(points, dtype=float))  # one point
        if len(points) == 1 and not arguments and not isinstance(points[0], (ufl.core.expr.Expr, str)):
            return self._only_part()(points[0])
        return super().__call__(*points, **arguments)

    def interpolate(self, value: Any) -> Function:
        """Takes the values at the nodes of a function of x (shape (dim, node)), a number, a Function or an expression of UFL, which may
        hold other functions: of nodes that several cells have, values in one of them. Of degree 0 expressions with functions have their
        means over the cells."""
        self._only_part().interpolate(value)
        return self

    def project(self, value: Any) -> Function:
        """Takes the projection of an expression of UFL, which may hold other functions: least squares in each cell, means at nodes
        that several cells have. It is exact for continuous functions of the space. Of degree 0 they are means over the cells."""
        self._only_part().project(value)
        return self

    def __getattr__(self, name):
        if name in _NAMED_ELSEWHERE:
            raise AttributeError(f"functions have no '{name}' here: {_NAMED_ELSEWHERE[name]}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _only_part(self):
        if len(self.parts) > 1:
            raise _core.InputError(f"the function '{self.name}' is on a mixed space: ask one of its parts")
        return self.parts[0]


class Constant(ufl.Constant):
    """A number, vector or matrix that is the same everywhere. Changing `value` recompiles nothing."""

    def __init__(self, mesh: Mesh | ufl.Mesh, value: ArrayLike = 0.0, name: str | None = None):
        if not isinstance(mesh, (Mesh, ufl.Mesh)):
            raise _core.InputError("Constant(mesh, value): the first argument is the mesh")
        if np.iscomplexobj(value):
            raise _core.InputError("constants are real here")
        value = np.asarray(value, dtype=float)
        super().__init__(mesh.ufl_domain() if isinstance(mesh, Mesh) else mesh, shape=value.shape)
        self.name = name or f"c{next(_numbers)}"
        self._value = value.copy()

    @property
    def value(self) -> Any:
        """The number, or an array."""
        return self._value if self._value.ndim else float(self._value)

    @value.setter
    def value(self, value):
        if np.iscomplexobj(value) or np.shape(value) != self._value.shape:
            raise _core.InputError(f"the constant has the shape {self._value.shape} and is real; found the shape {np.shape(value)}")
        self._value[...] = value

    def __float__(self):
        return float(self._value)


class _ByTag(ufl.Constant):
    def __init__(self, mesh, values):
        super().__init__(mesh.ufl_domain())
        self.by_tag = values


def by_tag(mesh: Mesh, values: Mapping[str | int, float]) -> ufl.Constant:
    """A coefficient that is constant on groups of cells: by_tag(mesh, {"steel": 210.0, 2: 70.0})."""
    return _ByTag(mesh, [(str(tag), float(value)) for tag, value in values.items()])


class DirichletBC:
    """A function has given values on a part of the boundary.

    V: its space, or a part of a mixed one (V.sub(0)). value: a number or list, a function of one point x that returns such, a Constant,
    or an expression of UFL in x and Constants. tags: numbers and names of groups of facets; where: a function of one point that says
    whether the condition holds there (at all nodes of a facet); without both, the whole boundary. components: those that are fixed.
    part: the number of the field on a ufl.MixedFunctionSpace that has the space several times.
    """

    def __init__(self, V: FunctionSpace | Part, value: Any, tags: str | int | Iterable[str | int] | None = None,
                 where: Callable[[np.ndarray], bool] | None = None, components: int | Iterable[int] = (), part: int | None = None):
        if not isinstance(V, (ufl.FunctionSpace, Part)):
            raise _core.InputError(f"DirichletBC(V, value, ...): the first argument is a space or a part of one, found {type(V).__name__}")
        self.space, self.value, self.where, self.part = V, value, where, part
        if callable(tags):
            raise _core.InputError("DirichletBC(V, value, where=...): a predicate is named with its key")
        is_everywhere = tags is None
        tags = [] if is_everywhere else [tags] if isinstance(tags, (str, numbers.Integral)) else tags
        if not isinstance(tags, Iterable) or not all(isinstance(tag, (str, numbers.Integral)) for tag in tags):
            raise _core.InputError(f"DirichletBC: tags are numbers and names of groups of facets, found {tags!r}")
        self.tags = [str(tag) for tag in tags]
        if not self.tags and not is_everywhere:
            raise _core.InputError("DirichletBC: tags is empty; without tags the condition holds on the whole boundary")
        if isinstance(V, Part) and V.component is not None:
            components = V.component
        self.components = [int(c) for c in ([components] if isinstance(components, numbers.Integral) else components)]
        if not isinstance(value, ufl.core.expr.Expr) and not callable(value):
            try:
                np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise _core.InputError(f"DirichletBC: values are numbers, functions of one point and expressions of UFL, found {value!r}") from None

    @property
    def is_moving(self):
        """Whether values may be others than 0."""
        return isinstance(self.value, ufl.core.expr.Expr) or callable(self.value) or bool(np.any(np.asarray(self.value, dtype=float)))

    def leaf(self, lowering):
        """The space that it is on."""
        if isinstance(self.space, Part):
            return lowering.leaves_of_condition(self.space.of, self.part)[self.space.number]
        leaves = lowering.leaves_of_condition(space_of(self.space), self.part)
        if len(leaves) > 1:
            raise _core.InputError("a condition on a mixed space names one of its parts: DirichletBC(V.sub(0), ...)")
        return leaves[0]

    def core(self, lowering):
        leaf = self.leaf(lowering)
        expression = function = None
        if isinstance(self.value, Function):
            raise _core.InputError("values of conditions are expressions of x and constants, or functions of one point: "
                                   "DirichletBC(V, lambda x: g(x)) takes the values of a Function g")
        if isinstance(self.value, (ufl.core.expr.Expr, ufl.classes.Zero)):
            expression = self._padded(flat(lowering.expression(self.value, constants_are_numbers=True)), leaf)
        elif callable(self.value):
            function = self._function(self.value, leaf)
        else:
            shape = np.shape(self.value)
            if shape not in ((), leaf.shape, (leaf.size,), (len(self.components),)):
                raise _core.InputError(f"DirichletBC: values of the shape {shape} on a space of the shape {leaf.shape}")
            values = [_core.Expr(float(value)) for value in np.ravel(np.asarray(self.value, dtype=float))]
            expression = self._padded(_core.as_tensor(values) if len(values) > 1 else values[0], leaf)
        where = None if self.where is None else (lambda x: bool(self.where(np.asarray(x))))
        return _core.Condition(leaf.core, self.tags, self.components, expression, function, where)

    def _padded(self, e, leaf):
        """The expression of all components, 0 for those that are not fixed. A scalar is that of each component that is fixed."""
        if not leaf.shape or e.shape == [leaf.size]:
            return e
        fixed = self.components or range(leaf.size)
        given = [e] * len(fixed) if not e.shape else [e.at([i]) for i in range(e.shape[0])]
        if len(given) != len(fixed):
            raise _core.InputError(f"DirichletBC: {len(given)} values for {len(fixed)} components; accepted are one, {len(fixed)} or {leaf.size}")
        rows = [_core.Expr(0.0)] * leaf.size
        for component, row in zip(fixed, given):
            if not 0 <= component < leaf.size:
                raise _core.InputError(f"DirichletBC: there is no component {component}; there are {leaf.size}")
            rows[component] = row
        return _core.as_tensor(rows)

    def _function(self, value, leaf):
        def at(x):
            found = np.asarray(value(np.asarray(x)), dtype=float).ravel()
            if self.components and found.size == len(self.components):
                all_of_them = np.zeros(leaf.size)
                all_of_them[self.components] = found
                found = all_of_them
            elif found.size == 1 and leaf.size > 1:
                found = np.full(leaf.size, found[0])
            return found.tolist()

        return at


def conditions_of(bcs):
    """Conditions as a list; a single one stands for itself."""
    result = [bcs] if isinstance(bcs, DirichletBC) else list(bcs)
    for bc in result:
        if not isinstance(bc, DirichletBC):
            raise _core.InputError(f"bcs are rafter.DirichletBC, found {type(bc).__name__}")
    return result
