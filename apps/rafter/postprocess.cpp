// SPDX-License-Identifier: BSD-3-Clause
#include "postprocess.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/language.hpp>

namespace rafter::app {
namespace {

/// Functionals of the solved fields.
class Evaluation {
public:
  Evaluation(const op::System& system, op::OperatorOptions options, const op::Vector& solution)
      : system_(system), solution_(solution), options_(std::move(options)) {
    options_.plan.clear(); // it belongs to the operator
    options_.dirichlet.clear();
  }

  double operator()(const form::Form& form) const { return op::Functional(form, system_, options_)(solution_); }

  /// sqrt of the integral of |e|^2.
  double norm(const form::Expr& e, int degree) const {
    return std::sqrt((*this)(form::inner(e, e) * form::dx.with_degree(degree)));
  }

private:
  const op::System& system_;
  const op::Vector& solution_;
  op::OperatorOptions options_;
};

/// The exact solution of a field, of the field's shape.
form::Expr exact_solution(const io::Field& field, const std::vector<io::Expression>& texts, const ProblemForms& forms) {
  std::vector<form::Expr> components;
  for (const auto& text : texts) components.push_back(forms.point_expression(text, "check." + field.name));
  return field.components == 0 ? components.at(0) : form::as_vector(std::move(components));
}

double relative(double error, double norm) { return norm > 0 ? error / norm : error; }

} // namespace

std::vector<std::pair<std::string, report::FieldErrors>>
compute_errors(const io::Problem& problem, const ProblemForms& forms, const op::System& system,
               const op::OperatorOptions& options, const op::Vector& solution) {
  auto own_options = options;
  own_options.quadrature = {}; // finer than what the problem was solved with
  const Evaluation evaluate(system, own_options, solution);
  const int gdim = system.mesh->gdim;
  std::vector<std::pair<std::string, report::FieldErrors>> errors;
  for (const auto& [index, texts] : problem.check.exact) {
    const auto& field = problem.fields[index];
    const auto exact = exact_solution(field, texts, forms);
    const auto found = forms.field(index);
    const int degree = std::min(2 * field.degree + 6, element::max_quadrature_degree);
    const auto exact_gradient = form::grad(exact, gdim);
    errors.emplace_back(
        field.name,
        report::FieldErrors{.l2 = relative(evaluate.norm(found - exact, degree), evaluate.norm(exact, degree)),
                            .h1 = relative(evaluate.norm(form::grad(found) - exact_gradient, degree),
                                           evaluate.norm(exact_gradient, degree))});
  }
  return errors;
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

std::vector<std::pair<std::string, double>> evaluate_functionals(const io::Problem& problem, const ProblemForms& forms,
                                                                 const op::System& system,
                                                                 const op::OperatorOptions& options,
                                                                 const op::Vector& solution) {
  const Evaluation evaluate(system, options, solution);
  std::vector<std::pair<std::string, double>> values;
  for (const auto& functional : problem.functionals) {
    values.emplace_back(functional.name, evaluate(forms.functional(functional)));
    if (!std::isfinite(values.back().second))
      throw base::InputError(fmt::format("{}: functionals.{}: its value is {}: check for divisions by zero, roots and "
                                         "logarithms",
                                         functional.form.location.text(), functional.name, values.back().second));
  }
  return values;
}

} // namespace rafter::app
