// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/planners.hpp>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <rafter/tune/device_probe.hpp>
#include <rafter/tune/kernel_text_cache.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::problem {
namespace {

std::shared_ptr<const tune::Planner> make_planner(const tune::Ceilings& ceilings, const Preparation& preparation) {
  tune::PlannerOptions result{
      .machine = ceilings.machine, .weights = ceilings.weights, .weighs_all = preparation.weighs_all_plans};
  if (preparation.uses_measured_plans) result.store = std::make_shared<tune::Store>();
  result.kernel_texts = std::make_shared<tune::KernelTextCache>();
  return std::make_shared<const tune::Planner>(std::move(result));
}

/// The planners that problems of programs share, by their devices.
class SharedPlanners {
public:
  static std::optional<FoundPlanner> of(const std::shared_ptr<device::Device>& device) {
    const std::lock_guard lock(mutex);
    for (const auto& [of_device, planner] : all)
      if (of_device.lock() == device) return planner;
    return std::nullopt;
  }
  static void keep(const std::shared_ptr<device::Device>& device, FoundPlanner planner) {
    const std::lock_guard lock(mutex);
    std::erase_if(all, [](const auto& shared) { return shared.first.expired(); });
    all.emplace_back(device, std::move(planner));
  }

private:
  static inline std::mutex mutex;
  static inline std::vector<std::pair<std::weak_ptr<device::Device>, FoundPlanner>> all;
};

} // namespace

FoundPlanner find_planner(const std::shared_ptr<device::Device>& device, const Preparation& preparation, bool is_shared,
                          const std::function<void()>& begins) {
  is_shared = is_shared && preparation.uses_measured_plans && !preparation.weighs_all_plans;
  if (is_shared)
    if (auto found = SharedPlanners::of(device)) return *found;
  constexpr double seconds_of_device = 0.6; // a quarter of what `rafter machine` takes
  const auto ceilings = tune::quick_ceilings(device, seconds_of_device, begins);
  FoundPlanner result{ceilings.machine, make_planner(ceilings, preparation)};
  if (is_shared) SharedPlanners::keep(device, result);
  return result;
}

} // namespace rafter::problem
