# SPDX-License-Identifier: BSD-3-Clause
"""From UFL to Rafter's expressions.

UFL expands tensor algebra and derivatives on the physical cell (compute_form_data without pull-backs, scaling and geometry); what is
left are sums, products and functions of components. Each component becomes one scalar expression of the core, which shares equal ones.
"""

import sys
import threading

import numpy as np
import ufl
from ufl.algorithms import compute_form_data
from ufl.algorithms.apply_algebra_lowering import apply_algebra_lowering
from ufl.algorithms.apply_derivatives import apply_derivatives
from ufl.algorithms.check_arities import ArityMismatch
from ufl.algorithms.remove_complex_nodes import remove_complex_nodes
from ufl.classes import (
    Abs, Argument, Atan2, CellDiameter, CellVolume, Coefficient, ComponentTensor, Condition, Conditional, Division, FacetNormal, Grad, Identity, Indexed,
    IndexSum, ListTensor, MathFunction, MaxValue, MinValue, Power, Product, ScalarValue, SpatialCoordinate, Sum, Variable, Zero)
from ufl.core.multiindex import FixedIndex

from . import _core
from ._mesh import mesh_of
from ._source import place_of
from ._spaces import Constant, Function, FunctionSpace, _ByTag, space_of

_CONDITIONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", "&&": "And", "||": "Or"}
_OPERATIONS = {Product: "*", Power: "**", Abs: "abs", Atan2: "atan2", MinValue: "min_value", MaxValue: "max_value"}  # of scalars
_FUNCTIONS = {"sqrt", "exp", "ln", "cos", "sin", "tan", "cosh", "sinh", "tanh", "acos", "asin", "atan"}


class Lowering:
    """Lowers forms and expressions that have names of functions and constants in common, as those of one problem do.

    unknowns: the functions that are solved for, as pairs of a Function and the names of its parts. Names of others are numbered in the
    order in which they occur, so that equal forms have equal kernels whatever was made before.
    """

    def __init__(self, unknowns=(), constants_are_numbers=False):
        self._unknowns = dict(unknowns)
        self._are_unknowns_data = False
        self._constants_are_numbers = constants_are_numbers
        self._functions, self._constants, self._by_tag = {}, {}, {}
        self._used = set()  # names of functions, their parts, and numbers that forms hold
        self._arguments = ()
        self._begin({})

    def _begin(self, originals):
        """Begins another form. UFL numbers the functions of each anew, so that equal ones of two forms are not the same."""
        self._parts, self._memo, self._originals = {}, {}, originals

    def leaves(self, space, part=None):
        """The spaces of the unknowns and arguments."""
        return space_of(space).leaves(part)

    def leaves_of_condition(self, space, part=None):
        """The spaces of the argument that a condition on a space fixes."""
        found = {argument.part() for argument in self._arguments if argument.number() == 0 and space_of(argument.ufl_function_space()) == space}
        if part is None and len(found) > 1:
            raise _core.InputError("several fields are on the space of a condition: DirichletBC(..., part=i) names one")
        return self.leaves(space, part if part is not None else next(iter(found), None))

    def leaves_of(self, function):
        """The spaces of a function."""
        return [part.leaf for part in function.parts]

    # What was found
    # ------------------------------------------------------------------------------------------------------------

    def data(self):
        """Names, spaces and values of the functions that were found, but for the unknowns."""
        return [(name, leaf.core, leaf.core_values(part.values)) for function, names in self._functions.items()
                for name, leaf, part in zip(names, self._leaves_of_data(function), function.parts) if name in self._used]

    def parameters(self):
        """Names and values of the numbers that constants consist of."""
        values = {f"{name}_{i}": float(value) for constant, name in self._constants.items() for i, value in enumerate(np.ravel(constant.value))}
        return [(name, value) for name, value in values.items() if name in self._used]

    # Forms and expressions
    # ------------------------------------------------------------------------------------------------------------

    def form(self, form, are_unknowns_data=False):
        """The form of the core; None for a form without integrals. are_unknowns_data: functions that are solved for are given ones in it."""
        with _Places():
            return self._form(form, are_unknowns_data)

    def _form(self, form, are_unknowns_data):
        if form is None or isinstance(form, (ufl.ZeroBaseForm, Zero)) or (isinstance(form, (int, float)) and form == 0):
            return None
        if not isinstance(form, ufl.Form):
            raise _core.InputError(f"a form is expected, such as f*dx, found {type(form).__name__}: {form}")
        if form.empty():
            return None
        self._require_plain(form)
        self._are_unknowns_data = are_unknowns_data
        self._arguments += tuple(form.arguments())
        with _DeepRecursion():
            integrals = [integral for block in _blocks(form) for integral in self._integrals(block)]
        degrees = {degree for _, kind, _, degree in integrals if kind == "cell"}
        if len(degrees) > 1:
            raise _core.InputError("integrals over cells have one rule in a form: dx(degree=...) is to be the same for all of them, or for none")
        if not integrals:
            return None
        result = _core.form(integrals)
        self._used.update(result.parameters())
        return result

    @staticmethod
    def _require_plain(form):
        """Raises InputError for several meshes and for tags that do not come from the mesh."""
        domains = {integral.ufl_domain() for integral in form.integrals()}
        for integral in form.integrals():
            domains |= set(ufl.domain.extract_domains(integral.integrand()))
        if len(domains) > 1:
            raise _core.InputError("the form is on several meshes; accepted is one")
        for of_kinds in form.subdomain_data().values():
            if any(data is not None for of_kind in of_kinds.values() for data in of_kind):
                raise _core.InputError("dx(subdomain_data=...): tags are those of the mesh here")

    def _integrals(self, form):
        """Integrands, kinds of measures, tags and degrees of quadrature."""
        try:
            data = compute_form_data(form, do_apply_function_pullbacks=False, do_apply_integral_scaling=False,
                                     do_apply_geometry_lowering=False, do_append_everywhere_integrals=False, complex_mode=False)
        except ArityMismatch as error:  # which is no Exception in all versions of UFL
            raise _core.InputError(f"the form is not linear in its test and trial functions: {error} (unknowns of F == 0 are Functions)") from None
        self._begin({new: old for old, new in data.function_replace_map.items()})
        mesh = mesh_of(form.ufl_domains()[0])
        for of_kind in data.integral_data:
            if of_kind.integral_type not in ("cell", "exterior_facet"):
                raise _refusal(f"integrals of the kind '{of_kind.integral_type}' (dS) do not exist here; accepted are dx and ds", of_kind.integral_type)
            # Integrands that several measures have in common come once, with all their tags: everywhere is one of them.
            ids = [tag for tag in of_kind.subdomain_id if tag not in ("otherwise", "everywhere")]
            measures = [[]] if len(ids) < len(of_kind.subdomain_id) else []
            # What is in several groups counts for each of them.
            has_classes = mesh.core.has_classes(mesh.dim if of_kind.integral_type == "cell" else mesh.dim - 1)
            measures += [[str(tag)] for tag in ids] if has_classes else [[str(tag) for tag in ids]] if ids else []
            for integral in of_kind.integrals:
                integrand = self._scalar(integral.integrand(), (), {})
                for tags in measures:
                    yield integrand, of_kind.integral_type, tags, _degree(integral)

    def expression(self, e, constants_are_numbers=False):
        """The tensor of the core for an expression without arguments."""
        before = self._constants_are_numbers
        self._constants_are_numbers = before or constants_are_numbers
        self._are_unknowns_data = False
        self._begin({})
        try:
            with _Places(), _DeepRecursion():
                e = apply_derivatives(remove_complex_nodes(apply_algebra_lowering(ufl.as_ufl(e))))
                result = self._tensor(e, e.ufl_shape, ())
            self._used.update(result.parameters())
            return result
        finally:
            self._constants_are_numbers = before

    def _tensor(self, e, shape, component):
        if not shape:
            return self._scalar(e, component, {})
        return _core.as_tensor([self._tensor(e, shape[1:], (*component, i)) for i in range(shape[0])])

    # Nodes
    # ------------------------------------------------------------------------------------------------------------

    def _scalar(self, e, component, indices):
        """A component of a node; `indices` are the values of its free indices, by their numbers."""
        key = (e, component, tuple(indices[i] for i in e.ufl_free_indices))
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._lower(e, component, indices)
        return found

    def _lower(self, e, component, indices):
        operands = e.ufl_operands
        if isinstance(e, Zero):
            return _core.Expr(0.0)
        if isinstance(e, ScalarValue):
            return _core.Expr(float(e._value))
        if isinstance(e, Identity):
            return _core.Expr(1.0 if component[0] == component[1] else 0.0)
        if isinstance(e, Indexed):
            return self._scalar(operands[0], tuple(_value(i, indices) for i in operands[1]), indices)
        if isinstance(e, ComponentTensor):
            return self._scalar(operands[0], (), indices | {i.count(): value for i, value in zip(operands[1], component)})
        if isinstance(e, ListTensor):
            return self._scalar(operands[component[0]], component[1:], indices)
        if isinstance(e, IndexSum):
            number = operands[1][0].count()
            result = None
            for value in range(e.dimension()):
                term = self._scalar(operands[0], (), indices | {number: value})
                result = term if result is None else _core.apply("+", [result, term])
            return result
        if isinstance(e, Sum):
            return _core.apply("+", [self._scalar(operand, component, indices) for operand in operands])
        if isinstance(e, Division):
            return _core.apply("/", [self._scalar(operands[0], component, indices), self._scalar(operands[1], (), indices)])
        name = _OPERATIONS.get(type(e)) or (e._name if isinstance(e, MathFunction) and e._name in _FUNCTIONS else None)
        if name:
            return _core.apply(name, [self._scalar(operand, (), indices) for operand in operands])
        if isinstance(e, Conditional):
            return _core.apply("conditional", [self._condition(operands[0], indices),
                                               *(self._scalar(operand, component, indices) for operand in operands[1:])])
        if isinstance(e, Variable):
            return self._scalar(operands[0], component, indices)
        if isinstance(e, (Argument, Coefficient, Grad)):
            return self._function(e, component)
        if isinstance(e, SpatialCoordinate):
            return _core.coordinate(e.ufl_shape[0]).at(list(component))
        if isinstance(e, FacetNormal):
            return _core.normal(e.ufl_shape[0]).at(list(component))
        if isinstance(e, (CellDiameter, CellVolume)):
            return self._scalar(self._of_cells(e), (), {})
        if isinstance(e, _ByTag):
            return _core.by_tag(self._name_of_constant(e), e.by_tag)
        if isinstance(e, ufl.Constant):
            if not isinstance(e, Constant):
                raise _core.InputError(f"the constant {e} has no value: use rafter.Constant(mesh, value)")
            number = int(np.ravel_multi_index(component, e.ufl_shape)) if component else 0
            if self._constants_are_numbers:
                return _core.Expr(float(np.ravel(e.value)[number]))
            return _core.parameter(f"{self._name_of_constant(e)}_{number}")
        raise _refusal(f"forms with {type(e).__name__} are not supported: {e}", type(e).__name__, getattr(e, "_name", ""))

    def _condition(self, e, indices):
        operands = e.ufl_operands
        if isinstance(e, ufl.classes.NotCondition):
            return _core.apply("Not", [self._condition(operands[0], indices)])
        name = getattr(e, "_name", None)
        if isinstance(e, (ufl.classes.AndCondition, ufl.classes.OrCondition)):
            return _core.apply(_CONDITIONS[name], [self._condition(operand, indices) for operand in operands])
        if name in (">", ">="):
            name, operands = {">": "<", ">=": "<="}[name], (operands[1], operands[0])
        if not isinstance(e, Condition) or name not in _CONDITIONS:
            raise _refusal(f"conditions with {type(e).__name__} are not supported: {e}", type(e).__name__)
        return _core.apply(_CONDITIONS[name], [self._scalar(operand, (), indices) for operand in operands])

    def _function(self, e, component):
        """A component of an argument, of a function, or of their derivatives."""
        axes = 0
        terminal = e
        while isinstance(terminal, Grad):
            terminal, axes = terminal.ufl_operands[0], axes + 1
        if axes > 1:
            raise _refusal(f"second derivatives are not supported (integrate by parts, or introduce a field for the gradient): {e}", "Grad")
        if not isinstance(terminal, (Argument, Coefficient)):
            raise _refusal(f"derivatives of {type(terminal).__name__} are not supported: {e}", "Grad")
        of_value, of_axes = component[: len(component) - axes], component[len(component) - axes:]
        number = int(np.ravel_multi_index(of_value, terminal.ufl_shape)) if of_value else 0
        for leaf, whole, name in self._leaf_expressions(terminal):
            if leaf.offset <= number < leaf.offset + leaf.size:
                self._used.add(name)
                place = [number - leaf.offset] if leaf.shape else []
                for _ in range(axes):
                    whole = _core.grad(whole, space_of(terminal.ufl_function_space()).mesh.dim)
                place += of_axes
                return whole.at(place) if place else whole
        raise _core.InputError(f"component {of_value} of {terminal} does not exist")

    def _leaf_expressions(self, terminal):
        """The spaces that an argument or a function is made of, with their tensors in the core."""
        if terminal in self._parts:
            return self._parts[terminal]
        if isinstance(terminal, Argument):
            make = _core.test_function if terminal.number() == 0 else _core.trial_function
            result = [(leaf, make(leaf.core), None) for leaf in self.leaves(terminal.ufl_function_space(), terminal.part())]
            if any(leaf.is_broken for leaf, _, _ in result):
                raise _core.InputError(f"test and trial functions are continuous here: {terminal.ufl_function_space().ufl_element()}")
        else:
            function = self._originals.get(terminal, terminal)
            if not isinstance(function, Function):
                raise _core.InputError(f"the coefficient {function} has no values: use rafter.Function(V)")
            if function in self._unknowns and not self._are_unknowns_data:
                names, leaves = self._unknowns[function], self.leaves_of(function)
            else:
                number, count = len(self._functions), len(function.parts)
                names = self._functions.setdefault(function, [f"data_{number}_{i}" for i in range(count)])
                leaves = self._leaves_of_data(function)
            result = [(leaf, _core.field(leaf.core, name), name) for leaf, name in zip(leaves, names)]
        self._parts[terminal] = result
        return result

    def _of_cells(self, e):
        """A quantity of cells as a function that is constant on each."""
        mesh = mesh_of(ufl.domain.extract_unique_domain(e))
        kind = "diameters" if isinstance(e, CellDiameter) else "volumes"
        if kind not in mesh._of_cells:
            h = Function(FunctionSpace(mesh, "DG", 0))
            h.values[:] = h.function_space().leaves()[0].core.cell_volumes() if kind == "volumes" else _diameters(mesh)
            mesh._of_cells[kind] = h
        return mesh._of_cells[kind]

    def _leaves_of_data(self, function):
        return self.leaves_of(function)

    def _name_of_constant(self, constant):
        if isinstance(constant, _ByTag):
            return self._by_tag.setdefault(constant, f"k{len(self._by_tag)}")
        return self._constants.setdefault(constant, f"c{len(self._constants)}")


def _diameters(mesh):
    """Largest distances between vertices of cells."""
    result = []
    for _, x in mesh.core.cell_vertices:
        result.append(np.sqrt(((x[:, :, None, :] - x[:, None, :, :]) ** 2).sum(axis=-1).max(axis=(1, 2))))
    return np.concatenate(result)


def _value(index, indices):
    return int(index) if isinstance(index, FixedIndex) else indices[index.count()]


def _degree(integral):
    """The degree of quadrature that the author of a form asks for; -1: it is chosen."""
    metadata = integral.metadata()
    rule = metadata.get("quadrature_rule", "default")
    if rule not in ("default", None):
        raise _core.InputError(f"the quadrature rule '{rule}' does not exist here; accepted is a degree")
    degree = metadata.get("quadrature_degree", -1)
    if degree in (None, -1, "auto", "default"):
        return -1
    if not isinstance(degree, (int, np.integer)) or degree < 0:
        raise _core.InputError(f"the quadrature degree {degree!r} is no number of a degree")
    return int(degree)


def _blocks(form):
    """The parts of a form on a ufl.MixedFunctionSpace, one for each pair of fields, or the form itself."""
    if all(argument.part() is None for argument in form.arguments()):
        return [form]
    blocks = ufl.extract_blocks(apply_derivatives(apply_algebra_lowering(form)))
    flat = [block for row in blocks for block in (row if isinstance(row, (list, tuple)) else [row])]
    return [block for block in flat if block is not None and not isinstance(block, ufl.ZeroBaseForm) and not block.empty()]


def _refusal(text, *words):
    """An error about what UFL writes with these names."""
    error = _core.InputError(text)
    error.words = words
    return error


class _Places:
    """Adds to errors of input where the user wrote what is refused."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, _):
        if isinstance(error, _core.InputError) and (place := place_of(*getattr(error, "words", ()))):
            raise _core.InputError(f"{error} ({place})") from None


class _DeepRecursion:
    """Sums of many terms are as deep as they are long. The limit is one for all threads: the last one out puts it back."""

    _lock, _inside, _limit = threading.Lock(), 0, 0

    def __enter__(self):
        cls = _DeepRecursion
        with cls._lock:
            if cls._inside == 0:
                cls._limit = sys.getrecursionlimit()
                sys.setrecursionlimit(max(cls._limit, 20_000))
            cls._inside += 1

    def __exit__(self, *_):
        cls = _DeepRecursion
        with cls._lock:
            cls._inside -= 1
            if cls._inside == 0:
                sys.setrecursionlimit(cls._limit)
