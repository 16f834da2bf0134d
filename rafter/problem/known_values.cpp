// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/known_values.hpp>

#include <array>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/solve/residual_problem.hpp>

namespace rafter::problem {

void require_used(const Problem& problem, std::span<const std::shared_ptr<op::GeneratedForm>> forms) {
  const auto is_unknown = [&](const std::string& name) {
    return std::ranges::any_of(problem.unknowns, [&](const auto& unknown) { return unknown.node().name == name; });
  };
  for (const auto& given : problem.data) {
    const auto has_field = [&](const auto& form) { return solvers::has_field(form->form, given.name); };
    const auto is_in_output = [&](const io::DerivedField& field) {
      return std::ranges::any_of(field.expression->fields, [&](const auto& of) { return of->name == given.name; });
    };
    if (is_unknown(given.name) ||
        (std::ranges::none_of(forms, has_field) && std::ranges::none_of(problem.output.fields, is_in_output)))
      throw base::InputError(fmt::format("the equations have no known field '{}'", given.name));
  }
  for (const auto& of : problem.parameters) {
    const auto& name = of.first;
    const auto has_parameter = [&](const auto& form) { return solvers::has_parameter(form->form, name); };
    const auto is_in_condition = [&](const op::FieldCondition& condition) {
      return condition.expression != nullptr && condition.expression->has_parameter(name);
    };
    const auto is_in_output = [&](const io::DerivedField& field) {
      return std::ranges::any_of(field.expression->parameters,
                                 [&](const auto& part) { return part.coefficient->name == name; });
    };
    const bool is_used = std::ranges::any_of(forms, has_parameter) ||
                         std::ranges::any_of(problem.discretisation.dirichlet, is_in_condition) ||
                         std::ranges::any_of(problem.output.fields, is_in_output);
    if (!is_used || (problem.time && name == form::time_name))
      throw base::InputError(
          fmt::format("the equations have no parameter '{}'{}", name, problem.time ? " but the time" : ""));
  }
}

void bind_known(op::FieldCondition& condition, const Problem& problem, std::optional<double> time) {
  if (condition.expression == nullptr) return;
  auto expression = *condition.expression;
  for (const auto& [name, value] : problem.parameters)
    if (expression.has_parameter(name)) expression.set(name, std::array{value});
  if (time && expression.has_parameter(form::time_name)) expression.set(form::time_name, std::array{*time});
  condition.set_expression(std::move(expression));
}

} // namespace rafter::problem
