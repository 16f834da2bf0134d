// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/auxiliary_operator.hpp>

#include <algorithm>
#include <iterator>

#include <rafter/form/bilinear_parts.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_options.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

/// The form of the block of a field.
form::Form block_form(const form::Form& form, const std::shared_ptr<const space::FunctionSpace>& space, bool& is_mass) {
  const auto block = form::diagonal_block(form, space);
  is_mass = block.rank() != 2 || form::lower(block).integrals.empty();
  if (!is_mass) return form::symmetric_part(block);
  const auto [u, v] = form::arguments(std::shared_ptr<const form::FieldSpace>(space));
  return form::inner(u, v) * form::dx;
}

} // namespace

GeneratedAuxiliary generate_auxiliary(const form::LoweredForm& form, System system,
                                      std::span<const FieldCondition> conditions, KernelOptions kernels) {
  require_names_apart(form);
  kernels.plan.reset();
  GeneratedAuxiliary result{.system = std::move(system),
                            .conditions = {},
                            .kernels = std::move(kernels),
                            .action = nullptr,
                            .diagonal = nullptr};
  std::ranges::copy_if(conditions, std::back_inserter(result.conditions), [&](const FieldCondition& condition) {
    return std::ranges::find(result.system.spaces, condition.space) != result.system.spaces.end();
  });
  result.action = build_form(form, result.system, Purpose::action, result.kernels);
  if (result.action->matrix == nullptr)
    result.diagonal = build_form(form, result.system, Purpose::diagonal, result.kernels);
  return result;
}

GeneratedAuxiliary generate_own_level(const form::LoweredForm& form, const System& system,
                                      std::span<const FieldCondition> conditions, const KernelOptions& kernels) {
  if (form::is_symmetric(form) && kernels.precision == schedule::Precision::double_precision) return {};
  return generate_auxiliary(form::symmetric_part(form), system, conditions, kernels);
}

Auxiliary make_auxiliary(const GeneratedAuxiliary& generated, const Operator& A) {
  if (generated.action == nullptr) return {};
  Auxiliary result{.A = std::make_shared<Operator>(generated.action, generated.conditions, generated.diagonal),
                   .data = nullptr};
  result.data =
      std::make_shared<LevelData>(std::shared_ptr<const Operator>(std::shared_ptr<void>(), &A), result.A, nullptr);
  result.data->follow();
  return result;
}

std::vector<GeneratedFieldBlock> generate_field_blocks(const form::Form& form, const System& system,
                                                       std::span<const FieldCondition> conditions,
                                                       const KernelOptions& kernels,
                                                       std::span<const schedule::Precision> precisions) {
  std::vector<GeneratedFieldBlock> result;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    bool is_mass = false;
    auto of_field = block_form(form, system.spaces[f], is_mass);
    auto own = kernels;
    if (!precisions.empty()) own.precision = precisions[f];
    auto part = generate_auxiliary(form::lower(of_field), make_system({system.spaces[f]}), conditions, std::move(own));
    result.push_back({f, is_mass, std::move(of_field), std::move(part)});
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
