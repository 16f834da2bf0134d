// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/multigrid_levels.hpp>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {
namespace {

std::shared_ptr<const NullSpace> null_space_of(const op::Level& level, const op::System& finest,
                                               std::span<const NullSpaceCondition> conditions) {
  if (conditions.empty()) return nullptr;
  std::vector<NullSpaceCondition> own(conditions.begin(), conditions.end());
  for (auto& condition : own) condition.space = level.system.spaces[finest.index_of(*condition.space)];
  try {
    return make_null_space(*level.A, own, {.planner = level.A->built().options.planner}).null_space();
  } catch (const base::InputError& error) {
    throw base::InputError(
        fmt::format("multigrid: the level of {}: {}", op::describe_level(level.system), error.what()));
  }
}

} // namespace

std::shared_ptr<const MultigridHierarchy> make_hierarchy(std::vector<op::Level> levels, const op::System& finest,
                                                         std::span<const NullSpaceCondition> conditions,
                                                         std::shared_ptr<const op::Operator> symmetric_part) {
  auto result = std::make_shared<MultigridHierarchy>();
  result->finest_name = op::describe_level(finest);
  result->symmetric_part = std::move(symmetric_part);
  for (auto& level : levels) {
    auto null_space = null_space_of(level, finest, conditions);
    result->coarser.push_back({.A = std::move(level.A),
                               .to_finer = std::move(level.to_finer),
                               .null_space = std::move(null_space),
                               .name = op::describe_level(level.system)});
  }
  return result;
}

} // namespace rafter::solvers
