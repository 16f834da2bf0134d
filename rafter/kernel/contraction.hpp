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
  slice_wise     ///< it is as per_derivative, but what slots have in common is contracted once, and the last axis comes
                 ///< first, so that arrays between contractions hold a layer of points
};
constexpr Contraction last_contraction = Contraction::slice_wise;
std::string_view name(Contraction contraction);
inline bool has_dense_products(Contraction contraction) {
  return contraction == Contraction::dense || contraction == Contraction::modal;
}

} // namespace rafter::kernel
