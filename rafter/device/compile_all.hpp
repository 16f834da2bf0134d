// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <rafter/device/device.hpp>
#include <span>
#include <string>
#include <vector>

namespace rafter::device {

/// Programs of sources, in their order; equal sources are compiled once and different ones at the same time on the
/// cores that the process may use. Throws the failure of the first source that fails, after all have ended.
std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const std::string> sources,
                                                        const CompileOptions& options = {});

} // namespace rafter::device
