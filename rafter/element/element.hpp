// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/element/cell.hpp>
#include <rafter/element/definition.hpp>
#include <rafter/element/table.hpp>

namespace rafter::element {

/// An element on one shape: functions on the reference cell that are dual to its degrees of freedom, which are
/// functionals (definition.hpp). Elements are immutable; make_element returns them.
class Element {
public:
  Family family() const { return definition_.family; }
  Shape shape() const { return definition_.shape; }
  int degree() const { return definition_.degree; } ///< the highest one where axes have degrees of their own
  int num_dofs() const { return definition_.functionals.count(); }

  /// Extents of the values of the functions; empty: they are scalars.
  std::span<const int> value_shape() const { return definition_.value_shape; }
  int value_size() const { return definition_.value_size(); } ///< number of value components, 1 for scalars
  /// How functions on the reference cell become functions on cells.
  Map map() const { return definition_.map; }

  /// Degrees of freedom as functionals of functions on the reference cell.
  const Functionals& functionals() const { return definition_.functionals; }
  /// Says whether each degree of freedom is the value at a node.
  bool is_nodal() const { return is_nodal_; }
  /// Nodes, shape (dof, dimension). Throws InternalError for elements that are not nodal. In Lagrange elements every
  /// edge has the Gauss-Lobatto-Legendre points of its degree; the nodes of a face are symmetric and the same for all
  /// cells that share it.
  std::span<const double> nodes() const;

  /// Says whether the basis functions are products phi_ijk(x) = l_i(x0) l_j(x1) l_k(x2) of functions along each axis of
  /// a tensor shape, with local degrees of freedom in lexicographic order, first axis fastest.
  bool has_tensor_factors() const;
  /// Numbers of degrees of freedom along each axis where there are tensor factors, whose product is num_dofs();
  /// elsewhere that alone.
  std::vector<int> extents() const;

  /// Local dofs in the interior of an entity, lexicographic in the frame that the entity's vertices define in the order
  /// of entity_vertices.
  std::span<const int> entity_dofs(int dim, int entity) const { return definition_.entity_dofs[dim][entity]; }

  /// Local dofs on the closure of an entity (its interior and all its boundary), ascending.
  std::vector<int> closure_dofs(int dim, int entity) const;

  /// What takes the interior dofs of a shared entity of this shape from its canonical frame to the one in which a cell
  /// sees it with this orientation code (orientation.hpp). Throws InternalError where the element has none.
  const EntityTransform& entity_transform(Shape entity, int orientation_code) const;
  /// The same for those who only handle permutations: permutation[k] is the canonical position of the k-th interior dof
  /// that the cell sees. Throws InternalError where dofs change their sign or mix.
  const std::vector<int>& entity_permutation(Shape entity, int orientation_code) const;

  /// Values and first derivatives of all basis functions at points of shape (point, dimension), on the reference cell.
  Table tabulate(std::span<const double> points) const;

  /// Factors of the basis functions along an axis at 1D points, as a table with dim = 1. Throws InternalError where
  /// there are no tensor factors.
  Table tabulate_1d(int axis, std::span<const double> points) const;

  /// 2-norm condition number of the matrix of the functionals of the functions that span the space; in Lagrange
  /// elements, of the Vandermonde matrix of the nodes in the orthonormal basis.
  double condition_number() const { return condition_number_; }

private:
  friend std::shared_ptr<const Element> make_element(ElementDefinition);
  friend std::shared_ptr<const Element> make_element(Family, Shape, int);
  friend std::shared_ptr<const Element> make_tensor_element(Shape, std::span<const int>);
  friend std::string content_of(const Element&);
  void set_definition(ElementDefinition definition);
  void set_basis();

  ElementDefinition definition_;
  bool is_nodal_ = true;
  std::vector<std::shared_ptr<const Element>> factors_; ///< elements of which this one is the product; else empty
  std::vector<int> product_index_;                      ///< position of each dof in the product of the factors
  /// Basis functions of elements that are no product, in the orthonormal basis, shape (value component, dof,
  /// orthonormal function).
  std::vector<double> coefficients_;
  double condition_number_ = 1;
};
/// Elements of the registry are known by family, shape and degrees, others by their definition (base/content.hpp).
std::string content_of(const Element& element);

inline constexpr int max_lagrange_degree = 12;

/// Returns an element of the registry, from a cache of the process. Throws InputError for a degree out of range.
std::shared_ptr<const Element> make_element(Family family, Shape shape, int degree);

/// Returns the element that a definition says. Throws InternalError where its parts do not fit, or where the
/// functionals are not independent on its functions.
std::shared_ptr<const Element> make_element(ElementDefinition definition);

/// Returns the Lagrange element on a tensor shape that has a degree along each axis. Kernels take it; function spaces
/// do not, since cells that share an entity would have to agree on its axes: it has no transforms, and the dofs of an
/// entity are ascending.
std::shared_ptr<const Element> make_tensor_element(Shape shape, std::span<const int> degrees);

} // namespace rafter::element
