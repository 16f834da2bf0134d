// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/device/device.hpp>
#include <rafter/emit/c_family.hpp>

namespace rafter::op {

/// What kernels for a device are lowered for: the axes of its language.
inline schedule::Target target_of(const device::Device& device) { return emit::target(device.language()); }

} // namespace rafter::op
