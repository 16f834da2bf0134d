// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include <rafter/comm/communicator.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// Keeps what all Krylov methods keep: history, tolerance, and the failures that residual norms alone show. Throws
/// InputError when the control is out of range.
class Progress {
public:
  /// `communicator` is that of the processes that iterate together. All stop when the monitor of one asks to.
  Progress(IterationControl control, std::int64_t size,
           std::shared_ptr<const comm::Communicator> communicator = comm::single_process());

  /// Begins with the norm of the first residual, and with the norm that residuals are relative to unless the control's
  /// reference is less (both are usually the same). `norm_2` is the 2-norm of the first residual, where `norm` is
  /// another one.
  void start(double norm, double reference, double norm_2);
  void start(double norm, double reference) { start(norm, reference, norm); }
  /// Norm below which the solve is done.
  double target() const { return target_; }
  double reference() const { return reference_; }
  double first() const { return norms_.front(); } ///< norm before the first iteration
  /// Takes the control's reference norm at the iterate x, and the target that follows from it. An iteration that has
  /// reached its target must call this again: while x still is far from the solution, the reference is that of another
  /// system.
  void update_reference(const device::Vector& x);
  int iterations() const { return static_cast<int>(norms_.size()) - 1; }
  const IterationControl& control() const { return control_; }

  /// Records the norm after an iteration and calls the monitor.
  void record(double norm);
  /// Replaces the norm that was recorded last by one that is known better.
  void correct(double norm);
  /// Says whether check() would end the solve. Before it does, the norm of b - A x should be recorded, and the
  /// reference of that x taken.
  bool is_ending() const;
  /// Returns an ended solve if the history shows a failure, the monitor asked to stop, or the iterations are used up.
  /// Convergence must be checked before.
  std::optional<Result> check();
  /// Says whether a lack of progress that proves nothing may end the solve: either max_iterations was not given, or
  /// stagnation_window was.
  bool may_give_up() const { return !control_.max_iterations || control_.stagnation_window > 0; }
  /// Says whether the norm fell by less than a tenth over the window, and the solve may give up. It is for methods that
  /// minimise the norm that is recorded.
  bool is_plateau() const;
  /// Returns an ended solve if is_plateau().
  std::optional<Result> check_plateau();

  /// Fails instead where the residual or its target is no finite number, since nothing is known then.
  Result converged(std::string warning = {});
  Result not_converged();
  Result failed(Failure failure, std::string message);

private:
  void set_reference(double reference);
  bool is_so_anywhere(bool here) const; ///< says whether it is so on one of the processes
  Result finish(Status status);
  IterationControl control_;
  int window_;
  double first_ = 1, reference_ = 1, target_ = 0;
  bool is_preconditioned_ = false; ///< whether the norm that is recorded is Norm::preconditioned
  double inflation_ = 1;           ///< ratio of the norm that is recorded to the 2-norm, for the first residual
  std::vector<double> norms_;      ///< norms before the first and after each iteration
  std::vector<double> best_;       ///< lowest norm so far, in the shape of norms_
  std::shared_ptr<const comm::Communicator> communicator_;
  bool has_monitor_ = false; ///< one of the processes has a monitor
  bool is_stop_asked_ = false;
  std::chrono::steady_clock::time_point begin_;
  Result result_;
};

} // namespace rafter::solvers
