// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/hessenberg.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rafter::solvers {

void Hessenberg::append(std::span<const double> column) {
  const auto k = columns_.size();
  std::vector<double> r(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  for (std::size_t i = 0; i < k; ++i) {
    const double upper = cosines_[i] * r[i] + sines_[i] * r[i + 1];
    r[i + 1] = cosines_[i] * r[i + 1] - sines_[i] * r[i];
    r[i] = upper;
  }
  const double length = std::hypot(r[k], column[k + 1]);
  cosines_.push_back(length > 0 ? r[k] / length : 1);
  sines_.push_back(length > 0 ? column[k + 1] / length : 0);
  r[k] = length;
  rhs_.push_back(-sines_[k] * rhs_[k]);
  rhs_[k] *= cosines_[k];
  columns_.push_back(std::move(r));
}

double Hessenberg::residual() const { return std::abs(rhs_.back()); }

std::vector<double> Hessenberg::solve() const {
  double largest = 0;
  for (std::size_t j = 0; j < columns_.size(); ++j) largest = std::max(largest, std::abs(columns_[j][j]));
  // Orthogonalisation leaves about this much of a column that depends on the others.
  const double negligible = 1000 * std::numeric_limits<double>::epsilon() * largest;
  std::size_t rank = 0;
  while (rank < columns_.size() && std::abs(columns_[rank][rank]) > negligible) ++rank;
  std::vector<double> y(columns_.size(), 0.0);
  for (std::size_t i = rank; i-- > 0;) {
    double sum = rhs_[i];
    for (std::size_t j = i + 1; j < rank; ++j) sum -= columns_[j][i] * y[j];
    y[i] = sum / columns_[i][i];
  }
  return y;
}

} // namespace rafter::solvers
