// SPDX-License-Identifier: BSD-3-Clause
// This file reads the sections coefficients, definitions, forms and functionals.
#include <algorithm>
#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/functions.hpp>
#include <rafter/io/problem_sections.hpp>
#include <rafter/solve/residual_problem.hpp>

namespace rafter::io {
namespace {

constexpr int max_data_components = 9;
constexpr auto accepted_tables =
    "{ by_tag = { tag = number, ... } }, { file = \"result.vtkhdf\", field = \"name\" } or { value = \"expression\" }";

std::string normalised_tag(const Value::Key& key, const std::string& path) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_number = !key.name.empty() && std::all_of(key.name.begin(), key.name.end(), is_digit);
  if (base::trimmed(key.name).empty() || (is_number && key.name.size() > 9))
    refuse(key.location, path,
           fmt::format("\"{}\" is no tag; accepted is a number or the name of a physical group", key.name));
  return is_number ? std::to_string(base::parse_integer(key.name)) : key.name;
}

void read_by_tag(const Value& value, const std::string& path, Coefficient& coefficient) {
  const TableReader table(value, path);
  if (value.keys.empty()) refuse_value(value, path, "a table { tag = number, ... } with at least one tag");
  coefficient.is_by_tag = true;
  for (std::size_t i = 0; i < value.keys.size(); ++i) {
    const std::string tag = normalised_tag(value.keys[i], path), tag_path = path + "." + value.keys[i].name;
    for (const auto& entry : coefficient.by_tag)
      if (entry.first == tag) refuse(value.keys[i].location, tag_path, fmt::format("tag {} is given twice", tag));
    TensorExpression tensor = read_tensor(value.items[i], tag_path);
    if (!tensor.is_constant()) refuse_value(value.items[i], tag_path, "numbers (an expression may not vary by tag)");
    if (i > 0 && tensor.shape != coefficient.by_tag[0].second.shape)
      refuse_value(value.items[i], tag_path,
                   fmt::format("a value of the same shape as that of tag {}", coefficient.by_tag[0].first));
    coefficient.by_tag.emplace_back(tag, std::move(tensor));
  }
  coefficient.value.shape = coefficient.by_tag[0].second.shape;
  coefficient.value.location = value.location;
}

/// Reads { file, field, ... } or { value, ... }.
void read_data(const TableReader& table, const std::string& directory, Coefficient& coefficient) {
  auto& data = coefficient.data.emplace();
  data.degree = table.integer("degree", 1, element::max_lagrange_degree);
  if (const Value* value = table.find("value")) {
    table.accept_only(std::vector<std::string>{"value", "degree"});
    coefficient.value = read_tensor(*value, table.path("value"));
    if (coefficient.value.shape.size() > 1) refuse_value(*value, table.path("value"), "a scalar or a vector");
    return;
  }
  table.accept_only(std::vector<std::string>{"file", "field", "degree", "components"});
  data.components = table.integer("components", 1, max_data_components);
  data.source = read_result_source(table, directory);
}

Coefficient read_coefficient(const std::string& name, const Value& value, const Location& location,
                             const std::string& directory) {
  Coefficient coefficient{.name = name, .location = location};
  const std::string path = "coefficients." + name;
  if (value.kind == Value::Kind::table) {
    const TableReader table(value, path);
    table.accept_only(std::vector<std::string>{"by_tag", "file", "field", "components", "value", "degree"});
    if (const Value* by_tag = table.find("by_tag")) {
      table.accept_only(std::vector<std::string>{"by_tag"});
      read_by_tag(*by_tag, path + ".by_tag", coefficient);
    } else if (table.find("file") != nullptr || table.find("value") != nullptr)
      read_data(table, directory, coefficient);
    else
      refuse_value(value, path, accepted_tables);
    return coefficient;
  }
  if (value.kind == Value::Kind::boolean || value.kind == Value::Kind::date)
    refuse_value(value, path, std::string("a number, an expression (string), a list of these, or ") + accepted_tables);
  coefficient.value = read_tensor(value, path);
  return coefficient;
}

/// Reads the left side of a definition: name or name(a, b).
Definition read_signature(const std::string& text, const Location& location) {
  const std::string path = "definitions.\"" + text + "\"";
  constexpr auto accepted = "accepted is name = \"expression\" or \"name(a, b)\" = \"expression\"";
  Definition definition{.location = location};
  const auto open = text.find('(');
  definition.name = std::string(base::trimmed(text.substr(0, open)));
  definition.is_function = open != std::string::npos;
  if (!is_identifier(definition.name))
    refuse(location, path, fmt::format("'{}' is not a name; {}", definition.name, accepted));
  if (!definition.is_function) return definition;
  const auto tail = base::trimmed(std::string_view(text).substr(open + 1));
  if (!tail.ends_with(')')) refuse(location, path, fmt::format("no closing parenthesis at the end; {}", accepted));
  for (const auto& part : base::split(tail.substr(0, tail.size() - 1), ',')) {
    const std::string parameter(base::trimmed(part));
    if (!is_identifier(parameter))
      refuse(location, path, fmt::format("'{}' is not a parameter name; {}", parameter, accepted));
    if (std::find(definition.parameters.begin(), definition.parameters.end(), parameter) != definition.parameters.end())
      refuse(location, path, fmt::format("parameter '{}' is given twice", parameter));
    definition.parameters.push_back(parameter);
  }
  return definition;
}

Expression read_form(const Value& value, const std::string& path) {
  if (value.kind != Value::Kind::string || base::trimmed(value.text).empty())
    refuse_value(value, path, "a form as text, such as \"inner(grad(u), grad(v))*dx\"");
  return read_expression(value, path);
}

bool is_test_name(const std::string& name, const Problem& problem) {
  if (problem.fields.size() == 1 && name == "v") return true;
  return std::any_of(problem.fields.begin(), problem.fields.end(),
                     [&](const Field& field) { return name == "v_" + field.name; });
}

} // namespace

void require_name(const std::string& name, const Location& location, std::string_view path, const Problem& problem) {
  if (!is_identifier(name))
    refuse(location, path,
           fmt::format("'{}' is not a name: accepted are letters, digits and _, not starting with a digit", name));
  if (form::is_language_name(name))
    refuse(location, path, fmt::format("'{}' has a meaning of its own in forms; choose another name", name));
  if (is_test_name(name, problem)) refuse(location, path, fmt::format("'{}' is the name of a test function", name));
}

void require_free_name(const std::string& name, const Location& location, std::string_view path,
                       const Problem& problem) {
  require_name(name, location, path, problem);
  const auto has_name = [&](const auto& entry) { return entry.name == name; };
  if (std::any_of(problem.fields.begin(), problem.fields.end(), has_name))
    refuse(location, path, fmt::format("'{}' is the name of a field already", name));
  if (std::any_of(problem.coefficients.begin(), problem.coefficients.end(), has_name))
    refuse(location, path, fmt::format("'{}' is the name of a coefficient already", name));
  if (std::any_of(problem.definitions.begin(), problem.definitions.end(), has_name))
    refuse(location, path, fmt::format("'{}' is defined already", name));
}

void read_coefficients(const TableReader& table, const std::string& directory, Problem& problem) {
  for (std::size_t i = 0; i < table.value().keys.size(); ++i) {
    const auto& [name, location] = table.value().keys[i];
    require_free_name(name, location, "coefficients." + name, problem);
    problem.coefficients.push_back(read_coefficient(name, table.value().items[i], location, directory));
  }
}

void read_definitions(const TableReader& table, Problem& problem) {
  for (std::size_t i = 0; i < table.value().keys.size(); ++i) {
    const auto& [text, location] = table.value().keys[i];
    Definition definition = read_signature(text, location);
    require_free_name(definition.name, location, "definitions." + definition.name, problem);
    definition.expression = read_expression(table.value().items[i], "definitions." + definition.name);
    problem.definitions.push_back(std::move(definition));
  }
}

namespace {

/// Forms.F may use this name for the factor by which loads are scaled in load steps, so that nothing else may have it.
void refuse_load_factor(const Problem& problem) {
  const auto require_other_name = [](const auto& entries, const std::string& section) {
    for (const auto& entry : entries)
      if (entry.name == solvers::load_factor_name)
        refuse(entry.location, section + entry.name,
               "beside forms.F the name has a meaning of its own, the share of the loads in a load step; choose "
               "another name");
  };
  require_other_name(problem.fields, "fields.");
  require_other_name(problem.coefficients, "coefficients.");
  require_other_name(problem.definitions, "definitions.");
}

} // namespace

void read_forms(const TableReader& table, Problem& problem) {
  table.accept_only(std::vector<std::string>{"a", "L", "F", "preconditioner"});
  if (const Value* form = table.find("preconditioner"))
    problem.forms.preconditioner = read_form(*form, "forms.preconditioner");
  if (const Value* residual = table.find("F")) {
    for (const std::string key : {"a", "L"})
      if (table.find(key) != nullptr)
        refuse(
            residual->location, "forms.F",
            fmt::format("stands beside forms.{}; accepted is either a residual form F, whose terms are all that is to "
                        "vanish, or a bilinear form a with a linear form L",
                        key));
    problem.forms.F = read_form(*residual, "forms.F");
    refuse_load_factor(problem);
    return;
  }
  for (const auto& field : problem.fields)
    if ((!field.initial.empty() || field.initial_source) && !problem.time)
      refuse(field.initial_source ? field.initial_source->location : field.initial.front().location,
             "fields." + field.name + ".initial",
             "is where Newton's method starts (forms.F) or the value at the first time ([time]); a linear problem "
             "(forms.a) needs no starting value");
  problem.forms.a = read_form(table.require("a", "the bilinear form, or F, the residual form, as text"), "forms.a");
  if (const Value* load = table.find("L")) problem.forms.L = read_form(*load, "forms.L");
}

void read_functionals(const TableReader& table, Problem& problem) {
  for (std::size_t i = 0; i < table.value().keys.size(); ++i) {
    const auto& [name, location] = table.value().keys[i];
    if (!is_identifier(name)) refuse(location, "functionals", fmt::format("'{}' is not a name", name));
    problem.functionals.push_back({name, read_form(table.value().items[i], "functionals." + name)});
  }
}

} // namespace rafter::io
