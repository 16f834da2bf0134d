// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/level_data.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

std::shared_ptr<const space::FunctionSpace> function_space(const std::shared_ptr<const form::FieldSpace>& space) {
  auto result = std::dynamic_pointer_cast<const space::FunctionSpace>(space);
  if (result == nullptr) throw base::InputError("data field on '" + space->name + "' has no mesh: use a FunctionSpace");
  return result;
}

} // namespace

void require_names_apart(const form::LoweredForm& form) {
  for (const auto& name : form.field_names)
    if (std::ranges::count(form.field_names, name) > 1)
      throw base::InputError(fmt::format("several data fields of the form are called '{}', so that operators of a "
                                         "preconditioner do not know their values: give them names of their own",
                                         name));
}

LevelData::LevelData(std::shared_ptr<const Operator> finer, std::shared_ptr<Operator> coarser,
                     const mesh::Refinement* refinement, std::shared_ptr<const space::LowOrderRefinement> nodes)
    : finer_(std::move(finer)), coarser_(std::move(coarser)) {
  add_fields(refinement, nodes);
  add_parameters();
}

void LevelData::add_fields(const mesh::Refinement* refinement,
                           const std::shared_ptr<const space::LowOrderRefinement>& nodes) {
  using Space = std::shared_ptr<const space::FunctionSpace>;
  std::map<std::pair<Space, Space>, std::shared_ptr<const Injection>> injections; // fields may share spaces
  const auto &from = finer_->form(), &to = coarser_->form();
  for (std::size_t i = 0; i < from.fields.size(); ++i) {
    const auto found = std::ranges::find(to.field_names, from.field_names[i]);
    if (found == to.field_names.end()) continue;
    const auto number = static_cast<std::size_t>(found - to.field_names.begin());
    const auto fine = function_space(from.fields[i]), coarse = function_space(to.fields[number]);
    auto& injection = injections[{fine, coarse}];
    if (fine != coarse && injection == nullptr)
      injection = std::make_shared<const Injection>(
          InjectionSpecification{.fine = fine, .coarse = coarse, .refinement = refinement, .nodes = nodes});
    fields_.push_back({.name = from.field_names[i],
                       .number = i,
                       .injection = injection,
                       .size = coarse->num_local(),
                       .version = 0,
                       .values = {},
                       .before = {},
                       .has_changed = false});
  }
}

void LevelData::add_parameters() {
  const auto& of_finer = finer_->form().parameters;
  for (std::size_t i = 0; i < of_finer.size(); ++i) {
    const auto& [coefficient, component] = of_finer[i];
    if (!coarser_->data().has_parameter(coefficient->name)) continue;
    auto found = std::ranges::find(parameters_, coefficient->name, &Parameter::name);
    if (found == parameters_.end())
      found = parameters_.insert(found, {coefficient->name, std::vector(coefficient->values.size(), 0.0), {}, 0});
    found->components[i] = component;
  }
}

bool LevelData::follow() {
  bool has_changed = false;
  for (auto& field : fields_) has_changed = follow(field) || has_changed;
  for (auto& parameter : parameters_) has_changed = follow(parameter) || has_changed;
  return has_changed;
}

bool LevelData::follow(Field& field) {
  const auto version = finer_->data().field_version(field.number);
  field.has_changed = version != field.version;
  if (!field.has_changed) return false;
  field.version = version;
  const auto& values = finer_->data().field(field.number);
  std::swap(field.values, field.before);
  if (!field.values) field.values.emplace(coarser_->device(), static_cast<std::size_t>(field.size));
  if (field.injection != nullptr)
    field.injection->apply(values, *field.values);
  else
    field.values->copy_from(values, 0, 0, values.size());
  coarser_->set(field.name, *field.values);
  return true;
}

bool LevelData::retreat() {
  bool has_values = false;
  for (auto& field : fields_) {
    if (!field.has_changed || !field.before) continue;
    std::swap(field.values, field.before);
    coarser_->set(field.name, *field.values);
    field.has_changed = false;
    has_values = true;
  }
  return has_values;
}

bool LevelData::follow(Parameter& parameter) {
  const auto& data = finer_->data();
  const auto values = data.parameters().host_read();
  std::uint64_t version = 0;
  bool is_given = true;
  for (const auto& [number, component] : parameter.components) {
    version = std::max(version, data.parameter_version(number));
    parameter.values[static_cast<std::size_t>(component)] = values[number];
    is_given = is_given && !std::isnan(values[number]);
  }
  if (version == parameter.version || !is_given) return false;
  parameter.version = version;
  coarser_->set(parameter.name, parameter.values);
  return true;
}

} // namespace rafter::op
