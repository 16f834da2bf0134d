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

/// The folding of a set of points, shape (point, axis) of `points`; nothing when a reflection moves some point to where
/// there is none, and for shapes without reflections.
std::optional<Folding> make_folding(element::Shape shape, std::span<const double> points);

/// Orthonormal polynomials of a shape up to a degree, ordered by sector: each reflection of the cell keeps a mode or
/// reverses its sign, and the sector is the set of reflections that reverse it.
struct ModalBasis {
  element::Shape shape = element::Shape::tetrahedron;
  int degree = 0;
  std::vector<unsigned> sectors;    ///< one per mode, ascending
  std::vector<double> coefficients; ///< shape (mode, function of element::tabulate_orthonormal)
  int size() const { return static_cast<int>(sectors.size()); }
};
ModalBasis make_modal_basis(element::Shape shape, int degree);

/// Degree of the modes whose products integrate exactly what the rule of `input` integrates exactly. There is one for
/// bilinear forms on affine simplices whose coefficients are constant on each cell; nothing for all else.
std::optional<int> modal_degree(const ProgramInput& input);

/// Integrals over the reference cell of mode m times slot s (value: -1, or derivative along direction s of the
/// reflection frame) of basis function i, shape (slot, mode, dof).
ReferenceMatrix modal_table(const ModalBasis& modes, const element::Element& element, std::span<const int> slots);

/// The linear map `matrix`, shape (slot, point or mode, dof), between folded arrays: it takes dofs folded by `columns`
/// to points folded by `rows` (null for modes, which need no folding), so that unfolding its result gives matrix times
/// unfolded dofs. `row_sectors` holds the sector of each point or mode, `parities` the reflections under which each
/// slot changes sign. The blocks of the result hold all its entries that are not 0.
ReferenceMatrix folded(const ReferenceMatrix& matrix, std::span<const unsigned> parities,
                       std::span<const unsigned> row_sectors, const Folding* rows, const Folding& columns);

} // namespace rafter::kernel
