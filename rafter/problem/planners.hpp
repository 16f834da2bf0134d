// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>

#include <rafter/device/device.hpp>
#include <rafter/machine/machine.hpp>
#include <rafter/problem/problem.hpp>
#include <rafter/tune/planner.hpp>

/// Planners of problems that bring none.
namespace rafter::problem {

/// A planner, with the ceilings that were measured for it.
struct FoundPlanner {
  machine::Machine machine;
  std::shared_ptr<const tune::Planner> planner;
};

/// Returns a planner for a device, whose ceilings are kept or measured now; `begins` is called before that. With
/// `is_shared` problems that are prepared alike share one as long as the device is there: programs that solve many
/// problems look at the machine and open the store of plans once.
FoundPlanner find_planner(const std::shared_ptr<device::Device>& device, const Preparation& preparation, bool is_shared,
                          const std::function<void()>& begins);

} // namespace rafter::problem
