// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/machine/device_record.hpp>

namespace rafter::machine {

/// Ceilings of servers of 2023 with registers of `bits` bits, for choices without a measured record.
Machine typical_machine(int bits = 512, int cores = 1);

/// The record of a device of which only the capabilities are known, for choices: ceilings of a graphics processor for
/// computing centres, in the ratios that an NVIDIA H200 has (bench/data/devices).
DeviceRecord typical_device(const device::Capabilities& capabilities);

/// A record for predicting plans. If the machine was busy when it was measured, the sizes of the record are kept and
/// its rates replaced by typical ones, so that predicted plans do not depend on what else the machine did.
Machine steady(const Machine& record);

} // namespace rafter::machine
