// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/multigrid_levels.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/levels/auxiliary_operator.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::solvers {
namespace {

bool has_rotations(std::span<const NullSpaceCondition> conditions) {
  return std::ranges::any_of(
      conditions, [](const auto& condition) { return condition.kind == NullSpaceCondition::Kind::rigid_modes; });
}

int highest_degree(const op::System& system) {
  int result = 1;
  for (const auto& space : system.spaces) result = std::max(result, space->degree);
  return result;
}

std::shared_ptr<const NullSpace> null_space_of(const op::Level& level, const op::System& finest,
                                               std::span<const NullSpaceCondition> conditions) {
  if (conditions.empty()) return nullptr;
  std::vector<NullSpaceCondition> own(conditions.begin(), conditions.end());
  for (auto& condition : own) condition.space = level.system.spaces[finest.index_of(*condition.space)];
  const auto find = [&] {
    return make_null_space(*level.A, own, {.planner = level.A->built().options.planner}).null_space();
  };
  try {
    if (!has_rotations(own)) return find();
    try {
      return find();
    } catch (const base::InputError&) {
      // Cells that are curved more than the level's degree knows hold no rotations: the level is regular but for
      // translations, and its small eigenvalues are those of the finer one, as its form is.
      for (auto& condition : own)
        if (condition.kind == NullSpaceCondition::Kind::rigid_modes) {
          condition.kind = NullSpaceCondition::Kind::mean;
          condition.values.assign(static_cast<std::size_t>(condition.space->num_components()), 0.0);
        }
      return find();
    }
  } catch (const base::InputError& error) {
    throw base::InputError(fmt::format("multigrid: the level of {}: {}", op::describe_level(level), error.what()));
  }
}

} // namespace

std::shared_ptr<const MultigridHierarchy> make_hierarchy(std::vector<op::Level> levels, const op::System& finest,
                                                         std::span<const NullSpaceCondition> conditions,
                                                         const op::Auxiliary& own_level) {
  auto result = std::make_shared<MultigridHierarchy>();
  result->finest_name = op::describe_level(finest);
  result->finest_degree = highest_degree(finest);
  // Null spaces are looked for with the values that the operator has now.
  if (own_level.A != nullptr) {
    result->finest = own_level.A;
    result->follow = [data = own_level.data] { return data->follow(); };
    result->follow();
  }
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) level->data->follow();
  for (auto& level : levels) {
    auto null_space = null_space_of(level, finest, conditions);
    auto name = op::describe_level(level);
    result->coarser.push_back({.A = std::move(level.A),
                               .to_finer = std::move(level.to_finer),
                               .null_space = std::move(null_space),
                               .name = std::move(name),
                               .degree = highest_degree(level.system),
                               .near_null_space = [system = level.system] { return make_near_null_space(system); },
                               .follow = [data = level.data] { return data->follow(); },
                               .retreat = [data = level.data] { return data->retreat(); }});
  }
  return result;
}

std::shared_ptr<const MultigridHierarchy> make_hierarchy(std::vector<op::Level> levels, const op::System& finest,
                                                         std::span<const NullSpaceCondition> conditions) {
  return make_hierarchy(std::move(levels), finest, conditions, op::Auxiliary());
}

} // namespace rafter::solvers
