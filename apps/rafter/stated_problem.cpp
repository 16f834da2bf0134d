// SPDX-License-Identifier: BSD-3-Clause
#include "stated_problem.hpp"

#include <fmt/format.h>
#include <rafter/io/unused_keys.hpp>
#include <rafter/problem/operator_checks.hpp>

#include "discretisation.hpp"
#include "interrupt.hpp"
#include "problem_forms.hpp"
#include "problem_solver.hpp"

namespace rafter::app {

problem::Places places_of(const io::Problem& problem) {
  return {.source = problem.source,
          .form = problem.forms.main().location.text(),
          .load = problem.forms.L ? problem.forms.L->location.text() : problem.source,
          .method = problem.method_location.text(),
          .preconditioner = problem.has_preconditioner ? problem.preconditioner_location.text() : problem.source,
          .coarsening = problem.coarsening_location ? problem.coarsening_location->text() : "",
          .coarse_solver = problem.coarse_location.text()};
}

problem::Problem state(const io::Problem& problem, const RunEvents& events) {
  return {.places = places_of(problem),
          .form_name = problem.forms.main_key(),
          .load_name = "forms.L",
          .is_residual = problem.forms.F.has_value(),
          .is_in_time = problem.time.has_value(),
          .solver = problem.solver,
          .has_method = problem.has_solver_method,
          .has_preconditioner = problem.has_preconditioner,
          .is_iterated = problem.has_iteration_keys || uses_multigrid(problem),
          .method_reason = problem.method_reason,
          .warn_of_direct_solve =
              [&problem](std::string_view cause) {
                if (problem.solver.preconditioner != "none") io::warn_of_keys_that_direct_solves_leave(problem, cause);
              },
          .event =
              [event = events.event](const std::string& text) {
                require_not_interrupted();
                if (event) event(text);
              },
          .is_stopped = is_interrupted,
          .iteration = events.iteration};
}

std::string describe_non_finite(const io::Problem& problem, const ProblemForms& forms, const mesh::Mesh& mesh) {
  for (const auto& [coefficient, value] : forms.point_coefficients()) {
    const auto found = problem::non_finite_point(value, mesh, problem.max_degree() + 2);
    if (!found.empty())
      return fmt::format("{}: coefficients.{} {}", coefficient->value.location.text(), coefficient->name, found);
  }
  return {};
}

} // namespace rafter::app
