// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/cpu.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <rafter/base/text.hpp>

namespace rafter::device {
namespace {

std::vector<std::string> sorted_words(const std::string& text) {
  std::vector<std::string> words = base::split(text, ' ');
  std::erase(words, "");
  std::ranges::sort(words);
  return words;
}

} // namespace

Cpu parse_cpu(const std::string& text) {
  Cpu cpu;
  for (const auto& line : base::split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key(base::trimmed(line.substr(0, colon)));
    const std::string value(base::trimmed(line.substr(colon + 1)));
    if ((key == "model name" || key == "CPU part") && cpu.model.empty()) cpu.model = value;
    if ((key == "vendor_id" || key == "CPU implementer") && cpu.vendor.empty()) cpu.vendor = value;
    if ((key == "flags" || key == "Features") && cpu.instruction_sets.empty())
      cpu.instruction_sets = sorted_words(value);
  }
  return cpu;
}

const Cpu& cpu() {
  static const Cpu instance = [] {
    std::ifstream file("/proc/cpuinfo");
    return parse_cpu({std::istreambuf_iterator<char>(file), {}});
  }();
  return instance;
}

bool has_instruction_set(const Cpu& cpu, const std::string& name) {
  return std::ranges::binary_search(cpu.instruction_sets, name);
}

std::vector<std::string> vector_instruction_sets(const std::vector<std::string>& instruction_sets) {
  std::vector<std::string> result;
  for (const auto& set : instruction_sets)
    for (const char* prefix : {"sse", "avx", "fma", "amx", "sve", "asimd", "neon"})
      if (set.starts_with(prefix)) result.push_back(set);
  return result;
}

std::vector<int> register_bits(const Cpu& cpu) {
  std::vector<int> widths{64, 128};
  if (has_instruction_set(cpu, "avx")) widths.push_back(256);
  if (has_instruction_set(cpu, "avx512f")) widths.push_back(512);
  return widths;
}

} // namespace rafter::device
