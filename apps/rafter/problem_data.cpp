// SPDX-License-Identifier: BSD-3-Clause
#include "problem_data.hpp"

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/io/vtkhdf_reader.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::app {
namespace {

/// Runs an operation, and adds the place and the key to its InputErrors.
template <class Operation>
auto located(const io::Location& location, const std::string& key, const Operation& operation) {
  try {
    return operation();
  } catch (const base::InputError& error) {
    throw base::InputError(fmt::format("{}: {}: {}", location.text(), key, error.what()));
  }
}

/// Returns the components of a field of a file, where vectors of the plane are padded to three.
int default_components(const io::VtkHdfReader& file, const std::string& name) {
  const int count = file.num_components(name);
  return count == 3 && file.dimension() == 2 ? 2 : count;
}

} // namespace

std::vector<base::NamedFile> input_files(const io::Problem& problem) {
  std::vector<base::NamedFile> files{{"the problem file", problem.source}, {"the mesh", problem.mesh.file}};
  if (problem.time) files.push_back({"time.restart", problem.time->restart});
  for (const auto& field : problem.fields)
    if (field.initial_source) files.push_back({"fields." + field.name + ".initial.file", field.initial_source->file});
  for (const auto& coefficient : problem.coefficients)
    if (coefficient.data && coefficient.data->source)
      files.push_back({"coefficients." + coefficient.name + ".file", coefficient.data->source->file});
  return files;
}

void read_result(const io::ResultSource& source, const std::string& key, const space::FunctionSpace& space,
                 std::span<double> values) {
  located(source.location, key, [&] {
    const io::VtkHdfReader file(source.file);
    space::interpolate(space, file.function(source.field, space.num_components()), values);
  });
}

form::Expr ProblemData::add(const io::Coefficient& coefficient, const form::Expr* value) {
  const auto& data = *coefficient.data;
  const auto key = "coefficients." + coefficient.name;
  if (value != nullptr) {
    if (value->rank() > 1)
      throw base::InputError(fmt::format("{}: {}: accepted are scalars and vectors, found an expression of {}",
                                         coefficient.location.text(), key, form::shape_text(value->shape())));
    auto& field =
        make(coefficient.name, value->rank() == 0 ? 0 : value->shape()[0], data.degree.value_or(default_degree_));
    located(coefficient.location, key, [&] { fill(field, *value); });
    return form::field(field.space, coefficient.name);
  }
  return located(coefficient.location, key, [&] {
    const io::VtkHdfReader file(data.source->file);
    const int components = data.components ? *data.components : default_components(file, data.source->field);
    auto& field = make(coefficient.name, components == 1 ? 0 : components, data.degree.value_or(file.order()));
    space::interpolate(*field.space, file.function(data.source->field, components), field.values->host_overwrite());
    return form::field(field.space, coefficient.name);
  });
}

ProblemData::Field& ProblemData::make(const std::string& name, int components, int degree) {
  auto space = space::FunctionSpace::make(discretisation_, {.degree = degree, .components = components, .name = name});
  const auto size = static_cast<std::size_t>(space->num_local());
  return fields_.emplace_back(Field{std::move(space), std::make_shared<op::Vector>(device_, size)});
}

/// Expressions of x are evaluated at the nodes. Expressions that hold fields or jump between tags have no single value
/// there, and are projected.
void ProblemData::fill(Field& field, const form::Expr& value) const {
  auto lowered = std::make_shared<const form::LoweredExpression>(form::lower(value));
  const auto is_time = [](const auto& parameter) { return parameter.coefficient->name == form::time_name; };
  if (is_in_time_ && std::ranges::any_of(lowered->parameters, is_time))
    throw base::InputError(
        "a field has its values from the start to the end, and may not hold the time t; a coefficient that is a "
        "plain expression may");
  if (lowered->fields.empty() && lowered->cell_coefficients.empty()) {
    const form::PointEvaluator evaluator(value);
    space::interpolate(
        *field.space, [&](std::span<const double> x, std::span<double> values) { evaluator(x, values); },
        field.values->host_overwrite());
    return;
  }
  std::vector<double> projected(field.values->size());
  space::project(*field.space, lowered, values(), projected);
  std::ranges::copy(projected, field.values->host_overwrite().begin());
}

std::vector<problem::NamedValues> ProblemData::named_values() const {
  std::vector<problem::NamedValues> result;
  for (const auto& field : fields_) result.emplace_back(field.space->name, field.values, field.space);
  return result;
}

std::vector<space::FieldValues> ProblemData::values() const {
  std::vector<space::FieldValues> result;
  for (const auto& field : fields_) result.push_back({field.space, field.values->host_read()});
  return result;
}

op::QuadratureOptions quadrature_options(const io::Problem& problem) {
  const auto& numerics = problem.numerics;
  op::QuadratureOptions result{.kind = numerics.quadrature, .degree = numerics.degree};
  if (numerics.points) result.points = numerics.points->points(problem.max_degree());
  if (numerics.max_degree) result.max_degree = *numerics.max_degree;
  return result;
}

} // namespace rafter::app
