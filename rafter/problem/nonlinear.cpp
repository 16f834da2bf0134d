// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/nonlinear.hpp>

#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/generate/form_compiler.hpp>
#include <rafter/problem/first_state.hpp>
#include <rafter/problem/unknowns.hpp>
#include <rafter/solve/residual_problem.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {

NonlinearResult solve_nonlinear(const form::Form& F, const std::vector<form::Expr>& unknowns,
                                const NonlinearOptions& options) {
  auto [system, names] = system_of_unknowns(unknowns, "solve_nonlinear");
  auto discretisation = options.discretisation;
  discretisation.shared_device = op::device_of(discretisation, *system.discretisation);
  op::warn_of_left_out(*system.mesh, F);
  const auto residual = op::build(F, 1, system, discretisation);
  std::shared_ptr<op::GeneratedForm> energy;
  std::vector built{residual};
  if (options.energy) built.push_back(energy = op::build(*options.energy, 0, system, discretisation));
  op::compile(built);
  auto tangent = std::make_shared<op::Operator>(derivative(F, unknowns), system, discretisation);
  solvers::ResidualProblem equations(residual, tangent, std::move(names), energy);
  for (const auto& [name, values] : options.data) equations.set(name, *values);
  for (const auto& [name, value] : options.parameters) equations.set(name, value);
  op::Vector u = tangent->make_vector();
  set_initial(options.initial, u);
  auto own = options.newton;
  complete(own.solver, tangent, options.multigrid);
  if (options.multigrid) own.solver.hierarchy = make_hierarchy(*tangent, *options.multigrid);
  auto problem = stated(own.solver, tangent->system());
  own.solver.method = problem.solver.method;
  if (problem.is_checked) {
    choose_small(problem, *tangent);
    own.solver.method = choose_for_residual(problem, equations, *tangent, u).method;
  }
  auto info = solvers::newton(equations, u, own);
  return {std::move(u), std::move(info), own.solver.method};
}

} // namespace rafter::problem
