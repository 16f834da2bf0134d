// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// Bookkeeping that the Krylov methods share: history, tolerance, and the failures that residual norms alone show.
/// Throws InputError when the control is out of range.
class Progress {
public:
  Progress(IterationControl control, std::int64_t size);

  /// Norm of the first residual and the norm that residuals are relative to (usually the same).
  void start(double norm, double reference);
  /// Norm below which the solve is done.
  double target() const { return target_; }
  int iterations() const { return static_cast<int>(result_.history.size()) - 1; }

  /// Records the norm after an iteration and tells the monitor.
  void record(double norm);
  /// An ended solve if the history shows a failure, the monitor asked to stop, or the iterations are used up. Ask for
  /// convergence first.
  std::optional<Result> check();

  Result converged();
  Result not_converged();
  Result failed(Failure failure, std::string message);

private:
  Result finish(Status status);
  bool is_stagnant() const;
  IterationControl control_;
  int window_;
  double reference_ = 1, target_ = 0;
  std::vector<double> best_; ///< lowest relative residual so far, shape as history
  bool is_stop_asked_ = false;
  std::chrono::steady_clock::time_point begin_;
  Result result_;
};

} // namespace rafter::solvers
