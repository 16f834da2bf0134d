// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/schedule/target.hpp>

namespace rafter::device {
class Device;
struct Capabilities;
} // namespace rafter::device

namespace rafter::op {

/// Returns what kernels in a language are lowered for on a device of these capabilities: the axes of the language and
/// the limits of the device, and in place of those that are not known the ones of schedule::Target. Items that run in
/// step are never more than a group may have. Throws InternalError for languages that nothing is emitted in.
schedule::Target target_of(const std::string& language, const device::Capabilities& capabilities);
/// The same for the language and the capabilities of a device.
schedule::Target target_of(const device::Device& device);

} // namespace rafter::op
