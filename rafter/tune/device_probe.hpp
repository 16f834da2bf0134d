// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>

#include <rafter/device/device.hpp>
#include <rafter/machine/device_record.hpp>
#include <rafter/tune/planner.hpp>

namespace rafter::tune {

struct DeviceProbeOptions {
  double seconds = 2.5;         ///< approximate time of the measurement, without compiling
  std::size_t memory_bytes = 0; ///< size of the block that is streamed; 0: 1 GiB, but at most an eighth of the memory
  bool is_fresh = false;        ///< load_or_probe measures even where a record is kept, and replaces it
  std::function<void()> begins = {}; ///< load_or_probe calls it before it measures, if it does; may be empty
};

/// Measures a device whose kernels have groups of items, by loop programs that the emitter writes in its language.
/// Throws EnvironmentError where the device fails.
machine::DeviceRecord probe(const std::shared_ptr<device::Device>& device, const DeviceProbeOptions& options = {});

/// The kept record of an earlier measurement of a device of this name and driver, or a new one, which is then kept.
machine::DeviceRecord load_or_probe(const std::shared_ptr<device::Device>& device,
                                    const DeviceProbeOptions& options = {});

/// What the planner takes from the record of what kernels run on.
struct Ceilings {
  machine::Machine machine;
  CostWeights weights;
  bool operator==(const Ceilings&) const = default;
};

/// The ceilings of what kernels run on, kept or measured now: those of the device's record where it says what it is,
/// and of the processor for devices that run on the host.
Ceilings ceilings(const std::shared_ptr<device::Device>& device, const machine::ProbeOptions& options = {});

/// The same for a solve, which does not wait long: without a quiet record of the processor its ceilings are estimated
/// from two rates (machine::load_or_estimate). `seconds` is the time of the measurement of a device.
Ceilings quick_ceilings(const std::shared_ptr<device::Device>& device, double seconds,
                        const std::function<void()>& begins);

/// The same without measuring: nothing where no record is kept.
std::optional<Ceilings> kept_ceilings(const device::Device& device);

/// The planner of operators that are given none: planner_of_this_machine() for devices that run on the host, else one
/// with the record of the device when one is kept, else with typical figures; with the store of this user. Made once.
std::shared_ptr<const Planner> planner_of(const device::Device& device);
/// Options for a planner of a device that need not be there, by its record alone: nothing is remembered.
PlannerOptions planner_options(const machine::DeviceRecord& record);

} // namespace rafter::tune
