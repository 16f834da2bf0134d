// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <rafter/device/array.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/linear_operator.hpp>

namespace rafter::bench {

/// Suites time y = A x by one kernel or several.
struct Measured {
  std::function<void(const op::Vector& x, op::Vector& y)> apply;
  std::int64_t size = 0; ///< size of x and y
  std::shared_ptr<device::Device> device;
  machine::Counts counts;
  std::vector<op::KernelInfo> kernels;
};

} // namespace rafter::bench
