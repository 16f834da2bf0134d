// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/equations.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/solve/theta_stepper.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

std::vector<std::string> names_of_data(const Problem& problem) {
  std::vector<std::string> result;
  for (const auto& given : problem.data) result.push_back(given.name);
  return result;
}

/// Throws InputError unless every field has a term and an equation.
void require_all_fields(const Problem& problem, const op::System& system, const form::LoweredForm& tangent) {
  const auto refuse = [&](const std::string& message) {
    throw base::InputError(at(problem.statement.places.form, problem.statement.form_name + ": " + message));
  };
  if (tangent.integrals.empty())
    refuse(problem.F ? "no term holds an unknown: the derivative of the form vanishes identically"
                     : "the form vanishes identically");
  const auto has = [](const auto& all, const auto& space) {
    return std::find(all.begin(), all.end(), space) != all.end();
  };
  for (std::size_t i = 0; i < system.spaces.size(); ++i) {
    const auto& space = system.spaces[i];
    if (!has(tangent.trial_spaces, space))
      refuse(fmt::format("no term holds the unknown '{}': the problem does not determine it", space->name));
    if (!has(tangent.test_spaces, space))
      refuse(fmt::format("no term holds the test function '{}': there are fewer equations than unknowns",
                         test_name(system, i)));
  }
}

/// Throws InputError, which begins with `origin`, for a form of another rank.
void require_rank(const std::string& origin, const form::Form& form, int rank, std::string_view what) {
  if (form.rank() != rank)
    throw base::InputError(at(origin, fmt::format("{} is expected, found a form of rank {} (0: no test function, 1: a "
                                                  "test function alone, 2: an unknown and a test function)",
                                                  what, form.rank())));
}

/// Throws InputError for parts of a problem that go with another kind of problem, and would not be used.
void require_consistent(const Problem& problem) {
  const auto refuse = [](const std::string& message) { throw base::InputError("problem: " + message); };
  if (problem.a.has_value() == problem.F.has_value()) refuse("it has a bilinear form a, or else a residual form F");
  if (problem.F && problem.L) refuse("L goes with a; a residual form F has the load in it");
  if (problem.energy && (!problem.F || problem.time)) refuse("an energy goes with a residual form that is stationary");
  if (problem.time && !problem.F) refuse("steps in time need a form F, which holds dt() of the unknowns");
  if (problem.initial != nullptr && !problem.F && problem.statement.places.source.empty())
    refuse("an initial state goes with a residual form F");
  if (problem.F && has_blocks(problem.preconditioner, problem.solver.method) && problem.solver.blocks.empty())
    refuse("the preconditioner block serves linear problems that are stationary");
  if (problem.output.every < 1)
    refuse(fmt::format("output.every = {} is out of range (1 and more)", problem.output.every));
  for (const auto& field : problem.output.fields)
    if (field.expression == nullptr) refuse("the field '" + field.name + "' of the output has no expression");
  if (!problem.time) return;
  const auto& [start, end, step, theta, restart] = *problem.time;
  static_cast<void>(solvers::TimeGrid(restart.empty() ? start : end - step, end, step, theta));
}

form::ThetaForms steps_of(const Problem& problem, const std::vector<std::string>& names) {
  const double theta = problem.time->theta;
  const auto& statement = problem.statement;
  auto forms = located(statement.form_text(), [&] {
    return form::make_theta_forms(*problem.F, problem.unknowns, names_of_data(problem), theta);
  });
  try {
    form::require_theta(forms, theta);
  } catch (const base::InputError& error) {
    std::vector<std::string> without;
    for (std::size_t f = 0; f < names.size(); ++f)
      if (forms.roles[f] != form::FieldRole::differential) without.push_back(names[f]);
    throw base::InputError(
        at(statement.places.theta, fmt::format("time.theta: {}; {} holds no dt() of {}", error.what(),
                                               statement.form_name, base::join(without, ", "))));
  }
  return forms;
}

/// The system of fields that are solved for, and their names. Throws InputError for other expressions than fields on
/// function spaces.
std::pair<op::System, std::vector<std::string>> system_of_unknowns(const std::vector<form::Expr>& unknowns) {
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  std::vector<std::string> names;
  for (const auto& unknown : unknowns) {
    auto on = unknown.kind() == form::NodeKind::field
                  ? std::dynamic_pointer_cast<const space::FunctionSpace>(unknown.node().space)
                  : nullptr;
    if (on == nullptr) throw base::InputError("the unknowns are fields on function spaces: field(V.ptr(), \"u\")");
    spaces.push_back(std::move(on));
    names.push_back(unknown.node().name);
  }
  return {op::make_system(std::move(spaces)), std::move(names)};
}

} // namespace

Equations make_equations(const Problem& problem) {
  Equations result;
  std::tie(result.system, result.names) = system_of_unknowns(problem.unknowns);
  require_consistent(problem);
  if (problem.time) {
    result.steps = steps_of(problem, result.names);
    result.tangent = result.steps->tangent;
    if (!result.steps->load.integrals.empty()) result.load = result.steps->load;
    return result;
  }
  const auto& statement = problem.statement;
  const auto place = statement.form_text();
  if (problem.F) {
    require_rank(place, *problem.F, 1, "a residual form");
    result.bilinear = located(place, [&] { return form::derivative(*problem.F, problem.unknowns); });
    result.load = form::lower(*problem.F);
  } else {
    require_rank(place, *problem.a, 2, "a bilinear form");
    result.bilinear = *problem.a;
    if (problem.L) result.load = form::lower(*problem.L);
    if (result.load && result.load->integrals.empty()) result.load.reset();
    if (result.load)
      require_rank(at(statement.places.load, statement.load_name.empty() ? "the right-hand side" : statement.load_name),
                   *problem.L, 1, "a linear form");
  }
  result.tangent = located(place, [&] { return form::lower(*result.bilinear); });
  require_all_fields(problem, result.system, result.tangent);
  return result;
}

form::LoweredForm tangent_of_steps(const Problem& problem, const std::vector<form::SpacePair>& spaces) {
  return form::theta_tangent_on(*problem.F, problem.unknowns, names_of_data(problem), problem.time->theta, spaces);
}

} // namespace rafter::problem
