// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <rafter/device/device.hpp>
#include <span>
#include <string>
#include <vector>

namespace rafter::device {

/// A source to compile, with its options.
struct CompileJob {
  std::string source;
  CompileOptions options;
};

/// Compiles all jobs and returns their programs in order. Equal jobs are compiled once; different ones run at the same
/// time on the cores that the process may use. When all have ended, throws the failure of the first job that failed.
std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const CompileJob> jobs);

/// Compiles sources that have the same options.
std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const std::string> sources,
                                                        const CompileOptions& options = {});

} // namespace rafter::device
