// SPDX-License-Identifier: BSD-3-Clause
#include "postprocess.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/printer.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/linear_form.hpp>

namespace rafter::app {
namespace {

/// Returns the exact solution of a field, which has the field's shape.
form::Expr exact_solution(const io::Field& field, const std::vector<io::Expression>& texts, const ProblemForms& forms) {
  auto components =
      forms.point_components(texts, static_cast<std::size_t>(field.num_components()), "check." + field.name);
  return field.components == 0 ? components.at(0) : form::as_vector(std::move(components));
}

constexpr std::size_t max_text_length = 80; ///< forms in messages are cut to this length

double constant_value(const form::Expr& e) {
  double value = 0;
  form::PointEvaluator evaluator(e);
  evaluator({}, std::span(&value, 1));
  return value;
}

/// Returns a text such as "division by zero: 1*dx(3) is 0" if the arithmetic of a functional divides by zero, else "".
std::string zero_divisor(const form::FunctionalText& text) {
  const auto name_of = [&](const form::Expr& divisor) {
    for (const auto& [integral, number] : text.integrals)
      if (divisor == form::coefficient(number)) return form::to_text(integral, max_text_length);
    return form::summary(divisor);
  };
  std::set<const form::ExprNode*> is_seen;
  std::string result;
  const std::function<void(const form::Expr&)> visit = [&](const form::Expr& e) {
    if (!is_seen.insert(&e.node()).second || !result.empty()) return;
    for (const auto& operand : e.operands()) visit(operand);
    if (result.empty() && e.kind() == form::NodeKind::div && constant_value(e.operand(1)) == 0)
      result = fmt::format("division by zero: {} is 0", name_of(e.operand(1)));
  };
  visit(text.value);
  return result;
}

double relative(double error, double norm) { return norm > 0 ? error / norm : error; }

} // namespace

Postprocess::Postprocess(const io::Problem& problem, const ProblemForms& forms, const ProblemData& data,
                         const op::System& system, const op::OperatorOptions& options)
    : problem_(problem), forms_(forms), data_(data), mesh_(system.mesh), numbers_(forms.functional_numbers()) {
  auto own_options = options;
  own_options.plan.clear(); // a plan of the user is meant for the operator
  for (const auto& functional : problem.functionals) {
    auto& made = functionals_.emplace_back(Functional{forms.functional(functional), {}});
    for (const auto& integral : made.text.integrals)
      made.kernels.push_back(forms.located(functional.form, "functionals." + functional.name,
                                           [&] { return op::build(integral.form, 0, system, own_options); }));
  }
  for (const auto& field : problem.output.fields)
    output_fields_.push_back(
        {.name = field.name,
         .expression = forms.output_field(field),
         .is_per_cell = field.is_per_cell,
         .origin = fmt::format("{}: output.fields.{}", field.expression.location.text(), field.name)});
  own_options.quadrature = {}; // errors need a finer rule than the one of the solve
  const int gdim = system.mesh->gdim;
  for (const auto& check : problem.check.exact) {
    const auto index = check.first;
    const auto& texts = check.second;
    const auto& field = problem.fields[index];
    const auto exact = exact_solution(field, texts, forms);
    const auto found = forms.field(index);
    const auto square = [&](const form::Expr& e) {
      const int degree = std::min(2 * field.degree + 6, element::max_quadrature_degree);
      return form::inner(e, e) * form::dx.with_degree(degree);
    };
    norms_.push_back(forms.located(texts.at(0), "check." + field.name, [&] {
      const auto exact_gradient = form::grad(exact, gdim);
      const std::array squares{square(found - exact), square(exact), square(form::grad(found) - exact_gradient),
                               square(exact_gradient)};
      return FieldNorms{field.name, texts[0].location, op::build(squares, system, own_options)};
    }));
  }
}

std::vector<std::shared_ptr<op::GeneratedForm>> Postprocess::kernels() const {
  std::vector<Kernels> result;
  for (const auto& functional : functionals_)
    result.insert(result.end(), functional.kernels.begin(), functional.kernels.end());
  for (const auto& norms : norms_) result.push_back(norms.squares);
  return result;
}

std::vector<double> Postprocess::evaluate(const Kernels& kernels, const op::Vector& solution) const {
  op::Functional functional(kernels);
  data_.bind(functional, kernels->form);
  return functional.values(solution);
}

/// Points of quadrature lie inside cells, so that what grows without bound towards a vertex is finite at all of them.
double Postprocess::largest_at_nodes(std::size_t index) const {
  const auto& mesh = *mesh_;
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  std::vector<std::uint8_t> is_node(mesh.points.size() / dim, 0);
  for (const auto& group : mesh.groups)
    for (const auto node : group.nodes()) is_node[static_cast<std::size_t>(node)] = 1;
  const auto& [number, texts] = problem_.check.exact[index];
  const auto& field = problem_.fields[number];
  const auto count = static_cast<std::size_t>(field.num_components());
  if (!std::ranges::all_of(forms_.point_components(texts, count, "check." + field.name), is_function_of_x)) return 0;
  const auto exact = forms_.qfunction(texts, {}, field.num_components(), "check." + field.name);
  std::vector<double> values(count);
  double largest = 0;
  for (std::size_t node = 0; node < is_node.size(); ++node) {
    if (is_node[node] == 0) continue;
    exact(std::span(mesh.points).subspan(node * dim, dim), values);
    for (const double value : values) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

void Postprocess::require_finite_solutions(const op::Vector& any) const {
  for (std::size_t i = 0; i < norms_.size(); ++i) {
    const auto& norms = norms_[i];
    const auto refuse = [&norms](std::string_view what) {
      throw base::InputError(fmt::format("{}: check.{}: {}", norms.place.text(), norms.field, what));
    };
    const double largest = largest_at_nodes(i);
    const auto squares = evaluate(norms.squares, any);
    for (const auto& [square, what] : {std::pair(l2_exact, "the exact solution"), std::pair(h1_exact, "its gradient")})
      if (!std::isfinite(squares[square]))
        refuse(
            fmt::format("{} is not finite everywhere on the mesh, or its square exceeds the largest double, 1.8e308: "
                        "check for divisions by zero, roots and logarithms",
                        what));
    constexpr double least = 1e-290; // smaller squares have lost digits
    if (largest > 0 && largest < 1e-140 && squares[l2_exact] < least)
      refuse(fmt::format(
          "the exact solution is so small (up to {:.1e} at the nodes of the mesh) that its square vanishes in "
          "doubles, and with it the measure of errors: use a larger unit",
          largest));
  }
}

std::vector<std::pair<std::string, report::FieldErrors>> Postprocess::errors(const op::Vector& solution) const {
  std::vector<std::pair<std::string, report::FieldErrors>> result;
  for (const auto& norms : norms_) {
    const auto squares = evaluate(norms.squares, solution);
    const auto norm = [&squares](Norm which) { return std::sqrt(squares[which]); };
    result.emplace_back(norms.field, report::FieldErrors{.l2 = relative(norm(l2_error), norm(l2_exact)),
                                                         .h1 = relative(norm(h1_error), norm(h1_exact))});
  }
  return result;
}

double Postprocess::value_of(std::size_t index, const op::Vector& solution) const {
  const auto& [text, kernels] = functionals_[index];
  const auto refuse = [&functional = problem_.functionals[index]](const std::string& message) {
    throw base::InputError(
        fmt::format("{}: functionals.{}: {}", functional.form.location.text(), functional.name, message));
  };
  // Kernels read values of earlier functionals when they are bound to their data, so that one follows the other here.
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double value = evaluate(kernels[i], solution).front();
    if (!std::isfinite(value))
      refuse(fmt::format("the integral {} is {}: check for divisions by zero, roots and logarithms",
                         form::to_text(text.integrals[i].form, max_text_length), base::number_text(value)));
    text.integrals[i].number->values = {value};
  }
  const double value = constant_value(text.value);
  if (!std::isfinite(value)) {
    const auto found = zero_divisor(text);
    refuse(found.empty() ? fmt::format("its value is {}: check for roots and logarithms", base::number_text(value))
                         : found);
  }
  return value;
}

std::vector<std::pair<std::string, double>> Postprocess::functionals(const op::Vector& solution) const {
  std::vector<std::pair<std::string, double>> values;
  for (std::size_t i = 0; i < functionals_.size(); ++i) {
    values.emplace_back(problem_.functionals[i].name, value_of(i, solution));
    numbers_[i]->values = {values.back().second};
  }
  return values;
}

std::vector<std::string> failed_checks(const io::Check& check,
                                       const std::vector<std::pair<std::string, report::FieldErrors>>& errors) {
  std::vector<std::string> failures;
  const auto compare = [&](const std::string& field, const char* what, double error, std::optional<double> accepted) {
    if (accepted && !(error <= *accepted)) // the condition is also false for NaN, which must fail
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
