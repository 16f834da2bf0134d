// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <numeric>
#include <span>
#include <vector>

/// Small dense linear algebra for set-up; matrices are row-major.
namespace rafter::element {

/// Inner product of vectors of the same size.
inline double dot(std::span<const double> x, std::span<const double> y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

std::vector<double> identity(int size);

/// Product of matrices of shapes (rows, inner) and (inner, cols). Every entry is summed in the order of `inner`, so
/// that results are the same on all machines.
std::vector<double> multiplied(std::span<const double> left, std::span<const double> right, int inner);

/// Transpose of a matrix with `cols` columns.
std::vector<double> transposed(std::span<const double> matrix, int cols);

// The functions below are for square matrices.

/// Inverse by Gauss-Jordan elimination with partial pivoting, O(n^3). Throws InternalError for a singular matrix.
std::vector<double> inverse(std::vector<double> matrix, int size);

/// Largest singular value, by power iteration on A^T A, accurate to about one per cent.
double spectral_norm(std::span<const double> matrix, int size);

} // namespace rafter::element
