// SPDX-License-Identifier: BSD-3-Clause
#include "postprocess.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/language.hpp>

namespace rafter::app {
namespace {

/// The exact solution of a field, of the field's shape.
form::Expr exact_solution(const io::Field& field, const std::vector<io::Expression>& texts, const ProblemForms& forms) {
  std::vector<form::Expr> components;
  for (const auto& text : texts) components.push_back(forms.point_expression(text, "check." + field.name));
  return field.components == 0 ? components.at(0) : form::as_vector(std::move(components));
}

double relative(double error, double norm) { return norm > 0 ? error / norm : error; }

} // namespace

Postprocess::Postprocess(const io::Problem& problem, const ProblemForms& forms, const op::System& system,
                         const op::OperatorOptions& options)
    : problem_(problem) {
  auto own_options = options;
  own_options.plan.clear(); // it belongs to the operator
  for (const auto& functional : problem.functionals) {
    const auto form = forms.functional(functional);
    functionals_.push_back(forms.located(functional.form, "functionals." + functional.name,
                                         [&] { return op::build(form, 0, system, own_options); }));
  }
  own_options.quadrature = {}; // finer than what the problem was solved with
  const int gdim = system.mesh->gdim;
  for (const auto& check : problem.check.exact) {
    const auto index = check.first;
    const auto& texts = check.second;
    const auto& field = problem.fields[index];
    const auto exact = exact_solution(field, texts, forms);
    const auto found = forms.field(index);
    const auto square = [&](const form::Expr& e) {
      const int degree = std::min(2 * field.degree + 6, element::max_quadrature_degree);
      return op::build(form::inner(e, e) * form::dx.with_degree(degree), 0, system, own_options);
    };
    norms_.push_back(forms.located(texts.at(0), "check." + field.name, [&] {
      const auto exact_gradient = form::grad(exact, gdim);
      return FieldNorms{field.name,
                        texts[0].location,
                        square(found - exact),
                        square(exact),
                        square(form::grad(found) - exact_gradient),
                        square(exact_gradient)};
    }));
  }
}

std::vector<std::shared_ptr<op::BuiltForm>> Postprocess::kernels() const {
  auto result = functionals_;
  for (const auto& norms : norms_)
    result.insert(result.end(), {norms.l2_error, norms.l2_exact, norms.h1_error, norms.h1_exact});
  return result;
}

void Postprocess::require_finite_solutions(const op::Vector& any) const {
  for (const auto& norms : norms_)
    for (const auto& [square, what] :
         {std::pair(norms.l2_exact, "the exact solution"), std::pair(norms.h1_exact, "its gradient")})
      if (!std::isfinite(op::Functional(square)(any)))
        throw base::InputError(fmt::format("{}: check.{}: {} is not finite everywhere on the mesh: check for divisions "
                                           "by zero, roots and logarithms",
                                           norms.place.text(), norms.field, what));
}

std::vector<std::pair<std::string, report::FieldErrors>> Postprocess::errors(const op::Vector& solution) const {
  const auto norm = [&solution](const Kernels& square) { return std::sqrt(op::Functional(square)(solution)); };
  std::vector<std::pair<std::string, report::FieldErrors>> result;
  for (const auto& norms : norms_)
    result.emplace_back(norms.field, report::FieldErrors{.l2 = relative(norm(norms.l2_error), norm(norms.l2_exact)),
                                                         .h1 = relative(norm(norms.h1_error), norm(norms.h1_exact))});
  return result;
}

std::vector<std::pair<std::string, double>> Postprocess::functionals(const op::Vector& solution) const {
  std::vector<std::pair<std::string, double>> values;
  for (std::size_t i = 0; i < functionals_.size(); ++i) {
    const auto& functional = problem_.functionals[i];
    values.emplace_back(functional.name, op::Functional(functionals_[i])(solution));
    if (!std::isfinite(values.back().second))
      throw base::InputError(fmt::format("{}: functionals.{}: its value is {}: check for divisions by zero, roots and "
                                         "logarithms",
                                         functional.form.location.text(), functional.name,
                                         base::number_text(values.back().second)));
  }
  return values;
}

std::vector<std::string> failed_checks(const io::Check& check,
                                       const std::vector<std::pair<std::string, report::FieldErrors>>& errors) {
  std::vector<std::string> failures;
  const auto compare = [&](const std::string& field, const char* what, double error, std::optional<double> accepted) {
    if (accepted && !(error <= *accepted)) // NaN fails
      failures.push_back(
          fmt::format("relative {} error of {} is {:.3e}, accepted is {:.3e}", what, field, error, *accepted));
  };
  for (const auto& [field, error] : errors) {
    compare(field, "L2", error.l2, check.max_l2_error);
    compare(field, "H1", error.h1, check.max_h1_error);
  }
  return failures;
}

} // namespace rafter::app
