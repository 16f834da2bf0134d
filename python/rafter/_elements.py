# SPDX-License-Identifier: BSD-3-Clause
"""Elements as UFL sees them: forms stay on the physical cell, so that their shapes and degrees are all that counts."""

import ufl
from ufl.finiteelement import AbstractFiniteElement
from ufl.pullback import MixedPullback, identity_pullback

from . import _core

# Names of Lagrange elements in UFL, Basix and FIAT.
_LAGRANGE = {"lagrange", "cg", "p", "q", "gll"}
_DISCONTINUOUS = {"dg", "dp", "dq", "discontinuous lagrange"}
# A mesh of several shapes has one cell in UFL: what its degrees are estimated for does not count here.
_ORDER = ["hexahedron", "prism", "pyramid", "tetrahedron", "quadrilateral", "triangle", "interval"]


def ufl_cell(mesh):
    """The cell that stands for a mesh in UFL."""
    shape = next(shape for shape in _ORDER if shape in mesh.cells_by_shape)
    return ufl.Cell(shape)


class Element(AbstractFiniteElement):
    """A Lagrange element, or a discontinuous one ("DG"), with the components of a tensor of this shape."""

    def __init__(self, family, cell, degree, shape=()):
        name = str(family).lower()
        if name not in _LAGRANGE | _DISCONTINUOUS:
            raise _core.InputError(f"the element '{family}' does not exist here; accepted are \"Lagrange\", and \"DG\" for given functions")
        self.discontinuous = name in _DISCONTINUOUS
        if not (0 if self.discontinuous else 1) <= int(degree) <= 12:
            raise _core.InputError(f"the element '{family}' of degree {degree} does not exist here; accepted are 1 to 12, and 0 for \"DG\"")
        self._cell, self._degree, self._shape = cell, int(degree), tuple(int(n) for n in shape)

    @property
    def degree(self):
        return self._degree

    @property
    def sobolev_space(self):
        return ufl.L2 if self.discontinuous else ufl.H1

    @property
    def pullback(self):
        return identity_pullback

    @property
    def embedded_superdegree(self):
        return self._degree

    @property
    def embedded_subdegree(self):
        return self._degree

    @property
    def cell(self):
        return self._cell

    @property
    def reference_value_shape(self):
        return self._shape

    @property
    def sub_elements(self):
        return []

    def __repr__(self):
        return f"rafter.Element('{'DG' if self.discontinuous else 'Lagrange'}', {self._cell!r}, {self._degree}, {self._shape})"

    __str__ = __repr__

    def __hash__(self):
        return hash(repr(self))

    def __eq__(self, other):
        return isinstance(other, Element) and repr(self) == repr(other)


def leaves_of(element):
    """The Lagrange elements that an element is made of, as (degree, shape of values, is it discontinuous), in the order of its components.

    Takes elements of this module and those of basix.ufl, mixed ones among them. Raises InputError for all others.
    """
    if isinstance(element, Element):
        return [(element.degree, element.reference_value_shape, element.discontinuous)]
    if getattr(element, "is_mixed", False) or isinstance(element.pullback, MixedPullback):
        return [leaf for sub in element.sub_elements for leaf in leaves_of(sub)]
    shape = tuple(element.reference_value_shape)
    scalar = element.sub_elements[0] if element.sub_elements else element  # a blocked element
    if str(getattr(scalar, "family_name", "")).lower() not in _LAGRANGE | _DISCONTINUOUS:
        raise _core.InputError(f"the element {element} does not exist here; accepted are Lagrange elements")
    if element.sub_elements and len(element.sub_elements) != _count(shape):
        raise _core.InputError(f"the element {element} is a symmetric tensor, which does not exist here")
    return [(scalar.degree, shape, bool(scalar.discontinuous))]


def _count(shape):
    result = 1
    for n in shape:
        result *= n
    return result
