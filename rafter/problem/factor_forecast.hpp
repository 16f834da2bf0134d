// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/run/form_kernels.hpp>

namespace rafter::problem {

/// The forecast is what the factors of the matrix of a system are expected to take, before there is a matrix.
struct FactorForecast {
  double entries = 0; ///< entries of the factors
  double flops = 0;   ///< operations of the factorisation

  double bytes() const;   ///< memory of the factors with the work arrays of the factorisation
  double seconds() const; ///< time on one core
};

/// Runs nested dissection of the cells without numbers (George, SIAM J. Numer. Anal. 10 (1973) 345-363): cells are
/// halved along the longest extent of their centres again and again, and unknowns are eliminated with the first part
/// that has all of their cells. Every part is a dense front of the unknowns that it eliminates and of those that it
/// shares with the rest. All unknowns of a cell are taken to couple. It counts L D L^T where the matrix is symmetric,
/// else L U. Takes about as long as a few sorts of the unknowns of all cells.
FactorForecast forecast_factors(const op::System& system, bool is_symmetric);

} // namespace rafter::problem
