// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/candidates.hpp>

#include <rafter/schedule/key_registry.hpp>

namespace rafter::tune {

using schedule::Plan;

std::vector<Plan> candidates(const schedule::PlanningProblem& problem, const schedule::KeyRegistry& keys) {
  const bool is_of_matrices = problem.matrix_plan != nullptr;
  std::vector<Plan> plans{is_of_matrices ? *problem.matrix_plan : Plan()};
  for (const auto* key : keys.varied()) {
    if (is_of_matrices && !key->is_tried_in_matrices) continue;
    std::vector<Plan> longer;
    for (const auto& plan : plans) {
      if (!keys.has(plan, *key)) {
        longer.push_back(plan);
        continue;
      }
      for (const auto& value : key->tried(problem, plan)) key->read(longer.emplace_back(plan), value);
    }
    plans = std::move(longer);
  }
  return plans;
}

double similarity(const Plan& a, const Plan& b, const schedule::KeyRegistry& keys) {
  double result = 1;
  for (const auto* key : keys.keys())
    if (keys.has(a, *key) && keys.has(b, *key) && key->text(a) != key->text(b)) result *= key->shared;
  return result;
}

} // namespace rafter::tune
