// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/time_run.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/io/saved_state.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/problem/first_state.hpp>
#include <rafter/problem/preconditioning.hpp>
#include <rafter/problem/prepared_problem.hpp>
#include <rafter/solve/vector_ops.hpp>

namespace rafter::problem {
namespace {

class TimeRun {
public:
  TimeRun(const PreparedProblem& prepared, Phases& phases)
      : prepared_(prepared), problem_(prepared.problem()), stepper_(*prepared.stepper()), phases_(phases),
        state_(prepared.starting_state()), before_(prepared.operator_a().make_vector()) {}

  Solution run() {
    phases_.start("setup");
    const auto& time = *problem_.time;
    if (time.restart.empty())
      grid_ = solvers::TimeGrid(time.start, time.end, time.step, time.theta);
    else
      restore();
    first_ = number_;
    set_up();
    begin();
    phases_.start("solve");
    while (is_converged() && number_ < grid_->num_steps()) advance();
    Solution solution = finish();
    phases_.stop();
    return solution;
  }

private:
  bool is_converged() const { return last_.status == solvers::Status::converged; }

  /// Continues from the time where an earlier run ended. If the steps have the same length as there, their count goes
  /// on, so that times are those of one long run.
  void restore() {
    const auto& time = *problem_.time;
    const auto& saved = *prepared_.saved_time();
    if (!(time.end > saved.time))
      throw base::InputError(at(problem_.statement.places.end,
                                fmt::format("time.end: the state of {} is that of t = {:.6g}; accepted is a time after "
                                            "that, found {:.6g}",
                                            time.restart, saved.time, time.end)));
    const bool goes_on = saved.step == time.step;
    grid_ = solvers::TimeGrid(goes_on ? saved.start : saved.time, time.end, time.step, time.theta);
    number_ = goes_on ? saved.number : 0;
    // An end that differs from the time of the state by rounding alone leaves no step.
    if (number_ >= grid_->num_steps() || time.end - saved.time <= 1e-9 * time.step)
      throw base::InputError(at(problem_.statement.places.end,
                                fmt::format("time.end: the state of {} is that of t = {:.6g} already, but for "
                                            "rounding; accepted is a time after that, found {}",
                                            time.restart, saved.time, time.end)));
    if (goes_on && !prepared_.request().has_method && !saved.method.empty())
      method_ = located(problem_.statement.places.restart, [&] {
        return located(time.restart + ": the method of its linear systems is damaged",
                       [&] { return std::string(solvers::find_method(saved.method).name); });
      });
    if (stepper_.has_intermediates() && stepper_.intermediate() == nullptr)
      prepared_.progress().notify(fmt::format(
          "restart: {} holds no intermediate values of fields without dt(), so that the step from t = {:.6g} "
          "is like the first one of a run",
          time.restart, saved.time));
  }

  /// Checks the operator of the first step, and chooses a method that can solve it.
  void set_up() {
    std::function<solvers::ConstrainedNullSpace()> null_space;
    if (!problem_.null_space.empty()) null_space = [&] { return prepared_.make_null_space(); };
    const auto request = prepared_.request();
    if (request.is_whole)
      choice_ = choose_for_steps(request, stepper_, prepared_.operator_a(), grid_->step(first_ + 1), state_, null_space,
                                 [&](double time) { prepared_.set_time(time); });
    else
      choice_ = {request.solver.method, {}};
    if (!method_.empty()) choice_ = {method_, "as in the run before"};
    stepper_.use_method(choice_.method);
    stepper_.use_hierarchy(prepared_.make_hierarchy());
    prepared_.postprocess().require_numbers_at_nodes();
    prepared_.progress().notify(fmt::format("setup: {} steps of the theta scheme, theta = {}",
                                            grid_->num_steps() - first_, problem_.time->theta));
  }

  /// Makes the state at the first time consistent, unless it comes from an earlier run, and begins the output.
  void begin() {
    const double time = grid_->time(number_);
    keep_state();
    if (problem_.time->restart.empty()) {
      at_preconditioner(problem_.statement.places, [&] { last_ = stepper_.project(time, state_); });
      results_.push_back(last_);
      iterations_ += last_.iterations;
      if (!is_converged()) {
        take_back_state();
        last_.message = fmt::format("the state at the first time, t = {:.6g}: {}", time, last_.message);
        return;
      }
      removed_ = last_.removed;
      if (!last_.warning.empty())
        warning_ = fmt::format("the state at the first time, t = {:.6g}: {}", time, last_.warning);
    } else
      last_.status = solvers::Status::converged;
    if (problem_.monitor) problem_.monitor(time, state_);
    if (problem_.output.file.empty()) return;
    series_ = std::make_unique<io::VtkHdfSeries>(problem_.output.file, *prepared_.system().mesh,
                                                 output_fields(prepared_, state_), derived_fields(prepared_, state_),
                                                 io::VtkHdfOptions{.known = prepared_.known_fields()});
    write_state();
  }

  /// A step that fails leaves no state of any time, so that the one before it is kept.
  void keep_state() { solvers::VectorOps(state_.device()).copy(state_, before_); }
  void take_back_state() { solvers::VectorOps(state_.device()).copy(before_, state_); }

  void write_state() {
    const double time = grid_->time(number_);
    prepared_.set_time(time);
    series_->append(time, output_fields(prepared_, state_));
    written_ = number_;
  }

  /// Makes a step. If that fails, the state stays that before the step, and also if it throws for a value that does not
  /// exist at its end.
  void step_to(const solvers::TimeStep& step) {
    keep_state();
    try {
      last_ = stepper_.advance(step, state_);
    } catch (const base::InputError&) {
      take_back_state();
      if (series_ == nullptr || !problem_.output.on_failure) throw;
      write_before_failure();
      prepared_.progress().notify("written: " + problem_.output.file);
      throw;
    }
    results_.push_back(last_);
    if (!is_converged()) take_back_state();
  }

  /// Completes the output with the last state, from which another run may go on, in front of a step that failed.
  void write_before_failure() {
    if (written_ != number_) write_state();
    save();
    series_->commit();
  }

  void advance() {
    prepared_.progress().require_running();
    const auto step = grid_->step(number_ + 1);
    at_preconditioner(problem_.statement.places, [&] { step_to(step); });
    if (last_.failure == solvers::Failure::stopped) prepared_.progress().require_running();
    iterations_ += last_.iterations;
    removed_ = std::max(removed_, last_.removed);
    report_.push_back({.time = step.end,
                       .iterations = last_.iterations,
                       .newton_steps = last_.newton_steps,
                       .residual = last_.relative_residual});
    if (!is_converged()) {
      last_.message = fmt::format("step {} to t = {:.6g}: {}", number_ - first_ + 1, step.end, last_.message);
      return;
    }
    if (!last_.warning.empty() && warning_.empty())
      warning_ = fmt::format("step {} to t = {:.6g}: {}", number_ - first_ + 1, step.end, last_.warning);
    ++number_;
    if (problem_.monitor) problem_.monitor(grid_->time(number_), state_);
    if (series_ != nullptr && (number_ % problem_.output.every == 0 || number_ == grid_->num_steps())) write_state();
    report_progress();
  }

  /// A run prints ten lines at most.
  void report_progress() {
    const auto tenth = 10 * (number_ - first_) / (grid_->num_steps() - first_);
    if (tenth == reported_tenths_) return;
    reported_tenths_ = tenth;
    prepared_.progress().notify(
        fmt::format("step {} of {}: t = {:.6g}", number_ - first_, grid_->num_steps() - first_, grid_->time(number_)));
  }

  Solution finish() {
    phases_.stop();
    prepared_.set_time(grid_->time(number_));
    Solution solution = make_solution(prepared_, prepared_.operator_a().make_vector(), last_.status);
    solvers::VectorOps(state_.device()).copy(state_, solution.values);
    auto& report = solution.report;
    report.method = stepper_.is_linear() ? choice_.method : "newton with " + choice_.method;
    report.reason = choice_.reason;
    report.preconditioner_name = preconditioner_name(choice_.method, prepared_.request().solver.preconditioner);
    solution.time = grid_->time(number_);
    solution.steps = std::move(results_);
    solution.method = choice_.method;
    if (const auto* last = stepper_.preconditioner()) report.preconditioner = last->description();
    report.message = last_.message;
    report.warning = warning_;
    if (const auto removed = solvers::describe_removed(removed_); !removed.empty())
      report.warning += (report.warning.empty() ? "" : "; ") + removed;
    report.iterations = iterations_;
    for (const auto& step : report_) report.residual = std::max(report.residual, step.residual);
    report.time = report::TimeReport{.start = grid_->time(first_),
                                     .end = grid_->time(grid_->num_steps()),
                                     .step = problem_.time->step,
                                     .theta = problem_.time->theta,
                                     .steps = std::move(report_)};
    check_solution(prepared_, phases_, solution);
    phases_.start("output");
    prepared_.progress().require_running();
    solution.is_written = series_ != nullptr && (solution.is_converged || problem_.output.on_failure);
    if (!solution.is_written) return solution;
    if (solution.is_converged) {
      save();
      series_->commit();
    } else {
      write_before_failure();
      report.message += fmt::format("; {} ends with the state at t = {:.6g}, from which time.restart goes on, with a "
                                    "shorter time.step if need be",
                                    problem_.output.file, grid_->time(number_));
    }
    return solution;
  }

  /// Saves the state, from which another run may go on.
  void save() {
    const bool is_whole = number_ < grid_->num_steps() || grid_->ends_with_whole_step();
    const double time = grid_->time(number_);
    io::SavedTime saved{.time = time,
                        .start = is_whole ? grid_->time(0) : time,
                        .step = problem_.time->step,
                        .number = is_whole ? number_ : 0,
                        .method = choice_.method};
    std::vector<io::OutputField> intermediates;
    if (const auto* intermediate = stepper_.intermediate()) {
      saved.lag = intermediate->lag;
      const auto fields = output_fields(prepared_, intermediate->values);
      for (std::size_t f = 0; f < fields.size(); ++f)
        if (stepper_.roles()[f] != form::FieldRole::differential) intermediates.push_back(fields[f]);
    }
    io::write_state(series_->file(), *prepared_.system().mesh, saved, output_fields(prepared_, state_), intermediates);
  }

  const PreparedProblem& prepared_;
  const Problem& problem_;
  solvers::ThetaStepper& stepper_;
  Phases& phases_;
  std::optional<solvers::TimeGrid> grid_;
  op::Vector state_, before_; ///< present state, and the one before the last step
  std::unique_ptr<io::VtkHdfSeries> series_;
  MethodChoice choice_;
  std::string method_;               ///< method of the run that this one continues; "": it is chosen anew
  solvers::TimeStepResult last_;     ///< result of the last step, or of the projection of the first state
  std::int64_t number_ = 0;          ///< number of steps done, including those of earlier runs
  std::int64_t first_ = 0;           ///< number of steps done by earlier runs
  std::int64_t written_ = -1;        ///< number of steps done when a state was written last; -1: none is written
  std::int64_t reported_tenths_ = 0; ///< tenths of the run that have been announced
  int iterations_ = 0;
  double removed_ = 0;
  std::string warning_;
  std::vector<report::TimeStepReport> report_;
  std::vector<solvers::TimeStepResult> results_;
};

} // namespace

Solution solve_steps(const PreparedProblem& prepared, Phases& phases) { return TimeRun(prepared, phases).run(); }

} // namespace rafter::problem
