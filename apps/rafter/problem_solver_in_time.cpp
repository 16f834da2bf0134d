// SPDX-License-Identifier: BSD-3-Clause
// This file has the parts of PreparedProblem for problems with [time].
#include <algorithm>

#include <rafter/io/unused_keys.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/problem/conditioning.hpp>

#include "interrupt.hpp"
#include "problem_solver.hpp"

namespace rafter::app {

void PreparedProblem::make_stepper(form::ThetaForms forms, const std::shared_ptr<const op::GeneratedForm>& load) {
  const auto& time = *problem_.time;
  solvers::TimeSolverOptions options{.solver = problem_.solver, .newton = problem_.newton};
  options.solver.near_null_space = near_null_space();
  options.solver.control.field_offsets = problem::field_offsets(system_);
  options.solver.control.monitor = options.newton.monitor = [](int, double) { return !is_interrupted(); };
  stepper_ = std::make_unique<solvers::ThetaStepper>(std::move(forms), field_names(problem_), operator_, load,
                                                     std::move(options));
  if (stepper_->is_linear())
    io::warn_unused(problem_, "newton", problem_.forms.main_key() + " is linear in the fields");
  data_->bind(stepper_->load(), load->form); // the tangent already has them
  start_ = find_start();
  if (saved_time_ && saved_time_->lag && stepper_->has_intermediates()) {
    solvers::IntermediateValues intermediate{operator_->make_vector(), *saved_time_->lag};
    std::ranges::copy(saved_intermediate_, intermediate.values.host_overwrite().begin());
    stepper_->set_intermediate(std::move(intermediate));
  }
  stepper_->set_boundary_values = [this](double t) { set_time(t); };
  const double begin = saved_time_ ? saved_time_->time : time.start;
  const solvers::TimeStep first{.begin = begin, .end = begin + time.step, .length = time.step, .theta = time.theta};
  stepper_->bind(first, starting_state());
}

void PreparedProblem::set_time(double time) const {
  forms_->set_time(time);
  if (is_boundary_in_time_) operator_->set_boundary_values(make_conditions());
}

} // namespace rafter::app
