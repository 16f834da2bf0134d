// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/in_time.hpp>

#include <rafter/form/theta_scheme.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/form_compiler.hpp>
#include <rafter/operator/generate/kernel_options.hpp>
#include <rafter/problem/first_state.hpp>
#include <rafter/problem/unknowns.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {

TimeResult solve_in_time(const form::Form& F, const std::vector<form::Expr>& unknowns, const TimeOptions& options) {
  const solvers::TimeGrid grid(options.start, options.end, options.step, options.theta);
  auto [system, names] = system_of_unknowns(unknowns, "solve_in_time");
  std::vector<std::string> known;
  for (const auto& given : options.data) known.push_back(given.name);
  auto forms = form::make_theta_forms(F, unknowns, known, options.theta);
  form::require_theta(forms, options.theta);
  const auto device = op::device_of(options.discretisation, *system.discretisation);
  const auto kernels = op::kernel_options(options.discretisation, device);
  op::warn_of_left_out(*system.mesh, F);
  const std::vector built{op::build_form(forms.tangent, system, op::Purpose::action, kernels),
                          op::build_form(forms.load, system, op::Purpose::action, kernels)};
  op::compile(built);
  auto tangent = std::make_shared<op::Operator>(built[0], options.discretisation.dirichlet);
  auto own = options.solvers;
  complete(own.solver, tangent, options.multigrid);
  auto problem = stated(own.solver, tangent->system());
  problem.is_in_time = true;
  problem.is_iterated = problem.is_iterated || options.multigrid;
  solvers::ThetaStepper stepper(std::move(forms), std::move(names), tangent, built[1], std::move(own));
  for (const auto& [name, values] : options.data) stepper.set_data(name, *values);
  for (const auto& [name, value] : options.parameters) stepper.set_parameter(name, value);
  op::Vector u = tangent->make_vector();
  const solvers::VectorOps ops(tangent->device());
  set_initial(options.initial, u);
  if (options.multigrid) {
    stepper.bind(grid.step(1), u); // boundary values of the operator need the time
    stepper.use_hierarchy(make_hierarchy(*tangent, *options.multigrid, {}, [&](const auto& spaces) {
      return form::theta_tangent_on(F, unknowns, known, options.theta, spaces);
    }));
  }
  TimeResult result{
      .solution = tangent->make_vector(), .time = options.start, .steps = {}, .method = problem.solver.method};
  std::function<solvers::ConstrainedNullSpace()> null_space;
  if (!options.null_space.empty())
    null_space = [&] { return solvers::make_null_space(*tangent, options.null_space, options.discretisation); };
  if (problem.is_checked) {
    choose_small(problem, *tangent);
    result.method = choose_for_steps(problem, stepper, *tangent, grid.step(1), u, null_space, {}).method;
    stepper.use_method(result.method);
  }
  ops.copy(u, result.solution);
  result.steps.push_back(stepper.project(options.start, u));
  for (std::int64_t number = 0; result.is_converged(); ++number) {
    ops.copy(u, result.solution); // a step that fails leaves no state of any time
    result.time = grid.time(number);
    if (options.monitor) options.monitor(result.time, result.solution);
    if (number == grid.num_steps()) break;
    result.steps.push_back(stepper.advance(grid.step(number + 1), u));
  }
  return result;
}

} // namespace rafter::problem
