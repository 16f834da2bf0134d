// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace rafter::device {

/// The processor, as the operating system describes it.
struct Cpu {
  std::string model, vendor;
  std::vector<std::string> instruction_sets; ///< sorted names such as "avx2" or "avx512f"
};

/// The processor of this machine, read once per process from /proc/cpuinfo.
const Cpu& cpu();

/// Reads text in the format of /proc/cpuinfo (first processor; keys of x86 and ARM).
Cpu parse_cpu(const std::string& text);

bool has_instruction_set(const Cpu& cpu, const std::string& name);

/// The instruction sets in the list that matter to kernels: those for vectors and fused operations.
std::vector<std::string> vector_instruction_sets(const std::vector<std::string>& instruction_sets);

/// Widths in bits of the processor's registers for numbers, ascending, 64 first.
std::vector<int> register_bits(const Cpu& cpu);

} // namespace rafter::device
