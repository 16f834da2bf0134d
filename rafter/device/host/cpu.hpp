// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace rafter::device {

/// What the operating system says about the processor.
struct Cpu {
  std::string model, vendor;
  std::vector<std::string> instruction_sets; ///< sorted: "avx2", "avx512f", ...
};

/// The processor of this machine, read once per process from /proc/cpuinfo.
const Cpu& cpu();

/// Reads the text of /proc/cpuinfo (first processor; x86 and ARM spellings of the keys).
Cpu parse_cpu(const std::string& text);

bool has_instruction_set(const Cpu& cpu, const std::string& name);

/// Those of its instruction sets that make a difference to kernels: vectors and fused operations.
std::vector<std::string> vector_instruction_sets(const std::vector<std::string>& instruction_sets);

/// Widths of its registers for numbers, ascending, 64 first.
std::vector<int> register_bits(const Cpu& cpu);

/// Cores that this process may run on (its affinity mask), at least 1.
int num_available_cores();

} // namespace rafter::device
