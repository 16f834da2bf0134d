// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <rafter/device/device.hpp>
#include <span>
#include <string>
#include <vector>

namespace rafter::device {

struct CompileJob {
  std::string source;
  CompileOptions options;
};

/// Programs of the jobs, in their order; equal jobs are compiled once and different ones at the same time on the
/// cores that the process may use. Throws the failure of the first job that fails, after all have ended.
std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const CompileJob> jobs);

/// The same for sources with equal options.
std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const std::string> sources,
                                                        const CompileOptions& options = {});

} // namespace rafter::device
