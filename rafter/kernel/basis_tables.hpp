// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <rafter/kernel/folding.hpp>
#include <rafter/kernel/tensor_program.hpp>

namespace rafter::kernel {

/// One tabulated quantity of a basis: the value (-1) or the reference derivative along a direction (0, 1, 2); for
/// products of two basis functions (diagonals, cell matrices), one such number for each.
struct BasisSlot {
  int first = -1, second = -2; ///< second is -2 where one function is tabulated, not a product of two
  auto operator<=>(const BasisSlot&) const = default;
};

/// Cache of dense tables, so that programs with the same rule and elements tabulate each basis once.
class DenseTables {
public:
  struct Key {
    const element::Element* element;
    std::vector<BasisSlot> slots;
    int modal_degree; ///< degree of the modes that stand in place of points; -1: points
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::vector<ReferenceMatrix>> tables;               ///< one for each facet, or for the cell
  std::map<std::pair<element::Shape, int>, ModalBasis> modal_bases; ///< orthonormal modes by shape and degree
};

/// Quadrature points of a tensor program (or orthonormal modes in their place), and the tables of basis functions
/// there.
class BasisTables {
public:
  explicit BasisTables(const ProgramInput& input);

  bool is_grid() const { return !lines_.empty(); } ///< the points form a grid, and tables are products of 1D ones
  /// The contraction that the tables serve, which is not always that of the input.
  Contraction contraction() const;
  /// Points and weights are in the order that TensorProgram documents.
  const std::vector<double>& points() const { return points_; }
  const std::vector<double>& weights() const { return weights_; }
  int num_facets() const; ///< facets that the points lie on; 1: they lie in the cell
  int num_points() const { return static_cast<int>(weights_.size()) / num_facets(); } ///< those of one facet
  /// The points of one facet, shape (point, tdim), and their weights.
  std::span<const double> points_of(int facet) const;
  std::span<const double> weights_of(int facet) const;

  // These members serve grids of points; their tables act along one axis.
  const std::vector<element::Rule1D>& lines() const { return lines_; } ///< the rule along each axis
  /// 1D factors of a basis slot, one per axis, shape (point, dof); for test functions multiplied by the weights and
  /// transposed, shape (dof, point).
  std::vector<ReferenceMatrix> factors(const element::Element& element, const BasisSlot& slot, bool is_test) const;
  /// D takes values in the points to derivatives there; its transposed counterpart is W^-1 D^T W with the diagonal
  /// matrix W of weights, because the QFunction leaves the weights out.
  ReferenceMatrix differentiation(int axis) const;
  ReferenceMatrix transposed_differentiation(int axis) const;
  /// Says whether derivatives are computed from interpolated values in the points.
  bool is_collocated(const element::Element& element) const;
  /// Says whether the points are the nodes of the element, along one axis or all, so that dofs are values in the
  /// points.
  bool is_nodal(const element::Element& element, int axis) const;
  bool is_nodal(const element::Element& element) const;

  // These members serve all other points; one dense table holds several slots.
  /// Dense tables, one for each facet, shape (slot, point or mode, dof). They take folded dofs to folded points (sums
  /// and differences of mirrored values, see Folding) if the reflections of the cell permit.
  const std::vector<ReferenceMatrix>& stacked(const element::Element& element, const std::vector<BasisSlot>& slots);
  /// The transposes of the stacked tables with the quadrature weights multiplied in, shape (dof, (slot, point or
  /// mode)).
  std::vector<ReferenceMatrix> stacked_transposed(const element::Element& element, const std::vector<BasisSlot>& slots);
  /// Says whether the dofs already are the values that `slots` asks for, because nodes and points of a dense program
  /// agree.
  bool are_dofs(const element::Element& element, const std::vector<BasisSlot>& slots);
  /// Folding of the dofs of an element (sums and differences of mirrored dofs); nothing when its tables are used as
  /// they are.
  std::optional<Folding> dof_folding(const element::Element& element) const;
  /// Folding of the values in the points. The points themselves are stored in its order.
  const std::optional<Folding>& point_folding() const { return point_folding_; }

private:
  void set_facet_points();
  void set_dense_points();
  const ModalBasis& modal_basis(int degree);
  ReferenceMatrix factor(const element::Element& element, const BasisSlot& slot, int axis) const;
  std::vector<ReferenceMatrix> make_stacked(const element::Element& element, const std::vector<BasisSlot>& slots) const;
  ReferenceMatrix point_table(const element::Element& element, const std::vector<BasisSlot>& slots, int facet) const;

  const ProgramInput& input_;
  int tdim_;
  std::vector<element::Rule1D> lines_; ///< the rule along each axis of a grid
  std::shared_ptr<DenseTables> tables_;
  std::vector<double> points_, weights_;
  std::optional<ModalBasis> modes_; ///< orthonormal modes in place of points, for modal contractions
  std::optional<Folding> point_folding_;
};

} // namespace rafter::kernel
