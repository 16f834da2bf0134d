// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/progress.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {

std::string_view name(Status status) {
  switch (status) {
  case Status::converged:
    return "converged";
  case Status::not_converged:
    return "not converged";
  case Status::failed:
    return "failed";
  }
  throw base::InternalError("solver status out of range");
}

std::string_view name(Failure failure) {
  switch (failure) {
  case Failure::none:
    return "none";
  case Failure::non_finite:
    return "non-finite numbers";
  case Failure::diverged:
    return "divergence";
  case Failure::stagnated:
    return "stagnation";
  case Failure::indefinite_operator:
    return "indefinite operator";
  case Failure::indefinite_preconditioner:
    return "indefinite preconditioner";
  case Failure::singular_operator:
    return "singular operator";
  case Failure::breakdown:
    return "breakdown";
  case Failure::stopped:
    return "stopped";
  }
  throw base::InternalError("solver failure out of range");
}

std::string_view name(Norm norm) { return norm == Norm::residual ? "residual" : "preconditioned"; }

namespace {

void require_valid(const IterationControl& control) {
  if (!(control.rtol >= 0 && control.rtol < 1))
    throw base::InputError(fmt::format("solver: rtol = {} is not in [0, 1)", control.rtol));
  if (!(control.atol >= 0 && std::isfinite(control.atol)))
    throw base::InputError(fmt::format("solver: atol = {} is not a finite number >= 0", control.atol));
  if (control.iteration_limit() < 0)
    throw base::InputError(fmt::format("solver: max_iterations = {} is negative", control.iteration_limit()));
  if (!(control.divergence_factor > 1))
    throw base::InputError(fmt::format("solver: divergence_factor = {} is not above 1", control.divergence_factor));
  if (control.stagnation_window < 0)
    throw base::InputError(fmt::format("solver: stagnation_window = {} is negative", control.stagnation_window));
}

/// Number of iterations that a plateau must have. In exact arithmetic a Krylov method ends within `size` iterations, so
/// a plateau of twice that comes from rounding.
int automatic_window(std::int64_t size) { return static_cast<int>(std::clamp<std::int64_t>(2 * size, 100, 1000)); }

} // namespace

Progress::Progress(IterationControl control, std::int64_t size, std::shared_ptr<const comm::Communicator> communicator)
    : control_(std::move(control)),
      window_(control_.stagnation_window > 0 ? control_.stagnation_window : automatic_window(size)),
      communicator_(std::move(communicator)), begin_(std::chrono::steady_clock::now()) {
  require_valid(control_);
  has_monitor_ = is_so_anywhere(control_.monitor != nullptr);
}

bool Progress::is_so_anywhere(bool here) const {
  double result = here ? 1 : 0;
  communicator_->max(std::span(&result, 1));
  return result > 0;
}

void Progress::start(double norm, double reference, double norm_2) {
  first_ = reference > 0 ? reference : 1;
  inflation_ = norm_2 > 0 ? norm / norm_2 : 1;
  is_preconditioned_ = control_.norm == Norm::preconditioned && norm_2 > 0;
  set_reference(first_);
  norms_ = {norm};
  best_ = norms_;
  if (!result_.first_norms) result_.first_norms = Norms{.residual = norm_2, .preconditioned = std::nullopt};
}

void Progress::set_reference(double reference) {
  const double least = is_preconditioned_ ? control_.least_preconditioned_reference : 0;
  reference_ = std::max({reference, inflation_ * control_.least_reference, least});
  target_ = std::max(control_.rtol * reference_, control_.atol);
}

void Progress::update_reference(const device::Vector& x) {
  if (!control_.reference) return;
  const double found = inflation_ * control_.reference(x);
  set_reference(found > 0 && found < first_ ? found : first_);
}

void Progress::record(double norm) {
  norms_.push_back(norm);
  best_.push_back(norm < best_.back() ? norm : best_.back());
  if (!has_monitor_) return;
  const bool is_stop_asked = control_.monitor && !control_.monitor(iterations(), norm / reference_);
  if (is_so_anywhere(is_stop_asked)) is_stop_asked_ = true;
}

void Progress::correct(double norm) { norms_.back() = norm; }

bool Progress::is_ending() const {
  const double norm = norms_.back();
  return is_stop_asked_ || iterations() >= control_.iteration_limit() || !std::isfinite(norm) ||
         norm > control_.divergence_factor * first_;
}

std::optional<Result> Progress::check() {
  const double norm = norms_.back();
  if (!std::isfinite(norm)) return failed(Failure::non_finite, "the residual is no longer a finite number");
  if (is_stop_asked_)
    return failed(Failure::stopped, fmt::format("stopped on request after {} iterations", iterations()));
  if (norm > control_.divergence_factor * first_)
    return failed(Failure::diverged, fmt::format("the residual grew to {:.1e} times its first value", norm / first_));
  if (iterations() >= control_.iteration_limit()) return not_converged();
  return std::nullopt;
}

bool Progress::is_plateau() const {
  const auto now = best_.size() - 1, window = static_cast<std::size_t>(window_);
  return may_give_up() && now >= window && best_[now] > 0.9 * best_[now - window];
}

std::optional<Result> Progress::check_plateau() {
  if (!is_plateau()) return std::nullopt;
  return failed(Failure::stagnated,
                fmt::format("no progress in the last {} iterations: the relative residual stays at {:.2e}", window_,
                            best_.back() / reference_));
}

Result Progress::finish(Status status) {
  result_.status = status;
  result_.iterations = std::max(iterations(), 0);
  for (const double norm : norms_) result_.history.push_back(norm / reference_);
  result_.relative_residual = result_.history.empty() ? 0 : result_.history.back();
  result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  return std::move(result_);
}

Result Progress::converged(std::string warning) {
  if ((!norms_.empty() && !std::isfinite(norms_.back())) || !std::isfinite(target_))
    return failed(Failure::non_finite, "the residual, or the norm that it is relative to, is no finite number");
  result_.warning = std::move(warning);
  return finish(Status::converged);
}

Result Progress::not_converged() {
  result_.message =
      fmt::format("{} iterations (max_iterations) do not reach the tolerance of {:.2e}: the residual that "
                  "the iteration updates is {:.2e}",
                  iterations(), target_ / reference_, norms_.back() / reference_);
  return finish(Status::not_converged);
}

Result Progress::failed(Failure failure, std::string message) {
  result_.failure = failure;
  result_.message = std::string(name(failure)) + ": " + std::move(message);
  return finish(Status::failed);
}

} // namespace rafter::solvers
