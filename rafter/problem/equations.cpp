// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/equations.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/lowering.hpp>
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

void require_rank(const Problem& problem, const form::Form& form, int rank, std::string_view what) {
  if (form.rank() == rank) return;
  throw base::InputError(at(problem.statement.places.form,
                            fmt::format("{}: {} is expected, found a form of rank {} (0: no test function, 1: a test "
                                        "function alone, 2: an unknown and a test function)",
                                        problem.statement.form_name, what, form.rank())));
}

void require_no_null_space(const Problem& problem) {
  if (!problem.null_space.empty())
    throw base::InputError("conditions on the null space exist for linear problems, and this form is not linear");
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

} // namespace

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

Equations make_equations(const Problem& problem) {
  Equations result;
  std::tie(result.system, result.names) = system_of_unknowns(problem.unknowns);
  if (problem.a.has_value() == problem.F.has_value())
    throw base::InputError("a problem has a bilinear form a, or else a residual form F");
  if (problem.time) {
    if (!problem.F) throw base::InputError("a problem in time has a form F, which holds dt() of its unknowns");
    result.steps = steps_of(problem, result.names);
    result.tangent = result.steps->tangent;
    if (!result.steps->is_linear) require_no_null_space(problem);
    if (!result.steps->load.integrals.empty()) result.load = result.steps->load;
    return result;
  }
  const auto place = problem.statement.form_text();
  if (problem.F) {
    require_rank(problem, *problem.F, 1, "a residual form");
    require_no_null_space(problem);
    result.bilinear = located(place, [&] { return form::derivative(*problem.F, problem.unknowns); });
    result.load = form::lower(*problem.F);
  } else {
    require_rank(problem, *problem.a, 2, "a bilinear form");
    result.bilinear = *problem.a;
    if (problem.L) result.load = form::lower(*problem.L);
  }
  result.tangent = located(place, [&] { return form::lower(*result.bilinear); });
  require_all_fields(problem, result.system, result.tangent);
  return result;
}

form::LoweredForm tangent_of_steps(const Problem& problem, const std::vector<form::SpacePair>& spaces) {
  return form::theta_tangent_on(*problem.F, problem.unknowns, names_of_data(problem), problem.time->theta, spaces);
}

} // namespace rafter::problem
