// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/open_preconditioner.hpp>

#include <fmt/format.h>
#include <rafter/mesh/mesh.hpp>
#include <rafter/problem/expected_work.hpp>
#include <rafter/problem/jacobi_forecast.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

/// Iterations of conjugate gradients with Jacobi.
double expected_iterations(const Problem& problem, const Equations& equations, const op::OperatorOptions& options) {
  // Nobody reads it of the tangents of nonlinear problems, whose coefficients are fields; a part of a mesh does not
  // show how far the whole one reaches.
  constexpr double usual = 100;
  const auto& form = equations.tangent;
  const bool is_read = problem.a.has_value() || form.fields.empty();
  if (!is_read || equations.system.mesh->distribution != nullptr) return usual;
  return expected_jacobi_iterations(form, equations.system, options.dirichlet, problem.parameters,
                                    problem.solver.control.rtol);
}

bool may_choose_multigrid(const Problem& problem, const Equations& equations) {
  const auto& choice = problem.preconditioner;
  const auto& system = equations.system;
  const bool is_open = choice.name.empty() && problem.a && problem.solver.method == "cg" && system.spaces.size() == 1 &&
                       problem.null_space.empty();
  const auto* meshes = problem.meshes ? &*problem.meshes : nullptr;
  if (choice.multigrid) meshes = &choice.multigrid->meshes;
  const bool has_levels = system.spaces.front()->degree > 1 || (meshes != nullptr && meshes->meshes.size() > 1);
  return is_open && has_levels && system.mesh->distribution == nullptr &&
         what_cg_cannot_take(system, equations.tangent).empty();
}

/// The direct solve of a small problem for which multigrid is not expected to do better; nothing for others.
std::optional<MethodChoice> better_method(const Request& request, const op::System& system,
                                          const op::OperatorOptions& options, double seconds_of_multigrid,
                                          double iterations) {
  // So many iterations take stretched cells and slender bodies, which multigrid with Jacobi does not serve either.
  constexpr double many_iterations = 2000, doubt = 2;
  auto small = small_direct_solve(request, system, *options.shared_device, options.plan);
  if (!small || (iterations <= many_iterations && small->seconds >= doubt * seconds_of_multigrid)) return std::nullopt;
  return std::move(small->choice);
}

} // namespace

PreconditionerForecast choose_preconditioner(const Problem& problem, const Equations& equations, const Request& request,
                                             const op::OperatorOptions& options, bool solves) {
  const auto& system = equations.system;
  const double iterations = expected_iterations(problem, equations, options);
  PreconditionerForecast result{.num_applications = options.num_applications};
  const auto expect = [&](bool with_multigrid) {
    if (options.num_applications == 0)
      result.num_applications = expected_applications(problem.solver, with_multigrid, iterations);
  };
  expect(uses_multigrid(problem.preconditioner, problem.solver.method));
  auto own = options;
  own.num_applications = result.num_applications;
  own.plan.clear(); // the time of a given plan is not known
  if (!solves || !may_choose_multigrid(problem, equations) || is_shorter_than_compilation(system, own)) return result;
  auto action =
      op::build_form(equations.tangent, system, op::Purpose::action, op::kernel_options(own, options.shared_device));
  const auto forecast = forecast_solve(*action, iterations);
  if (forecast.is_for_multigrid()) {
    result.method = better_method(request, system, options, forecast.with_multigrid, iterations);
    result.takes_multigrid = !result.method;
  }
  if (result.takes_multigrid) {
    expect(true);
    request.progress.notify(
        fmt::format("preconditioner: multigrid is chosen, since jacobi would take about {:.0f} iterations and {:.2g} s",
                    iterations, forecast.with_jacobi));
  }
  // A matrix that does not pay for the applications with Jacobi does not pay for the fewer ones with multigrid.
  const bool is_as_generated = options.plan.empty() && (action->matrix == nullptr || !result.takes_multigrid);
  if (is_as_generated) result.action = std::move(action);
  return result;
}

} // namespace rafter::problem
