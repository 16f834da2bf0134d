// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/tridiagonal.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::solvers {
namespace {

/// Returns the number of eigenvalues below `value` (Sturm sequence).
int count_below(std::span<const double> diagonal, std::span<const double> off_diagonal, double value) {
  int count = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double coupling = i == 0 ? 0 : off_diagonal[i - 1] * off_diagonal[i - 1];
    pivot = diagonal[i] - value - (i == 0 ? 0 : coupling / pivot);
    if (pivot == 0) pivot = 1e-300;
    if (pivot < 0) ++count;
  }
  return count;
}

} // namespace

double tridiagonal_eigenvalue(std::span<const double> diagonal, std::span<const double> off_diagonal, int rank) {
  double low = diagonal[0], high = diagonal[0];
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double radius =
        (i > 0 ? std::abs(off_diagonal[i - 1]) : 0) + (i + 1 < diagonal.size() ? std::abs(off_diagonal[i]) : 0);
    low = std::min(low, diagonal[i] - radius);
    high = std::max(high, diagonal[i] + radius);
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (count_below(diagonal, off_diagonal, middle) > rank ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

} // namespace rafter::solvers
