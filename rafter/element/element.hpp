// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <rafter/element/cell.hpp>

namespace rafter::element {

enum class Family : std::uint8_t { lagrange };

std::string_view name(Family family);
Family family_from_name(std::string_view name);

/// Values and first reference derivatives of all basis functions at some points: values[(d * num_points + point) *
/// num_dofs + dof], where d = 0 is the value and d = 1..dim the derivative along reference axis d-1.
struct Table {
  int dim = 0, num_points = 0, num_dofs = 0;
  std::vector<double> values;
  double operator()(int derivative, int point, int dof) const {
    return values[(static_cast<std::size_t>(derivative) * static_cast<std::size_t>(num_points) +
                   static_cast<std::size_t>(point)) *
                      static_cast<std::size_t>(num_dofs) +
                  static_cast<std::size_t>(dof)];
  }
};

/// A scalar nodal element on one shape. On tensor shapes the local degrees of freedom are lexicographic (first axis
/// fastest), and basis functions are products phi_ijk(x) = l_i(x0) l_j(x1) l_k(x2). Elements are immutable;
/// make_element returns them.
class Element {
public:
  Family family() const { return family_; }
  Shape shape() const { return shape_; }
  int degree() const { return degree_; } ///< the highest one where axes have degrees of their own
  int num_dofs() const { return num_dofs_; }
  /// Numbers of degrees of freedom along each axis on tensor shapes, whose product is num_dofs(); elsewhere that alone.
  std::vector<int> extents() const;

  /// Nodes, shape (dof, dimension). Every edge has the Gauss-Lobatto-Legendre points of its degree; the nodes of a face
  /// are symmetric and the same for all cells that share it.
  std::span<const double> nodes() const { return nodes_; }

  /// Local dofs in the interior of an entity, lexicographic in the frame that the entity's vertices define in the order
  /// of entity_vertices.
  std::span<const int> entity_dofs(int dim, int entity) const { return entity_dofs_[dim][entity]; }

  /// Local dofs on the closure of an entity (its interior and all its boundary), ascending.
  std::vector<int> closure_dofs(int dim, int entity) const;

  /// Order of the interior dofs of a shared entity: permutation[k] is the canonical position of the k-th interior dof
  /// that a cell sees on an entity of this shape with this orientation code (orientation.hpp).
  std::vector<int> entity_permutation(Shape entity, int orientation_code) const;

  /// Values and first derivatives of all basis functions at points of shape (point, dimension).
  Table tabulate(std::span<const double> points) const;

  /// 1D factors of the basis functions along an axis of tensor shapes: Lagrange functions at 1D points, as a table with
  /// dim = 1.
  Table tabulate_1d(int axis, std::span<const double> points) const;

  /// 2-norm condition number of the Vandermonde matrix of the nodes in the orthonormal basis.
  double condition_number() const { return condition_number_; }

private:
  friend std::shared_ptr<const Element> make_element(Family, Shape, int);
  friend std::shared_ptr<const Element> make_tensor_element(Shape, std::span<const int>);
  Family family_ = Family::lagrange;
  Shape shape_ = Shape::point;
  int degree_ = 0, num_dofs_ = 0;
  std::vector<double> nodes_;
  std::vector<std::vector<std::vector<int>>> entity_dofs_;
  /// Canonical positions of interior dofs for [shape of entity, from point to quadrilateral][orientation code].
  std::array<std::vector<std::vector<int>>, 4> entity_permutations_;
  std::vector<std::shared_ptr<const Element>> factors_; ///< elements of which this one is the product; else empty
  std::vector<int> product_index_;                      ///< position of each dof in the product of the factors
  std::vector<double> coefficients_; ///< inverse transposed Vandermonde matrix of elements that are no product: basis =
                                     ///< coefficients * orthonormal
  double condition_number_ = 1;
};
/// Elements are known by family, shape and degrees (base/content.hpp).
std::string content_of(const Element& element);

inline constexpr int max_lagrange_degree = 12;

/// Returns the element, from a cache of the process. Throws InputError for a degree out of range.
std::shared_ptr<const Element> make_element(Family family, Shape shape, int degree);

/// Returns the Lagrange element on a tensor shape that has a degree along each axis. Kernels take it; function spaces
/// do not, since cells that share an entity would have to agree on its axes: it has no permutations, and the dofs of an
/// entity are ascending.
std::shared_ptr<const Element> make_tensor_element(Shape shape, std::span<const int> degrees);

} // namespace rafter::element
