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

namespace {

void require_valid(const IterationControl& control) {
  if (!(control.rtol >= 0 && control.rtol < 1))
    throw base::InputError(fmt::format("solver: rtol = {} is not in [0, 1)", control.rtol));
  if (!(control.atol >= 0 && std::isfinite(control.atol)))
    throw base::InputError(fmt::format("solver: atol = {} is not a finite number >= 0", control.atol));
  if (control.max_iterations < 0)
    throw base::InputError(fmt::format("solver: max_iterations = {} is negative", control.max_iterations));
  if (!(control.divergence_factor > 1))
    throw base::InputError(fmt::format("solver: divergence_factor = {} is not above 1", control.divergence_factor));
  if (control.stagnation_window < 0)
    throw base::InputError(fmt::format("solver: stagnation_window = {} is negative", control.stagnation_window));
}

/// In exact arithmetic a Krylov method ends within `size` iterations, so a plateau of twice that is rounding.
int automatic_window(std::int64_t size) { return static_cast<int>(std::clamp<std::int64_t>(2 * size, 100, 1000)); }

} // namespace

Progress::Progress(IterationControl control, std::int64_t size)
    : control_(std::move(control)),
      window_(control_.stagnation_window > 0 ? control_.stagnation_window : automatic_window(size)),
      begin_(std::chrono::steady_clock::now()) {
  require_valid(control_);
}

void Progress::start(double norm, double reference) {
  reference_ = reference > 0 ? reference : 1;
  target_ = std::max(control_.rtol * reference_, control_.atol);
  result_.history = {norm / reference_};
  best_ = result_.history;
}

bool Progress::is_stagnant() const {
  const auto now = best_.size() - 1, window = static_cast<std::size_t>(window_);
  return now >= window && best_[now] > 0.9 * best_[now - window];
}

void Progress::record(double norm) {
  const double relative = norm / reference_;
  result_.history.push_back(relative);
  best_.push_back(relative < best_.back() ? relative : best_.back());
  if (control_.monitor && !control_.monitor(iterations(), relative)) is_stop_asked_ = true;
}

std::optional<Result> Progress::check() {
  const double relative = result_.history.back();
  if (!std::isfinite(relative)) return failed(Failure::non_finite, "the residual is no longer a finite number");
  if (is_stop_asked_)
    return failed(Failure::stopped, fmt::format("stopped on request after {} iterations", iterations()));
  if (relative > control_.divergence_factor)
    return failed(Failure::diverged, fmt::format("the residual grew to {:.1e} times its first value", relative));
  if (is_stagnant())
    return failed(Failure::stagnated,
                  fmt::format("no progress in the last {} iterations: the relative residual stays at {:.2e}", window_,
                              best_.back()));
  if (iterations() >= control_.max_iterations) return not_converged();
  return std::nullopt;
}

Result Progress::finish(Status status) {
  result_.status = status;
  result_.iterations = std::max(iterations(), 0);
  result_.relative_residual = result_.history.empty() ? 0 : result_.history.back();
  result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  return std::move(result_);
}

Result Progress::converged() { return finish(Status::converged); }

Result Progress::not_converged() {
  result_.message =
      fmt::format("the relative residual is {:.2e} after {} iterations (max_iterations); the tolerance is {:.2e}",
                  result_.history.back(), iterations(), target_ / reference_);
  return finish(Status::not_converged);
}

Result Progress::failed(Failure failure, std::string message) {
  result_.failure = failure;
  result_.message = std::string(name(failure)) + ": " + std::move(message);
  return finish(Status::failed);
}

} // namespace rafter::solvers
