// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>

namespace rafter::kernel {

/// The reference matrices are applied in one of these ways.
enum class Contraction : std::uint8_t {
  dense,          ///< stacked tables of values and derivatives, as dense products
  modal,          ///< dense products with orthonormal polynomials instead of points, for affine simplices with constant
                  ///< coefficients
  per_derivative, ///< sum factorisation with one chain of 1D contractions per slot
  collocated, ///< sum factorisation that interpolates once and differentiates in the points with the square 1D matrix
  separable, ///< integrals along each axis as 1D matrices, for tensor cells with coefficients that are constant on each
  pointwise, ///< cell matrices alone: sums over points and pairs of functions, by their physical derivatives
  cell_matrices, ///< no reference matrices: products with the matrix of each cell, which set-up stores
  slice_wise ///< per derivative, but what slots have in common is contracted once; from the last axis on and back, so
             ///< that what lies between needs no more than the points of a layer
};
constexpr Contraction last_contraction = Contraction::slice_wise;
std::string_view name(Contraction contraction);
inline bool has_dense_products(Contraction contraction) {
  return contraction == Contraction::dense || contraction == Contraction::modal;
}

} // namespace rafter::kernel
