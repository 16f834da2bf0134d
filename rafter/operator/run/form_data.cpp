// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/form_data.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {

namespace {

std::int64_t num_values(const form::FieldSpace& space) {
  const auto* function_space = dynamic_cast<const space::FunctionSpace*>(&space);
  if (function_space == nullptr)
    throw base::InputError("data field on '" + space.name + "' has no mesh: use a FunctionSpace");
  return function_space->num_local();
}

/// Message for a name that is none of the `known` ones.
std::string unknown_name(const std::string& name, const char* what, std::vector<std::string> known) {
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  return fmt::format("the form has no {} '{}'{}; it has {}", what, name, base::suggestion(name, known),
                     known.empty() ? "none" : base::join(known, ", "));
}

} // namespace

FormData::FormData(const form::LoweredForm& form, std::shared_ptr<device::Device> device)
    : device_(std::move(device)), components_(form.parameters), parameters_(device_, parameter_values(form)),
      parameter_versions_(form.parameters.size(), 1) {
  for (std::size_t i = 0; i < form.fields.size(); ++i)
    fields_.push_back({.name = form.field_names[i],
                       .space = form.fields[i],
                       .size = num_values(*form.fields[i]),
                       .values = {},
                       .ghosts = nullptr});
}

void FormData::copy(Field& field, const Vector& values, std::int32_t begin) {
  const auto size = static_cast<std::size_t>(field.size);
  if (!field.values) field.values.emplace(device_, size);
  field.values->copy_from(values, static_cast<std::size_t>(begin), 0, size);
  field.version = ++version_;
}

void FormData::update_ghosts(Field& field) {
  const auto& space = dynamic_cast<const space::FunctionSpace&>(*field.space);
  if (space.exchange() == nullptr) return;
  if (field.ghosts == nullptr)
    field.ghosts = std::make_unique<const Ghosts>(device_, std::vector{Ghosts::Field{&space}});
  field.ghosts->finish_update(field.ghosts->start_update(*field.values));
}

void FormData::set(const std::string& name, const Vector& values) {
  set(name, values, {0, static_cast<std::int32_t>(values.size())});
}

void FormData::set(const std::string& name, const Vector& values, const EntryRange& range) {
  Field* found = nullptr;
  for (auto& field : fields_) {
    if (field.name != name) continue;
    if (found != nullptr)
      throw base::InputError(
          fmt::format("several data fields of the form are called '{}': give them names of their own", name));
    found = &field;
  }
  if (found == nullptr) {
    std::vector<std::string> known;
    for (const auto& field : fields_) known.push_back(field.name);
    throw base::InputError(unknown_name(name, "data field", std::move(known)));
  }
  if (range.end - range.begin != found->size)
    throw base::InputError(fmt::format("the vector of data field '{}' has {} entries, its space has {}", name,
                                       range.end - range.begin, found->size));
  copy(*found, values, range.begin);
  update_ghosts(*found);
}

void FormData::set(const std::string& name, std::span<const double> values) {
  std::vector<std::string> known;
  bool is_found = false;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const auto& [data, component] = components_[i];
    known.push_back(data->name);
    if (data->name != name) continue;
    is_found = true;
    if (values.size() != data->values.size())
      throw base::InputError(
          fmt::format("parameter '{}' has {} components, found {} values", name, data->values.size(), values.size()));
  }
  if (!is_found) throw base::InputError(unknown_name(name, "parameter", std::move(known)));
  for (const double value : values)
    if (!std::isfinite(value)) throw base::InputError(fmt::format("parameter '{}' is not finite", name));
  const auto to = parameters_.host_write();
  ++version_;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    if (components_[i].coefficient->name != name) continue;
    to[i] = values[static_cast<std::size_t>(components_[i].component)];
    parameter_versions_[i] = version_;
  }
}

void FormData::set_fields(const System& system, const Vector& values) {
  check_size(system, values, "the vector of the fields");
  for (auto& field : fields_)
    for (std::size_t f = 0; f < system.spaces.size(); ++f) {
      if (system.spaces[f].get() != field.space.get()) continue;
      copy(field, values, system.entries(f).begin);
      update_ghosts(field);
    }
}

bool FormData::has_parameter(const std::string& name) const {
  return std::ranges::any_of(components_, [&](const auto& component) { return component.coefficient->name == name; });
}

void FormData::set_missing() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.5, 1);
  for (auto& field : fields_) {
    if (field.values) continue;
    Vector values(device_, static_cast<std::size_t>(field.size));
    for (double& value : values.host_overwrite()) value = uniform(random);
    field.values = std::move(values);
    field.version = ++version_;
  }
  if (missing_parameters().empty()) return;
  ++version_;
  const auto parameters = parameters_.host_write();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (std::isnan(parameters[i])) {
      parameters[i] = uniform(random);
      parameter_versions_[i] = version_;
    }
}

void FormData::add_to(device::BufferRegistry& registry, std::size_t first) const {
  registry.add(schedule::role::parameters, 0, parameters_.device_read());
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (fields_[i].values)
      registry.add(schedule::role::input_vector, static_cast<int>(first + i), fields_[i].values->device_read());
}

std::vector<std::string> FormData::missing_fields() const {
  std::vector<std::string> result;
  for (const auto& field : fields_)
    if (!field.values) result.push_back(field.name);
  return result;
}

std::vector<std::string> FormData::missing_parameters() const {
  std::vector<std::string> result;
  const auto values = parameters_.host_read();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isnan(values[i])) result.push_back(components_[i].coefficient->name);
  return result;
}

void FormData::require_values() const {
  const auto fields = missing_fields(), parameters = missing_parameters();
  if (!fields.empty())
    throw base::InputError(fmt::format("the form has data fields ({}) whose values are not given: set them by name",
                                       base::join(fields, ", ")));
  if (!parameters.empty())
    throw base::InputError(fmt::format("the form has parameters ({}) whose values are not given: set them by name",
                                       base::join(parameters, ", ")));
}

const Vector& FormData::field(std::size_t i) const {
  if (!fields_[i].values) require_values();
  return *fields_[i].values;
}

} // namespace rafter::op
