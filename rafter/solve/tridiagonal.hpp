// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

namespace rafter::solvers {

/// Returns the eigenvalue with `rank` eigenvalues below it (0: the smallest) of the symmetric tridiagonal matrix with
/// these entries, by bisection with Sturm sequences in the Gershgorin interval, to an absolute accuracy of 2^-60 of the
/// interval's length. `diagonal` is not empty; of `off_diagonal` the first diagonal.size() - 1 entries are read.
double tridiagonal_eigenvalue(std::span<const double> diagonal, std::span<const double> off_diagonal, int rank);

} // namespace rafter::solvers
