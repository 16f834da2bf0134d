// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/form/lowered.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/problem/problem.hpp>

/// Values of data fields and parameters are bound by name wherever forms hold them.
namespace rafter::problem {

/// Gives a form its data fields and its parameters, with those of its boundary values, from the problem; `time` is the
/// value of "t".
template <class Target>
void bind_known(Target& target, const form::LoweredForm& form, const Problem& problem,
                std::optional<double> time = std::nullopt) {
  for (const auto& given : problem.data)
    if (std::ranges::find(form.field_names, given.name) != form.field_names.end())
      target.set(given.name, *given.values);
  const auto has_parameter = [&](const std::string& name) {
    if constexpr (requires { target.has_boundary_parameter(name); })
      if (target.has_boundary_parameter(name)) return true;
    return std::ranges::any_of(form.parameters, [&](const auto& part) { return part.coefficient->name == name; });
  };
  for (const auto& [name, value] : problem.parameters)
    if (has_parameter(name)) target.set(name, value);
  if (time && !problem.set_time && has_parameter(form::time_name)) target.set(form::time_name, *time);
}

/// Throws InputError for data fields and parameters of the problem that nothing holds: neither these forms, nor
/// boundary values, nor fields of the output.
void require_used(const Problem& problem, std::span<const std::shared_ptr<op::GeneratedForm>> forms);

/// Gives the expression of a Dirichlet condition, if it has one, the values of its parameters and of the time.
void bind_known(op::FieldCondition& condition, const Problem& problem, std::optional<double> time);

} // namespace rafter::problem
