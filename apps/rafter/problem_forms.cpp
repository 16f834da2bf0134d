// SPDX-License-Identifier: BSD-3-Clause
#include "problem_forms.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/functions.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/printer.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/form/walk.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/mesh/values_by_tag.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/problem/operator_checks.hpp>
#include <rafter/solve/residual_problem.hpp>

#include "text_position.hpp"

namespace rafter::app {

void refuse(const io::Location& location, const std::string& key, const std::string& message) {
  throw base::InputError(fmt::format("{}: {}: {}", location.text(), key, message));
}

namespace {

std::string signature(const io::Definition& definition) {
  return definition.is_function ? definition.name + "(" + base::join(definition.parameters, ", ") + ")"
                                : definition.name;
}

/// Returns an expression of the given shape with these components, row-major.
form::Expr as_tensor(const std::vector<int>& shape, std::vector<form::Expr> components) {
  if (shape.empty()) return components.at(0);
  if (shape.size() == 1) return form::as_vector(std::move(components));
  std::vector<std::vector<form::Expr>> rows;
  const auto columns = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 0; i < components.size(); i += columns)
    rows.emplace_back(components.begin() + static_cast<std::ptrdiff_t>(i),
                      components.begin() + static_cast<std::ptrdiff_t>(i + columns));
  return form::as_matrix(rows);
}

/// Returns whether a coefficient consists of numbers, and not of an expression or a function of a space.
bool is_constant(const io::Coefficient& data) { return data.is_by_tag || (!data.data && data.value.is_constant()); }

std::string cell_tags_text(const mesh::Mesh& mesh, const auto& tags) {
  std::vector<std::string> texts;
  for (const auto tag : tags) texts.push_back(mesh.physical_groups.text(mesh.tdim, tag));
  return base::join(texts, ", ");
}

/// Returns the place of a tag in quotation marks in the text of a form, else that of the whole text: tags may stand in
/// definitions, too.
io::Location place_of_tag(const io::Expression& text, const std::string& tag) {
  for (const char* mark : {"'", "\""})
    if (const auto place = text.text.find(mark + tag + mark); place != std::string::npos) return text.at(place);
  return text.location;
}

/// Throws InputError for tags without members that an integral reaches, and warns of members that it does not reach.
void require_tags_of(const mesh::Mesh& mesh, const form::Form& form, const io::Expression& text,
                     const std::string& key) {
  for (const auto& integral : form.integrals())
    for (const auto& tag : integral.measure.tags) {
      const auto use = op::tag_use(integral.measure.kind);
      const auto place = place_of_tag(text, tag);
      std::vector<std::int32_t> numbers;
      try {
        numbers = mesh::tags_for(mesh, tag, use);
      } catch (const base::InputError& error) {
        refuse(place, key, error.what());
      }
      if (const auto warning = mesh::left_out(mesh, numbers, "'" + tag + "'", use); !warning.empty())
        base::warn_once(fmt::format("{}: {}: {}", place.text(), key, warning)); // texts are parsed several times
    }
}

/// Returns a scope that knows why names of the problem that it does not have may not stand in its texts.
form::Scope explained(const io::Problem& problem, form::Scope scope) {
  const std::string accepted =
      fmt::format("accepted here are x,{} coefficients and definitions", problem.time ? " the time t," : "");
  for (std::size_t i = 0; i < problem.fields.size(); ++i) {
    const auto& name = problem.fields[i].name;
    scope.refuse(name, fmt::format("is an unknown, which has no value before the problem is solved: it may stand in "
                                   "forms, functionals and output fields; {}",
                                   accepted));
    for (const auto& test : {problem.test_name(i), "v_" + name})
      scope.refuse(test, fmt::format("is the test function of '{}', which may stand in forms alone", name));
  }
  for (const auto& data : problem.coefficients)
    scope.refuse(data.name, "is a coefficient that comes later in the file, or this one itself: an expression may use "
                            "all numbers, and those expressions and known fields that stand before it");
  for (const auto& functional : problem.functionals)
    scope.refuse(functional.name, "is a functional, whose value is known when the problem is solved: functionals that "
                                  "come after it may use it");
  scope.refuse(solvers::load_factor_name, "is the share of the loads in a load step, which forms.F alone may hold");
  return scope;
}

} // namespace

ProblemForms::ProblemForms(const io::Problem& problem, const mesh::Mesh& mesh, Spaces spaces, ProblemData& data)
    : problem_(problem), mesh_(mesh), spaces_(std::move(spaces)), time_(std::make_shared<form::CoefficientData>()),
      point_scope_(explained(problem, form::Scope(mesh.gdim))) {
  if (problem.time) {
    time_->name = form::time_name;
    set_time(problem.time->start);
    point_scope_.add(form::time_name, form::coefficient(time_));
  }
  for (const auto& definition : problem.definitions)
    point_scope_.define(signature(definition), definition.expression.text);
  add_coefficients(data);
  for (const auto& functional : problem.functionals) {
    auto& number = functional_numbers_.emplace_back(std::make_shared<form::CoefficientData>());
    number->name = functional.name;
    number->values = {1.0}; // a value is needed until the functional is evaluated
  }
}

void ProblemForms::add_coefficients(ProblemData& known) {
  const auto add = [this](const io::Coefficient& data, form::Expr value) {
    point_scope_.add(data.name, value);
    coefficients_.emplace_back(&data, std::move(value));
  };
  // Expressions may use all numbers, wherever these are in the file, but only those expressions and known fields that
  // come before them.
  for (const auto& data : problem_.coefficients)
    if (is_constant(data)) {
      if (data.is_by_tag) require_tags_of(data);
      add(data, coefficient(data));
    }
  for (const auto& data : problem_.coefficients) {
    if (is_constant(data)) continue;
    const auto key = "coefficients." + data.name;
    if (data.data && data.data->source) {
      add(data, known.add(data, nullptr));
      continue;
    }
    const auto value = data.data ? field_value(data.value, key + ".value") : tensor(data.value, key);
    add(data, data.data ? known.add(data, &value) : value);
    if (!data.data && problem::is_function_of_x(value)) point_coefficients_.emplace_back(&data, value);
  }
}

form::Expr ProblemForms::coefficient(const io::Coefficient& data) const {
  auto result = std::make_shared<form::CoefficientData>();
  result->name = data.name;
  result->shape = data.value.shape;
  result->is_by_tag = data.is_by_tag;
  if (data.is_by_tag)
    for (const auto& [tag, value] : data.by_tag) result->by_tag.emplace_back(tag, value.values());
  else
    result->values = data.value.values();
  return form::coefficient(std::move(result));
}

form::Expr ProblemForms::tensor(const io::TensorExpression& value, const std::string& key) const {
  std::vector<form::Expr> components;
  for (const auto& component : value.components) components.push_back(point_expression(component, key));
  return as_tensor(value.shape, std::move(components));
}

form::Expr ProblemForms::field_value(const io::TensorExpression& value, const std::string& key) const {
  if (!value.shape.empty() || value.components[0].number) return tensor(value, key);
  const auto& text = value.components[0];
  return located(text, key, [&] { return form::parse_expression(text.text, point_scope_); });
}

void ProblemForms::require_tags_of(const io::Coefficient& data) const {
  mesh::ValuesByTag values(mesh_);
  for (const auto& [tag, value] : data.by_tag) try {
      values.add(tag, value.values());
    } catch (const base::InputError& error) {
      refuse(value.location, "coefficients." + data.name + ".by_tag", error.what());
    }
  if (const auto missing = values.missing(); !missing.empty())
    refuse(data.location, "coefficients." + data.name + ".by_tag",
           fmt::format("no value for the cells with tag {}; accepted is one for every tag of the mesh's cells: {}",
                       cell_tags_text(mesh_, missing), cell_tags_text(mesh_, mesh_.cell_tags())));
}

std::string ProblemForms::located_message(const io::Expression& text, const std::string& key,
                                          std::string message) const {
  io::Location place = text.location;
  if (const auto position = take_position(message)) place = text.at(offset_of(text.text, *position));
  // Positions in the text of a definition are relative to that text, not to the one that uses it.
  for (std::size_t from = 0;;) {
    constexpr std::string_view phrase = "in the definition of '";
    const auto start = message.find(phrase, from);
    if (start == std::string::npos) break;
    const auto end = message.find("', ", start);
    if (end == std::string::npos) break;
    const auto name = message.substr(start + phrase.size(), end - start - phrase.size());
    const auto found = std::find_if(problem_.definitions.begin(), problem_.definitions.end(),
                                    [&](const auto& definition) { return definition.name == name; });
    auto rest = message.substr(end + 3);
    const auto position = take_position(rest);
    from = end;
    if (found == problem_.definitions.end() || !position) continue;
    const auto inner = found->expression.at(offset_of(found->expression.text, *position));
    message = fmt::format("{} ({}): {}", message.substr(0, end + 1), inner.text(), rest);
  }
  return fmt::format("{}: {}: {}", place.text(), key, message);
}

form::Expr ProblemForms::point_expression(const io::Expression& text, const std::string& key) const {
  if (text.number) return {*text.number};
  return located(text, key, [&] {
    const auto result = form::parse_expression(text.text, point_scope_);
    if (result.rank() != 0)
      throw base::InputError(
          fmt::format("a scalar is expected, found an expression of {} (components of a vector are taken as x[0])",
                      form::shape_text(result.shape())));
    return result;
  });
}

std::vector<form::Expr> ProblemForms::point_components(std::span<const io::Expression> texts, std::size_t count,
                                                       const std::string& key) const {
  std::vector<form::Expr> result;
  if (texts.size() == count) {
    for (const auto& text : texts) result.push_back(point_expression(text, key));
    return result;
  }
  const auto vector = located(texts[0], key, [&] {
    auto found = form::parse_expression(texts[0].text, point_scope_);
    if (found.shape() != std::vector<int>{static_cast<int>(count)})
      throw base::InputError(fmt::format("a vector of {} components is expected, found an expression of {}", count,
                                         form::shape_text(found.shape())));
    return found;
  });
  for (std::size_t i = 0; i < count; ++i) result.push_back(vector[static_cast<int>(i)]);
  return result;
}

space::SpatialFunction ProblemForms::qfunction(std::span<const io::Expression> texts, std::span<const int> components,
                                               int num_components, const std::string& key) const {
  struct Part {
    std::size_t component;
    form::PointEvaluator evaluator;
    io::Expression text;
  };
  std::vector<Part> parts;
  const auto count = components.empty() ? static_cast<std::size_t>(num_components) : components.size();
  const auto expressions = point_components(texts, count, key);
  for (std::size_t i = 0; i < count; ++i) {
    const auto component = components.empty() ? i : static_cast<std::size_t>(components[i]);
    const auto& text = texts[texts.size() == count ? i : 0];
    parts.push_back({component, located(text, key, [&] { return form::PointEvaluator(expressions[i]); }), text});
  }
  return [parts = std::move(parts), num_components, key](std::span<const double> x, std::span<double> values) {
    std::fill_n(values.begin(), num_components, 0.0);
    for (const auto& part : parts) {
      double& value = values[part.component];
      part.evaluator(x, std::span(&value, 1));
      if (!std::isfinite(value))
        refuse(part.text.location, key,
               fmt::format("'{}' is {} at x = {}", part.text.text, base::number_text(value), mesh::describe_point(x)));
    }
  };
}

form::Scope ProblemForms::with_everything(form::Scope scope) const {
  if (problem_.time) scope.add(form::time_name, form::coefficient(time_));
  for (const auto& [data, value] : coefficients_) scope.add(data->name, value);
  for (const auto& definition : problem_.definitions) scope.define(signature(definition), definition.expression.text);
  return explained(problem_, std::move(scope));
}

form::Form ProblemForms::parse_form(const io::Expression& text, const std::string& key,
                                    const form::Scope& scope) const {
  auto form = located(text, key, [&] { return form::parse_form(text.text, scope); });
  if (!problem_.time) require_no_time_derivative(form::has_time_derivative(form), text, key);
  app::require_tags_of(mesh_, form, text, key);
  return form;
}

std::vector<form::Expr> ProblemForms::fields() const {
  std::vector<form::Expr> result;
  for (std::size_t i = 0; i < spaces_.size(); ++i) result.push_back(form::field(spaces_[i], spaces_[i]->name));
  return result;
}

form::Scope ProblemForms::residual_scope() const {
  form::Scope scope(mesh_.gdim);
  for (const auto& space : spaces_) scope.add_field(space);
  scope.add_test_functions(spaces_);
  return scope;
}

form::Form ProblemForms::residual() const {
  auto scope = residual_scope();
  scope.add(solvers::load_factor_name, form::constant(solvers::load_factor_name, 1));
  const auto& text = *problem_.forms.F;
  auto form = parse_form(text, "forms.F", with_everything(std::move(scope)));
  if (form.rank() != 1)
    refuse(text.location, "forms.F",
           fmt::format("a residual form is expected: every term with a test function; found a form of rank {} (0: no "
                       "test function)",
                       form.rank()));
  return form;
}

form::Form ProblemForms::bilinear() const {
  form::Scope scope(mesh_.gdim);
  scope.add_arguments(spaces_);
  auto form = parse_form(problem_.forms.a, "forms.a", with_everything(std::move(scope)));
  if (form.rank() != 2)
    refuse(problem_.forms.a.location, "forms.a",
           fmt::format("a bilinear form is expected: every term with an unknown and a test function; found a form of "
                       "rank {} (0: neither, 1: a test function alone)",
                       form.rank()));
  return form;
}

form::Form ProblemForms::preconditioner() const {
  const auto& text = *problem_.forms.preconditioner;
  form::Scope scope(mesh_.gdim);
  scope.add_arguments(spaces_);
  auto form = parse_form(text, "forms.preconditioner", with_everything(std::move(scope)));
  if (form.rank() != 2)
    refuse(text.location, "forms.preconditioner",
           fmt::format("a bilinear form is expected: every term with an unknown and a test function; found a form of "
                       "rank {} (0: neither, 1: a test function alone)",
                       form.rank()));
  return form;
}

std::optional<form::Form> ProblemForms::linear() const {
  if (!problem_.forms.L) return std::nullopt;
  form::Scope scope(mesh_.gdim);
  scope.add_arguments(spaces_);
  auto form = parse_form(*problem_.forms.L, "forms.L", with_everything(std::move(scope)));
  const auto lowered = located(*problem_.forms.L, "forms.L", [&] { return form::lower(form); });
  if (lowered.integrals.empty()) return std::nullopt;
  if (form.rank() != 1)
    refuse(problem_.forms.L->location, "forms.L",
           fmt::format("a linear form is expected: every term with a test function and no unknown; found a form of "
                       "rank {} (0: no test function, 2: unknown and test function)",
                       form.rank()));
  return form;
}

form::FunctionalText ProblemForms::functional(const io::Functional& functional) const {
  const auto& numbers = functional_numbers_;
  form::Scope scope(mesh_.gdim);
  for (const auto& space : spaces_) scope.add_field(space);
  auto everything = with_everything(std::move(scope));
  // If a field, a coefficient or a definition has the name of a functional, the name stands for that.
  for (const auto& number : numbers)
    if (everything.find(number->name) == nullptr && everything.find_definition(number->name) == nullptr &&
        !form::is_language_name(number->name))
      everything.add(number->name, form::coefficient(number));
  const std::string key = "functionals." + functional.name;
  auto result = located(functional.form, key, [&] { return form::parse_functional(functional.form.text, everything); });
  for (const auto& integral : result.integrals)
    require_no_time_derivative(form::has_time_derivative(integral.form), functional.form, key);
  const auto own = std::ranges::find(numbers, functional.name, &form::CoefficientData::name);
  const auto require_known = [&](const std::vector<form::CoefficientComponent>& parameters) {
    for (const auto& parameter : parameters)
      if (const auto used = std::ranges::find(own, numbers.end(), parameter.coefficient); used != numbers.end())
        refuse(functional.form.location, key,
               used == own ? "the functional is defined by itself"
                           : fmt::format("the functional '{}' comes later in the file; accepted are those before",
                                         (*used)->name));
  };
  require_known(form::lower(result.value).parameters);
  for (const auto& integral : result.integrals) {
    app::require_tags_of(mesh_, integral.form, functional.form, key);
    require_known(located(functional.form, key, [&] { return form::lower(integral.form); }).parameters);
  }
  return result;
}

std::shared_ptr<const form::LoweredExpression> ProblemForms::output_field(const io::OutputExpression& field) const {
  form::Scope scope(mesh_.gdim);
  for (const auto& space : spaces_) scope.add_field(space);
  scope.add_test_functions(spaces_); // a message can then say more than that the name is unknown
  const auto everything = with_everything(std::move(scope));
  return located(field.expression, "output.fields." + field.name, [&] {
    const auto expression = form::parse_expression(field.expression.text, everything);
    if (form::has_time_derivative(expression))
      throw base::InputError("dt() has a value in forms.F and forms.a only, where a step in time gives it one");
    auto result = form::lower(expression);
    const auto& shape = result.shape;
    if (shape.size() > 2 || (shape.size() == 2 && std::max(shape[0], shape[1]) > 3))
      throw base::InputError(
          fmt::format("accepted are scalars, vectors and matrices up to 3 x 3, found {}", form::shape_text(shape)));
    return std::make_shared<const form::LoweredExpression>(std::move(result));
  });
}

} // namespace rafter::app
