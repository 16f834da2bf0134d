// SPDX-License-Identifier: BSD-3-Clause
// This file has the parts of PreparedProblem for problems in time.
#include <algorithm>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/problem/conditioning.hpp>
#include <rafter/problem/known_values.hpp>
#include <rafter/problem/prepared_problem.hpp>

namespace rafter::problem {

/// Reads the state of TimeInterval::restart, with the intermediate values of the fields that have some.
void PreparedProblem::read_saved_state() {
  const auto size = static_cast<std::size_t>(operator_->size());
  saved_state_.resize(size);
  saved_intermediate_.resize(size);
  std::vector<io::SavedField> fields;
  for (std::size_t f = 0; f < names().size(); ++f) {
    const auto& space = system().spaces[f];
    const auto entries = [&](std::vector<double>& of) {
      return std::span(of).subspan(static_cast<std::size_t>(system().offset(f)),
                                   static_cast<std::size_t>(space->num_local()));
    };
    const bool has_intermediate =
        stepper_->has_intermediates() && stepper_->roles()[f] != form::FieldRole::differential;
    fields.push_back({names()[f], space, entries(saved_state_),
                      has_intermediate ? entries(saved_intermediate_) : std::span<double>{}});
  }
  saved_time_ = located(problem_.statement.places.restart,
                        [&] { return io::read_state(problem_.time->restart, *system().mesh, fields); });
  if (!saved_time_->lag || !stepper_->has_intermediates()) return;
  solvers::IntermediateValues intermediate{operator_->make_vector(), *saved_time_->lag};
  std::ranges::copy(saved_intermediate_, intermediate.values.host_overwrite().begin());
  stepper_->set_intermediate(std::move(intermediate));
}

void PreparedProblem::make_stepper(const std::shared_ptr<const op::GeneratedForm>& load) {
  const auto& time = *problem_.time;
  solvers::TimeSolverOptions options{.solver = request().solver, .newton = problem_.newton};
  if (!options.solver.near_null_space) options.solver.near_null_space = near_null_space();
  options.solver.control.field_offsets = field_offsets(system());
  options.solver.control.monitor = progress_.stopping(options.solver.control.monitor);
  options.newton.monitor = progress_.stopping(options.newton.monitor);
  stepper_ = std::make_unique<solvers::ThetaStepper>(std::move(*equations_.steps), names(), operator_, load,
                                                     std::move(options));
  if (stepper_->is_linear() && problem_.statement.warn_unused)
    problem_.statement.warn_unused("newton", problem_.statement.form_name + " is linear in the fields");
  const auto is_of_load = [&](const std::string& name) { return solvers::has_field(load->form, name); };
  for (const auto& given : problem_.data)
    if (is_of_load(given.name) || solvers::has_field(operator_->form(), given.name))
      stepper_->set_data(given.name, *given.values);
  for (const auto& [name, value] : problem_.parameters)
    if (solvers::has_parameter(load->form, name) || solvers::has_parameter(operator_->form(), name) ||
        operator_->has_boundary_parameter(name))
      stepper_->set_parameter(name, value);
  if (saved_time_) read_saved_state();
  stepper_->set_boundary_values = [this](double t) { set_time(t); };
  const double begin = saved_time_ ? saved_time_->time : time.start;
  const solvers::TimeStep first{.begin = begin, .end = begin + time.step, .length = time.step, .theta = time.theta};
  stepper_->bind(first, starting_state());
}

void PreparedProblem::set_time(double time) const {
  if (problem_.set_time) problem_.set_time(time);
  if (problem_.conditions_now) operator_->set_boundary_values(problem_.conditions_now());
  if (postprocess_) postprocess_->set_time(time);
}

} // namespace rafter::problem
