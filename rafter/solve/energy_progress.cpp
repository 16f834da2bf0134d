// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/energy_progress.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <rafter/solve/tridiagonal.hpp>

namespace rafter::solvers {

void EnergyProgress::record(double alpha, double beta, double rz) {
  ++num_steps_;
  gain_ += alpha * rz;
  const bool is_first = diagonal_.empty();
  if (!is_first) off_diagonal_.push_back(std::sqrt(std::max(beta, 0.0)) / last_alpha_);
  diagonal_.push_back(1 / alpha + (is_first ? 0 : beta / last_alpha_));
  last_alpha_ = alpha;
}

double EnergyProgress::condition() const {
  if (diagonal_.empty()) return 1;
  const double smallest = tridiagonal_eigenvalue(diagonal_, off_diagonal_, 0);
  const double largest = tridiagonal_eigenvalue(diagonal_, off_diagonal_, static_cast<int>(diagonal_.size()) - 1);
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  return smallest > epsilon * largest ? largest / smallest : 1 / epsilon;
}

int EnergyProgress::window_length() const {
  if (window_ > 0) return window_;
  const double reduction = std::max(rtol_, std::numeric_limits<double>::epsilon());
  constexpr double fewest = 100, most = 1e9;
  return static_cast<int>(std::clamp(2 * std::sqrt(condition()) * std::log(2 / reduction), fewest, most));
}

bool EnergyProgress::is_stagnant() {
  if (num_steps_ < (window_ > 0 ? window_ : next_look_)) return false;
  length_ = window_length();
  if (num_steps_ < length_) {
    next_look_ = length_; // estimates of the condition number grow with the Krylov space, so that none before is of use
    return false;
  }
  const bool result = previous_gain_ >= 0 && gain_ > 0.5 * previous_gain_;
  previous_gain_ = gain_;
  gain_ = 0;
  num_steps_ = 0;
  return result;
}

} // namespace rafter::solvers
