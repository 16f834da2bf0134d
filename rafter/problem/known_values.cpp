// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/known_values.hpp>

#include <array>

#include <rafter/form/lowering.hpp>

namespace rafter::problem {

void bind_known(op::FieldCondition& condition, const Problem& problem, std::optional<double> time) {
  if (condition.expression == nullptr) return;
  auto expression = *condition.expression;
  for (const auto& [name, value] : problem.parameters)
    if (expression.has_parameter(name)) expression.set(name, std::array{value});
  if (time && expression.has_parameter(form::time_name)) expression.set(form::time_name, std::array{*time});
  condition.set_expression(std::move(expression));
}

} // namespace rafter::problem
