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

/// Values and first reference derivatives of all basis functions: values[(d * num_points + point) * num_dofs + dof], d
/// = 0 the value, d = 1..dim the derivative along reference axis d-1.
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

/// A scalar nodal element on one shape. On tensor shapes local degrees of freedom are lexicographic (first axis
/// fastest) and factor: phi_ijk(x) = l_i(x0) l_j(x1) l_k(x2). Immutable; get one from make_element.
class Element {
public:
  Family family() const { return family_; }
  Shape shape() const { return shape_; }
  int degree() const { return degree_; }
  int num_dofs() const { return num_dofs_; }

  /// Nodes, shape (dof, dimension). Every edge carries the GLL points of its degree; nodes of a face are symmetric and
  /// the same for all cells that share the face.
  std::span<const double> nodes() const { return nodes_; }

  /// Local dofs in the interior of an entity, ordered lexicographically in the frame of the entity's vertices as
  /// entity_vertices lists them.
  std::span<const int> entity_dofs(int dim, int entity) const { return entity_dofs_[dim][entity]; }

  /// Local dofs on the closure of an entity (its interior and all its boundary), ascending.
  std::vector<int> closure_dofs(int dim, int entity) const;

  /// permutation[k] = canonical position of the dof that the cell sees as k-th interior dof of an entity of this shape
  /// with this orientation code (orientation.hpp).
  std::vector<int> entity_permutation(Shape entity, int orientation_code) const;

  /// points: shape (point, dimension).
  Table tabulate(std::span<const double> points) const;

  /// Tensor factors (tensor shapes only): 1D Lagrange functions at 1D points, dim = 1.
  Table tabulate_1d(std::span<const double> points) const;

  /// 2-norm condition number of the Vandermonde matrix of the nodes in the orthonormal basis.
  double condition_number() const { return condition_number_; }

private:
  friend std::shared_ptr<const Element> make_element(Family, Shape, int);
  Family family_ = Family::lagrange;
  Shape shape_ = Shape::point;
  int degree_ = 0, num_dofs_ = 0;
  std::vector<double> nodes_;
  std::vector<std::vector<std::vector<int>>> entity_dofs_;
  std::array<std::vector<std::vector<int>>, 4> entity_permutations_; ///< [point to quadrilateral][orientation code]
  std::vector<std::shared_ptr<const Element>> factors_; ///< elements of which this is the product; else empty
  std::vector<int> product_index_;                      ///< position of each dof in the product of the factors
  std::vector<double> coefficients_; ///< no product: inverse transposed Vandermonde, basis = coefficients * orthonormal
  double condition_number_ = 1;
};

inline constexpr int max_lagrange_degree = 12;

/// The element, from a process-wide cache. Throws InputError for a degree out of range.
std::shared_ptr<const Element> make_element(Family family, Shape shape, int degree);

} // namespace rafter::element
