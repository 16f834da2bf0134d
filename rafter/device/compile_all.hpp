// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <functional>
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

/// Is called when a source is about to be compiled, with its number from 1 on and with how many are compiled; by one
/// thread at a time, whichever that is. Sources whose programs are in the cache do not count. May throw, which ends the
/// compilation.
using CompileProgress = std::function<void(std::size_t number, std::size_t count)>;

/// Compiles all jobs and returns their programs in order. Equal jobs are compiled once; different ones run at the same
/// time on the cores that the process may use. When all have ended, throws the failure of the first job that failed.
/// `progress` may be empty.
std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const CompileJob> jobs,
                                                        const CompileProgress& progress = {});

/// Compiles sources that have the same options.
std::vector<std::shared_ptr<const Program>> compile_all(Device& device, std::span<const std::string> sources,
                                                        const CompileOptions& options = {});

} // namespace rafter::device
