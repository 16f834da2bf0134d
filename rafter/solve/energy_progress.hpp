// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

namespace rafter::solvers {

/// Says whether conjugate gradients still reduce what they minimise, the energy norm |x - x_k|_A of the error. Norms of
/// the residual say little: they may stay above their first value for most of a solve.
///
/// A step reduces the square of the energy norm by alpha r.z (Hestenes and Stiefel 1952, doi:10.6028/jres.049.044), so
/// the sum over a window of steps is the error before it but for what is left behind (Strakos and Tichy 2002, ETNA 13,
/// 56-80). Over 2 sqrt(kappa) ln(2 / rtol) steps the error falls by more than rtol for an operator of condition number
/// kappa, wherever the window begins. Two windows in a row that reduce the energy by about as much contradict that:
/// then rounding errors, or a system without a solution, hold the solve up.
class EnergyProgress {
public:
  /// `rtol` is the reduction that the solve asks for. `window` is a number of steps; 0: it follows from the condition
  /// number, which is estimated from the coefficients of the iteration.
  EnergyProgress(double rtol, int window) : rtol_(rtol), window_(window) {}

  /// Records a step x += alpha p along p = z + beta p, with the product r.z before the step.
  void record(double alpha, double beta, double rz);
  /// Returns true when the window that ends with the last step reduced the energy by more than half of what the one
  /// before did.
  bool is_stagnant();
  /// Number of steps of the window that was examined last.
  int window() const { return length_; }
  /// Ratio of the largest to the smallest eigenvalue of the preconditioned operator on the Krylov space so far, which
  /// is a lower bound of its condition number.
  double condition() const;

private:
  int window_length() const;
  double rtol_;
  int window_, length_ = 0, num_steps_ = 0;
  int next_look_ = 100; ///< number of steps of the present window at which it is worth estimating the condition number
  /// Reduction of the energy in the present window and in the one before; -1: there was none.
  double gain_ = 0, previous_gain_ = -1;
  std::vector<double> diagonal_, off_diagonal_; ///< Lanczos matrix of the iteration
  double last_alpha_ = 0;
};

} // namespace rafter::solvers
