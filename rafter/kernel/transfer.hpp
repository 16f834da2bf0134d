// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

/// Transfers between a coarse and a fine space as tensor programs: interpolation of coarse fields in the nodes of fine
/// ones, and its transpose. There is no integrand.
namespace rafter::kernel {

/// A fine cell in a coarse one: the coarse cell itself, or one of its children.
struct ChildCell {
  std::shared_ptr<const element::Element> element;
  std::vector<double> nodes; ///< nodes of the element in the reference cell of the coarse cell, shape (dof, axis)
};

enum class TransferDirection : std::uint8_t {
  prolongation, ///< fine dofs = values of the coarse field
  restriction   ///< the transpose: coarse dofs = sum of fine dofs times the values of their basis functions there
};

/// Components of the mask of a field (EntityMask); 0: there is none.
struct TransferMasks {
  int coarse = 0;
  std::vector<int> children{}; ///< shape (child); empty: none has a mask
};

struct TransferInput {
  TransferDirection direction = TransferDirection::prolongation;
  int components = 1;
  std::shared_ptr<const element::Element> coarse;
  std::vector<ChildCell> children;
  TransferMasks masks;
};

/// Distinct nodes of the children of a cell in one array: those of the first child, then those of the second that are
/// no nodes of the first, and so on. On tensor cells they are a grid, first axis fastest.
struct ChildNodes {
  std::vector<std::vector<double>> grid; ///< coordinates along each axis, ascending; empty: the nodes are no grid
  std::vector<double> points;            ///< the nodes that are no grid, shape (node, axis)
  std::vector<std::vector<int>> places;  ///< node of each dof, shape (child)(dof); -1: an earlier child has this node
  bool is_grid() const { return !grid.empty(); }
};
/// Throws InternalError for children of a tensor cell whose nodes are no grid.
ChildNodes distinct_nodes(const TransferInput& input);

/// The program of one direction. The field of the coarse cell and those of its children are its inputs and outputs, in
/// this order, or the other way round. A node that several children have belongs to the first of them: the others have
/// no place for it (Access::places). On tensor cells the matrices are one-dimensional, applied axis by axis.
TensorProgram build_transfer(const TransferInput& input);

/// Values of the basis functions of the coarse element at points, shape (point, dof); those of one axis of a tensor
/// element, at coordinates along it, unless `axis` is -1. At nodes of the coarse element they are exactly 0 and 1.
ReferenceMatrix interpolation_matrix(const element::Element& coarse, std::span<const double> points, int axis);

} // namespace rafter::kernel
