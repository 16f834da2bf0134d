// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <rafter/kernel/folding.hpp>
#include <rafter/kernel/tensor_program.hpp>

namespace rafter::kernel {

/// A basis slot: the value (-1) or a reference derivative; of a pair, both.
struct BasisSlot {
  int first = -1, second = -2; ///< second -2: not a pair
  auto operator<=>(const BasisSlot&) const = default;
};

class DenseTables {
public:
  struct Key {
    const element::Element* element;
    std::vector<BasisSlot> slots;
    int modal_degree; ///< -1: points
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, ReferenceMatrix> tables;
  std::map<std::pair<element::Shape, int>, ModalBasis> modal_bases; ///< by degree
};

/// The points of a program, or modes in their place, and tables of basis functions there.
class BasisTables {
public:
  explicit BasisTables(const ProgramInput& input);

  bool is_tensor() const { return is_tensor_; } ///< points form a grid, tables are products of 1D ones
  const std::vector<int>& point_extents() const { return point_extents_; }
  /// Extents, points and weights in the order of TensorProgram.
  const std::vector<double>& points() const { return points_; }
  const std::vector<double>& weights() const { return weights_; }
  int num_points() const { return static_cast<int>(weights_.size()); }

  // Grids: tables along one axis.
  const std::vector<double>& points_1d() const { return input_.quadrature.points_1d; }
  const std::vector<double>& weights_1d() const { return input_.quadrature.weights_1d; }
  /// 1D factors of a basis slot, one per axis; of test functions weighed and transposed.
  std::vector<ReferenceMatrix> factors(const element::Element& element, const BasisSlot& slot, bool is_test) const;
  /// Derivatives in the points from values there, and W^-1 of its transpose W: weights leave the QFunction.
  ReferenceMatrix differentiation() const;
  ReferenceMatrix transposed_differentiation() const;
  /// Whether derivatives are taken in the points, from interpolated values.
  bool is_collocated(const element::Element& element) const;
  /// Whether the points are the nodes.
  bool is_nodal(const element::Element& element) const;

  // All others: one dense table for several slots.
  /// Slots of all points (or modes) one after the other, between folded dofs and points where both can be folded.
  const ReferenceMatrix& stacked(const element::Element& element, const std::vector<BasisSlot>& slots);
  /// The same weighed and transposed.
  ReferenceMatrix stacked_transposed(const element::Element& element, const std::vector<BasisSlot>& slots);
  /// Dofs of an element whose nodes are the points of a dense program are its values there.
  bool are_dofs(const element::Element& element, const std::vector<BasisSlot>& slots);
  /// How dofs of an element are folded; nothing when its tables are used as they are.
  std::optional<Folding> dof_folding(const element::Element& element) const;
  /// How values in the points are folded; places of points are their numbers.
  const std::optional<Folding>& point_folding() const { return point_folding_; }

private:
  void set_facet_points();
  void set_dense_points();
  const ModalBasis& modal_basis(int degree);
  ReferenceMatrix factor(const element::Element& element, const BasisSlot& slot, int axis) const;
  ReferenceMatrix make_stacked(const element::Element& element, const std::vector<BasisSlot>& slots) const;
  ReferenceMatrix point_table(const element::Element& element, const std::vector<BasisSlot>& slots) const;

  const ProgramInput& input_;
  bool is_tensor_;
  int tdim_;
  std::shared_ptr<DenseTables> tables_;
  std::vector<int> point_extents_;
  std::vector<double> points_, weights_;
  std::optional<ModalBasis> modes_; ///< instead of points
  std::optional<Folding> point_folding_;
};

} // namespace rafter::kernel
