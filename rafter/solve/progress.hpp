// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include <rafter/comm/communicator.hpp>
#include <rafter/solve/result.hpp>

namespace rafter::solvers {

/// Bookkeeping that the Krylov methods share: history, tolerance, and the failures that residual norms alone show.
/// Throws InputError when the control is out of range.
class Progress {
public:
  /// `communicator`: of the processes that iterate together. They stop together when the monitor of one asks to.
  Progress(IterationControl control, std::int64_t size,
           std::shared_ptr<const comm::Communicator> communicator = comm::single_process());

  /// Norm of the first residual, and the norm that residuals are relative to unless the control's reference is less
  /// (usually the same). `norm_2` is the 2-norm of the first residual, where `norm` is another one.
  void start(double norm, double reference, double norm_2);
  void start(double norm, double reference) { start(norm, reference, norm); }
  /// Norm below which the solve is done.
  double target() const { return target_; }
  double reference() const { return reference_; }
  /// Takes the control's reference norm at the iterate x, and the target that follows from it. An iteration that has
  /// reached its target asks again: while x still is far from the solution, the reference is that of another system.
  void update_reference(const device::Vector& x);
  int iterations() const { return static_cast<int>(norms_.size()) - 1; }
  const IterationControl& control() const { return control_; }

  /// Records the norm after an iteration and tells the monitor.
  void record(double norm);
  /// /// Puts a norm that is known better in the place of the last one that was recorded.
  void correct(double norm);
  /// check() would end the solve. Before it does, b - A x should be in the books, and the reference of that x.
  bool is_ending() const;
  /// An ended solve if the history shows a failure, the monitor asked to stop, or the iterations are used up. Ask for
  /// convergence first.
  std::optional<Result> check();
  /// A missing progress that is not proven may end the solve: nobody said how many iterations it may take, or somebody
  /// said how many without progress are enough.
  bool may_give_up() const { return !control_.max_iterations || control_.stagnation_window > 0; }
  /// /// For methods that minimise the norm which is recorded: it fell by less than a tenth over the window, and the
  /// solve may give up.
  bool is_plateau() const;
  /// An ended solve if is_plateau().
  std::optional<Result> check_plateau();

  Result converged(std::string warning = {});
  Result not_converged();
  Result failed(Failure failure, std::string message);

private:
  void set_reference(double reference);
  bool is_so_anywhere(bool here) const; ///< on one of the processes
  Result finish(Status status);
  IterationControl control_;
  int window_;
  double first_ = 1, reference_ = 1, target_ = 0;
  double inflation_ = 1;      ///< of the norm that is recorded over the 2-norm, in the first residual
  std::vector<double> norms_; ///< before the first and after each iteration
  std::vector<double> best_;  ///< lowest norm so far, shape as norms_
  std::shared_ptr<const comm::Communicator> communicator_;
  bool has_monitor_ = false; ///< one of the processes
  bool is_stop_asked_ = false;
  std::chrono::steady_clock::time_point begin_;
  Result result_;
};

} // namespace rafter::solvers
