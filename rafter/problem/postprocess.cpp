// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/postprocess.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/printer.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/problem/known_values.hpp>
#include <rafter/problem/operator_checks.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

constexpr std::size_t max_text_length = 80; ///< forms in messages are cut to this length
constexpr double least_size = 1e-140;       ///< squares of smaller exact solutions vanish in doubles

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

/// Returns a function that evaluates an exact solution at points, with values of its parameters.
space::SpatialFunction at_points(const ExactSolution& exact, const std::string& origin, const Problem& problem,
                                 double time) {
  if (exact.make_function) return exact.make_function();
  form::PointEvaluator evaluator(exact.value);
  for (const auto& [name, value] : problem.parameters) evaluator.set(name, std::array{value});
  if (problem.time) evaluator.set(form::time_name, std::array{time});
  return [evaluator, origin](std::span<const double> x, std::span<double> values) {
    evaluator(x, values);
    for (const double value : values)
      if (!std::isfinite(value))
        throw base::InputError(
            at(origin, fmt::format("it is {} at x = {}", base::number_text(value), mesh::describe_point(x))));
  };
}

std::string origin_of(const ExactSolution& exact, const std::string& field) {
  return exact.origin.empty() ? "exact solution of '" + field + "'" : exact.origin;
}

} // namespace

Postprocess::Postprocess(const Problem& problem, const op::System& system, const op::OperatorOptions& options)
    : problem_(problem), mesh_(system.mesh), time_(std::make_shared<form::CoefficientData>()) {
  auto own_options = options;
  own_options.plan.clear(); // a plan of the user is meant for the operator
  for (const auto& functional : problem.functionals) {
    auto& kernels = integrals_.emplace_back();
    for (const auto& integral : functional.text.integrals)
      kernels.push_back(located(functional.origin, [&] { return op::build(integral.form, 0, system, own_options); }));
  }
  time_->name = form::time_name;
  time_->values = {problem.time ? problem.time->start : 0.0};
  for (const auto& field : problem.output.fields) output_fields_.push_back(with_parameters(field));
  own_options.quadrature = {}; // errors need a finer rule than the one of the solve
  const int gdim = system.mesh->gdim;
  for (const auto& exact : problem.check.exact) {
    if (exact.field >= problem.unknowns.size())
      throw base::InputError(fmt::format("exact solution: there is no field {}; accepted are numbers below {}",
                                         exact.field, problem.unknowns.size()));
    const auto& found = problem.unknowns[exact.field];
    const auto& name = found.node().name;
    const int field_degree = system.spaces[exact.field]->degree;
    const auto square = [&](const form::Expr& e) {
      const int degree = std::min(2 * field_degree + 6, element::max_quadrature_degree);
      return form::inner(e, e) * form::dx.with_degree(degree);
    };
    norms_.push_back(located(origin_of(exact, name), [&] {
      const auto exact_gradient = form::grad(exact.value, gdim);
      const std::array squares{square(found - exact.value), square(exact.value),
                               square(form::grad(found) - exact_gradient), square(exact_gradient)};
      return FieldNorms{&exact, name, op::build(squares, system, own_options)};
    }));
  }
}

io::DerivedField Postprocess::with_parameters(const io::DerivedField& field) {
  auto result = field;
  if (result.origin.empty()) result.origin = "output field '" + field.name + "'";
  auto expression = *field.expression;
  for (auto& part : expression.parameters) {
    const auto& data = *part.coefficient;
    const bool is_bound_later = std::ranges::any_of(data.values, [](double value) { return std::isnan(value); });
    if (!is_bound_later) continue;
    const auto given = std::ranges::find(problem_.parameters, data.name, [](const auto& named) { return named.first; });
    if (given != problem_.parameters.end()) {
      auto own = std::make_shared<form::CoefficientData>(data);
      own->values = {given->second};
      part.coefficient = std::move(own);
    } else if (problem_.time && data.name == form::time_name)
      part.coefficient = time_;
    else
      throw base::InputError(at(result.origin, "the parameter '" + data.name + "' has no value"));
  }
  result.expression = std::make_shared<const form::LoweredExpression>(std::move(expression));
  return result;
}

std::vector<std::shared_ptr<op::GeneratedForm>> Postprocess::kernels() const {
  std::vector<Kernels> result;
  for (const auto& kernels : integrals_) result.insert(result.end(), kernels.begin(), kernels.end());
  for (const auto& norms : norms_) result.push_back(norms.squares);
  return result;
}

void Postprocess::set_time(double time) { time_->values = {time}; }

std::vector<double> Postprocess::evaluate(const Kernels& kernels, const op::Vector& solution) const {
  op::Functional functional(kernels);
  bind_known(functional, kernels->form, problem_, time_->values.front());
  return functional.values(solution);
}

/// Points of quadrature lie inside cells, so that what grows without bound towards a vertex is finite at all of them.
double Postprocess::largest_at_nodes(const ExactSolution& exact) const {
  if (!is_function_of_x(exact.value) || mesh_->distribution != nullptr) return 0;
  const auto& mesh = *mesh_;
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  std::vector<std::uint8_t> is_node(mesh.points.size() / dim, 0);
  for (const auto& group : mesh.groups)
    for (const auto node : group.nodes()) is_node[static_cast<std::size_t>(node)] = 1;
  const auto function =
      at_points(exact, origin_of(exact, problem_.unknowns[exact.field].node().name), problem_, time_->values.front());
  std::size_t count = 1;
  for (const int extent : exact.value.shape()) count *= static_cast<std::size_t>(extent);
  std::vector<double> values(count);
  double largest = 0;
  for (std::size_t node = 0; node < is_node.size(); ++node) {
    if (is_node[node] == 0) continue;
    function(std::span(mesh.points).subspan(node * dim, dim), values);
    for (const double value : values) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

void Postprocess::require_numbers_at_nodes() const {
  for (const auto& norms : norms_) {
    const double largest = largest_at_nodes(*norms.exact);
    constexpr double most = 1e154; // its square is the largest double
    if (largest > most) refuse_not_finite(norms, "the exact solution");
    if (largest > 0 && largest < least_size) refuse_small(norms, largest);
  }
}

std::vector<std::pair<std::string, report::FieldErrors>> Postprocess::errors(const op::Vector& solution) const {
  std::vector<std::pair<std::string, report::FieldErrors>> result;
  for (const auto& norms : norms_) {
    const auto squares = evaluate(norms.squares, solution);
    require_measurable(norms, squares);
    const auto norm = [&squares](Norm which) { return std::sqrt(squares[which]); };
    result.emplace_back(norms.field, report::FieldErrors{.l2 = relative(norm(l2_error), norm(l2_exact)),
                                                         .h1 = relative(norm(h1_error), norm(h1_exact))});
  }
  return result;
}

void Postprocess::require_measurable(const FieldNorms& norms, std::span<const double> squares) const {
  for (const auto& [square, what] : {std::pair(l2_exact, "the exact solution"), std::pair(h1_exact, "its gradient")})
    if (!std::isfinite(squares[square])) refuse_not_finite(norms, what);
  constexpr double least = 1e-290; // smaller squares have lost digits
  if (squares[l2_exact] >= least) return;
  const double largest = largest_at_nodes(*norms.exact);
  if (largest > 0 && largest < least_size) refuse_small(norms, largest);
}

void Postprocess::refuse_not_finite(const FieldNorms& norms, const std::string& what) {
  throw base::InputError(at(
      origin_of(*norms.exact, norms.field),
      fmt::format("{} is not finite everywhere on the mesh, or its square exceeds the largest double, 1.8e308: check "
                  "for divisions by zero, roots and logarithms",
                  what)));
}

void Postprocess::refuse_small(const FieldNorms& norms, double largest) {
  throw base::InputError(at(
      origin_of(*norms.exact, norms.field),
      fmt::format("the exact solution is so small (up to {:.1e} at the nodes of the mesh) that its square vanishes in "
                  "doubles, and with it the measure of errors: use a larger unit",
                  largest)));
}

double Postprocess::value_of(std::size_t index, const op::Vector& solution) const {
  const auto& [name, text, origin, number] = problem_.functionals[index];
  const auto& kernels = integrals_[index];
  const auto refuse = [&of = origin](const std::string& message) { throw base::InputError(at(of, message)); };
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
  for (std::size_t i = 0; i < problem_.functionals.size(); ++i) {
    const auto& functional = problem_.functionals[i];
    values.emplace_back(functional.name, value_of(i, solution));
    if (functional.number) functional.number->values = {values.back().second};
  }
  return values;
}

std::vector<std::string> failed_checks(const Check& check,
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

} // namespace rafter::problem
