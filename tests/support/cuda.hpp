// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/device/gpu/gpu_device.hpp>

namespace rafter::test {

/// Makers whose drivers and compilers are the emulation in tests/support/emulated_cuda: kernels run on the processor.
const device::GpuMaker& emulated_cuda();
const device::GpuMaker& emulated_hip();

/// What was made by the emulated driver and not given back, "KIND COUNT" each; calls of a function so far.
std::vector<std::string> emulated_live();
long emulated_calls(const std::string& function);
/// Names of the functions that have been called, and all counts of calls set to 0.
std::vector<std::string> emulated_functions();
void forget_emulated_calls();

/// Says whether this machine has a CUDA device and a compiler for it.
bool has_cuda();

} // namespace rafter::test
