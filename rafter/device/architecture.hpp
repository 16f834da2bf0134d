// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <rafter/device/device.hpp>

namespace rafter::device {

/// Properties of a device that its driver does not give but that follow from its architecture. 0 or none: not known of
/// this architecture.
struct Architecture {
  // The members have the meaning and the units of those of Capabilities.
  int registers_per_item = 0;
  std::int64_t work_bytes_per_item = 0;
  bool has_atomic_doubles = false;
  std::vector<MatrixShape> matrix_shapes;
};

/// Looks up an architecture by the name under which compilers know it, such as "sm_90". Figures of NVIDIA's are those
/// of the CUDA C++ Programming Guide (technical specifications per compute capability: 255 registers and 512 KiB of
/// local memory per thread; atomic additions of doubles from 6.0 on) and of the PTX ISA (shapes of `mma` on doubles).
/// Only 8.0 and 9.0 have matrix units that multiply doubles faster than other instructions do. Those of AMD's
/// are of its CDNA architectures, whose matrix units are not used.
Architecture architecture(const std::string& name);

/// The capabilities that all devices of an architecture have, for kernels in a language that are compiled and do not
/// run. Those of NVIDIA's are of compute capability 7.0 and later, those of AMD's of CDNA 2 and later.
Capabilities capabilities_of(const std::string& architecture, const std::string& language);

} // namespace rafter::device
