// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

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

/// All that the generation of kernels asks of a device, which need not be there.
struct KernelTarget {
  std::string name; ///< name of the device in messages
  schedule::Target target;
  int num_threads = 1;                           ///< threads that run kernels, as Device::num_threads
  std::vector<std::string> compilers{"default"}; ///< names that plans may ask for (Device::compilers)
  std::vector<std::string> flag_sets{"default"}; ///< names that plans may ask for (Device::flag_sets)
};
KernelTarget kernel_target(const device::Device& device);
/// The target that a device of these capabilities is, in the first of its languages that text is emitted in. Throws
/// InputError where there is none.
KernelTarget kernel_target(const device::Capabilities& capabilities);

} // namespace rafter::op
