// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <rafter/element/cell.hpp>
#include <rafter/element/entity_transform.hpp>
#include <rafter/element/functionals.hpp>

namespace rafter::element {

/// Families of the registry, and elements that are made from a definition.
enum class Family : std::uint8_t { lagrange, custom };

std::string_view name(Family family);
/// Family of the registry with this name. Throws InputError, with the nearest name, if there is none.
Family family_from_name(std::string_view name);

/// How functions f on the reference cell become functions on a cell, x = x(X), with J = dx/dX, K its inverse:
/// f(X) itself (identity), K^T f (covariant Piola map, which keeps tangential components: H(curl)), or J f / det J
/// (contravariant, which keeps fluxes through facets: H(div)).
enum class Map : std::uint8_t { identity, covariant_piola, contravariant_piola };

/// An element in the sense of Ciarlet: polynomials on a reference cell and functionals, their degrees of freedom, which
/// the basis functions are dual to. Basix holds elements so, too (Scroggs, Baratta, Richardson, Wells, J. Open Source
/// Softw. 7 (2022) 3982, doi:10.21105/joss.03982). That includes families with vectors as values, without continuity
/// (all dofs are those of the interior), and with bubbles.
struct ElementDefinition {
  Family family = Family::custom;
  Shape shape = Shape::point;
  int degree = 0;               ///< least degree of the polynomials (num_basis_functions) that hold all functions
  std::vector<int> value_shape; ///< extents of the values; empty: they are scalars
  Map map = Map::identity;
  /// Functions that span the space, in the orthonormal basis of the degree, shape (function, value component,
  /// orthonormal function). Empty: all polynomials of the degree, in each component.
  std::vector<double> span;
  /// Dofs, as functionals of functions on the reference cell. Those of a shared entity see the trace that neighbours
  /// agree on, in the frame of the entity's vertices as entity_vertices lists them: a flux goes through a facet in the
  /// direction that this frame defines, not outwards.
  Functionals functionals;
  std::vector<std::vector<std::vector<int>>> entity_dofs; ///< dofs in the interior of [dimension][entity]
  /// Transforms of [shape of entity, from point to quadrilateral][orientation code], for the shapes of shared entities
  /// that have dofs.
  std::array<std::vector<EntityTransform>, 4> transforms;

  int value_size() const; ///< number of value components, 1 for scalars
};
inline auto members(const ElementDefinition& value) {
  const auto& [family, shape, degree, value_shape, map, span, functionals, entity_dofs, transforms] = value;
  return std::tie(family, shape, degree, value_shape, map, span, functionals, entity_dofs, transforms);
}

/// Throws InternalError where parts of a definition do not fit: there are as many functions as functionals, whose terms
/// are in range; each dof belongs to one entity; entities with dofs have a transform for every orientation code, the
/// first one being the identity; and Piola maps are for values with a component along each axis.
void verify(const ElementDefinition& definition);

} // namespace rafter::element
