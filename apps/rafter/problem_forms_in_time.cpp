// SPDX-License-Identifier: BSD-3-Clause
// This file has the parts of ProblemForms for problems with [time].
#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/theta_scheme.hpp>
#include <rafter/form/time_derivative.hpp>

#include "problem_forms.hpp"

namespace rafter::app {

bool ProblemForms::depends_on_time(std::span<const io::Expression> texts, std::size_t count,
                                   const std::string& key) const {
  if (!problem_.time) return false;
  return std::ranges::any_of(point_components(texts, count, key), [](const form::Expr& component) {
    return form::PointEvaluator(component).has_parameter(form::time_name);
  });
}

void ProblemForms::require_no_time_derivative(bool is_found, const io::Expression& text, const std::string& key) const {
  if (!is_found) return;
  if (problem_.time)
    refuse(text.location, key, "dt() has a value in forms.F and forms.a only, where a step in time gives it one");
  refuse(text.location, key, "dt() is a derivative in time, which needs the section [time] with step and end");
}

form::Form ProblemForms::residual_in_time() const {
  const auto& forms = problem_.forms;
  const auto scope = with_everything(residual_scope());
  const auto parsed = [&](const io::Expression& text, const std::string& key) {
    auto form = parse_form(text, key, scope);
    if (form.rank() != 1)
      refuse(text.location, key,
             fmt::format("every term is to have a test function; found a form of rank {} (0: no test function)",
                         form.rank()));
    return form;
  };
  auto form = parsed(forms.main(), forms.main_key());
  if (forms.F) return form;
  if (!form::is_linear(form, fields()))
    refuse(forms.a.location, "forms.a",
           "every term is to be linear in a field or in its derivative in time; problems that are not linear are "
           "written as a residual form forms.F");
  if (!forms.L || located(*forms.L, "forms.L",
                          [&] { return form::lower(form::parse_form(forms.L->text, scope)).integrals.empty(); }))
    return form;
  const auto load = parsed(*forms.L, "forms.L");
  const auto is_unknown = [this](const std::string& field) {
    return std::ranges::any_of(spaces_, [&field](const auto& space) {
      return field == space->name || field == form::time_derivative_name(space->name);
    });
  };
  if (std::ranges::any_of(form::lower(load).field_names, is_unknown))
    refuse(forms.L->location, "forms.L",
           "a linear form is expected: no term may hold a field that is solved for; such terms stand in forms.a");
  return form - load;
}

} // namespace rafter::app
