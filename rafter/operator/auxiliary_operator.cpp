// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/auxiliary_operator.hpp>

#include <algorithm>
#include <map>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/form/bilinear_parts.hpp>

namespace rafter::op {
namespace {

void take_parameters(Operator& to, const Operator& from) {
  const auto& components = from.form().parameters;
  const auto values = from.data().parameters().host_read();
  std::map<std::string, std::vector<double>> by_name;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const auto& coefficient = *components[i].coefficient;
    auto& of_name = by_name.try_emplace(coefficient.name, coefficient.values).first->second;
    of_name[static_cast<std::size_t>(components[i].component)] = values[i];
  }
  for (const auto& [name, of_name] : by_name)
    if (to.data().has_parameter(name)) to.set(name, of_name);
}

void take_data_fields(Operator& to, const Operator& from) {
  const auto& names = from.form().field_names;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (from.data().field_version(i) > 0 && std::ranges::count(to.form().field_names, names[i]) == 1)
      to.set(names[i], from.data().field(i));
}

/// The form of the block of a field.
form::Form block_form(const form::Form& form, const std::shared_ptr<const space::FunctionSpace>& space, bool& is_mass) {
  const auto block = form::diagonal_block(form, space);
  is_mass = block.rank() != 2 || form::lower(block).integrals.empty();
  if (!is_mass) return form::symmetric_part(block);
  const auto [u, v] = form::arguments(std::shared_ptr<const form::FieldSpace>(space));
  return form::inner(u, v) * form::dx;
}

} // namespace

GeneratedAuxiliary generate_auxiliary(form::Form form, System system, std::span<const FieldCondition> conditions,
                                      KernelOptions kernels) {
  kernels.plan.reset();
  GeneratedAuxiliary result{.form = std::move(form),
                            .system = std::move(system),
                            .conditions = {},
                            .kernels = std::move(kernels),
                            .action = nullptr,
                            .diagonal = nullptr};
  std::ranges::copy_if(conditions, std::back_inserter(result.conditions), [&](const FieldCondition& condition) {
    return std::ranges::find(result.system.spaces, condition.space) != result.system.spaces.end();
  });
  const auto lowered = form::lower(result.form);
  result.action = build_form(lowered, result.system, Purpose::action, result.kernels);
  if (result.action->matrix == nullptr)
    result.diagonal = build_form(lowered, result.system, Purpose::diagonal, result.kernels);
  return result;
}

GeneratedAuxiliary generate_symmetric_part(const form::LoweredForm& form, const System& system,
                                           std::span<const FieldCondition> conditions, const KernelOptions& kernels) {
  if (form::is_symmetric(form)) return {};
  if (form.source == nullptr) throw base::InputError("the symmetric part of a form needs the form as it was written");
  return generate_auxiliary(form::symmetric_part(*form.source), system, conditions, kernels);
}

void take_values(Operator& to, const Operator& from) {
  take_parameters(to, from);
  take_data_fields(to, from);
}

std::shared_ptr<Operator> make_auxiliary(const GeneratedAuxiliary& generated, const Operator& A) {
  auto result = std::make_shared<Operator>(generated.action, generated.conditions, generated.diagonal);
  take_values(*result, A);
  return result;
}

std::vector<GeneratedFieldBlock> generate_field_blocks(const form::Form& form, const System& system,
                                                       std::span<const FieldCondition> conditions,
                                                       const KernelOptions& kernels) {
  std::vector<GeneratedFieldBlock> result;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    bool is_mass = false;
    auto of_field = block_form(form, system.spaces[f], is_mass);
    result.push_back(
        {f, is_mass, generate_auxiliary(std::move(of_field), make_system({system.spaces[f]}), conditions, kernels)});
  }
  return result;
}

std::vector<std::shared_ptr<GeneratedForm>> kernels_of(const GeneratedAuxiliary& generated) {
  std::vector<std::shared_ptr<GeneratedForm>> result;
  for (const auto& form : {generated.action, generated.diagonal})
    if (form != nullptr) result.push_back(form);
  return result;
}

} // namespace rafter::op
