// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/operator_options.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {

namespace {

std::shared_ptr<const space::FunctionSpace> as_function_space(const std::shared_ptr<const form::FieldSpace>& space) {
  auto result = std::dynamic_pointer_cast<const space::FunctionSpace>(space);
  if (result == nullptr)
    throw base::InputError("field '" + space->name + "' has no mesh: use arguments of a FunctionSpace");
  return result;
}

form::LoweredForm lower_of_rank(const form::Form& form, int rank, const char* what) {
  auto lowered = form::lower(form);
  if (lowered.rank != rank)
    throw base::InputError(fmt::format("{} is expected, found a form of rank {} (0 functional, 1 linear, 2 bilinear)",
                                       what, lowered.rank));
  return lowered;
}

/// Makes a system of these spaces, in which each appears once.
System system_on(const std::vector<std::shared_ptr<const form::FieldSpace>>& all) {
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  for (const auto& space : all) {
    auto function_space = as_function_space(space);
    if (std::find(spaces.begin(), spaces.end(), function_space) == spaces.end())
      spaces.push_back(std::move(function_space));
  }
  return make_system(std::move(spaces));
}

} // namespace

int cells_per_batch(const std::string& text) {
  const auto plan = schedule::parse_plan(text);
  return std::max(plan[schedule::key::vector_width] * plan[schedule::key::subbatches],
                  mesh::CellBatches().cells_per_batch);
}

std::shared_ptr<device::Device> device_of(const OperatorOptions& options) {
  return options.shared_device != nullptr ? options.shared_device
                                          : device::make_device(options.device, options.threads);
}

std::shared_ptr<device::Device> device_of(const OperatorOptions& options, const space::Discretisation& discretisation) {
  return options.shared_device != nullptr ? options.shared_device
                                          : discretisation.device(options.device, options.threads);
}

KernelOptions kernel_options(const OperatorOptions& options, KernelTarget target) {
  KernelOptions result;
  result.quadrature = options.quadrature;
  result.planner = options.planner;
  if (!options.plan.empty()) {
    result.plan =
        std::make_shared<const schedule::Plan>(schedule::parse_plan(options.plan, schedule::usual_plan(target.target)));
    schedule::require_mapping(*result.plan, target.target, target.name);
  }
  result.num_applications = options.num_applications;
  result.runs_few_times = options.runs_few_times;
  result.target = std::make_shared<const KernelTarget>(std::move(target));
  return result;
}

KernelOptions kernel_options(const OperatorOptions& options, std::shared_ptr<device::Device> device) {
  auto result = kernel_options(options, kernel_target(*device));
  result.device = std::move(device);
  return result;
}

Systems systems_of(const form::Form& form) {
  const auto lowered = form::lower(form);
  if (lowered.rank == 0) return system_on(lowered.fields);
  auto test = system_on(lowered.test_spaces);
  if (lowered.rank == 1 || lowered.trial_spaces == lowered.test_spaces) return test;
  return {std::move(test), system_on(lowered.trial_spaces)};
}

space::Constraints make_constraints(const System& system, const std::vector<FieldCondition>& conditions) {
  space::Constraints result;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    std::vector<space::DirichletCondition> of_field;
    for (const auto& condition : conditions)
      if (condition.space == system.spaces[f]) of_field.push_back(condition.condition);
    const auto constraints = space::make_constraints(*system.spaces[f], of_field);
    for (const auto entry : constraints.entries)
      result.entries.push_back(entry + static_cast<std::int32_t>(system.offset(f)));
    result.values.insert(result.values.end(), constraints.values.begin(), constraints.values.end());
  }
  for (const auto& condition : conditions) (void)system.index_of(*condition.space);
  return result;
}

void FieldCondition::set_expression(form::PointEvaluator evaluator) {
  auto own = std::make_shared<const form::PointEvaluator>(std::move(evaluator));
  condition.value = [own](std::span<const double> x, std::span<double> values) { (*own)(x, values); };
  expression = std::move(own);
}

FieldCondition make_condition(std::shared_ptr<const space::FunctionSpace> space, std::vector<std::int32_t> tags,
                              const form::Expr& value) {
  form::PointEvaluator expression(value);
  if (expression.num_components() != space->num_components())
    throw base::InputError(fmt::format("a condition on '{}' needs {} components, its value has {}", space->name,
                                       space->num_components(), expression.num_components()));
  FieldCondition result{std::move(space), {.tags = std::move(tags), .is_all = false, .value = {}, .components = {}}};
  result.condition.is_all = result.condition.tags.empty();
  result.set_expression(std::move(expression));
  return result;
}

std::shared_ptr<GeneratedForm> build(const form::Form& form, int rank, const Systems& systems,
                                     const OperatorOptions& options, Purpose purpose) {
  constexpr std::array names{"a functional", "a linear form", "a bilinear form"};
  return build_form(lower_of_rank(form, rank, names.at(static_cast<std::size_t>(rank))), systems, purpose,
                    kernel_options(options, device_of(options, *systems.test.discretisation)));
}

std::shared_ptr<GeneratedForm> build(std::span<const form::Form> functionals, const System& system,
                                     const OperatorOptions& options) {
  return build_form(form::lower(functionals), system, Purpose::action,
                    kernel_options(options, device_of(options, *system.discretisation)));
}

std::shared_ptr<const GeneratedForm> build_compiled(const form::Form& form, int rank, const Systems& systems,
                                                    const OperatorOptions& options) {
  warn_of_left_out(*systems.test.mesh, form);
  return compiled(build(form, rank, systems, options));
}

} // namespace rafter::op
