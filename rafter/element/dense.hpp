// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <vector>

/// Small dense linear algebra for set-up; matrices are square, row-major.
namespace rafter::element {

std::vector<double> identity(int size);

/// Inverse by Gauss-Jordan elimination with partial pivoting, O(n^3). Throws InternalError for a singular matrix.
std::vector<double> inverse(std::vector<double> matrix, int size);

std::vector<double> transposed(std::span<const double> matrix, int size);

/// Largest singular value by power iteration on A^T A, to about one per cent.
double spectral_norm(std::span<const double> matrix, int size);

} // namespace rafter::element
