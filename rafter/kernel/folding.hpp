// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rafter/element/element.hpp>
#include <rafter/kernel/tensor_program.hpp>

/// Even-odd decomposition on shapes without 1D matrices: values at points that the reflections of a cell exchange are
/// replaced by their sums and differences. A table of functions that the reflections keep up to sign then falls apart
/// into one block per sector (set of reflections that change the sign).
namespace rafter::kernel {

/// The order and the orbits of points; nothing when a reflection moves a point to where there is none, and for shapes
/// without reflections.
std::optional<Folding> make_folding(element::Shape shape, std::span<const double> points);

/// Orthonormal polynomials of a shape up to a degree, each kept or reversed by every reflection, by ascending sector.
struct ModalBasis {
  element::Shape shape = element::Shape::tetrahedron;
  int degree = 0;
  std::vector<unsigned> sectors;    ///< of each mode
  std::vector<double> coefficients; ///< shape (mode, function of element::tabulate_orthonormal)
  int size() const { return static_cast<int>(sectors.size()); }
};
ModalBasis make_modal_basis(element::Shape shape, int degree);

/// Degree of the modes that integrate exactly what the rule of a program integrates exactly: bilinear functions on
/// affine simplices with coefficients that are constant on each cell. Nothing for all else.
std::optional<int> modal_degree(const ProgramInput& input);

/// Integrals of mode m times slot s (value: -1, or derivative along direction s of the reflection frame) of basis
/// function i over the reference cell, shape (slot, mode, dof).
ReferenceMatrix modal_table(const ModalBasis& modes, const element::Element& element, std::span<const int> slots);

/// The same linear map between folded arrays: rows of `slots` groups of points (folded by `rows`, or modes with their
/// sectors), columns folded by `columns`; matrix(folded) = unfold(matrix, fold). `parities`: of each slot. The blocks
/// of the result hold all its entries that are not 0.
ReferenceMatrix folded(const ReferenceMatrix& matrix, std::span<const unsigned> parities,
                       std::span<const unsigned> row_sectors, const Folding* rows, const Folding& columns);

} // namespace rafter::kernel
