// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/caches.hpp>

#include <charconv>
#include <fstream>
#include <map>
#include <unistd.h>

namespace rafter::machine {
namespace {

std::string first_word(const std::string& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

} // namespace

std::int64_t parse_size(const std::string& text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(rest, text.data() + text.size());
  if (error != std::errc() || value < 0) return 0;
  if (unit == "K") return value << 10;
  if (unit == "M") return value << 20;
  return unit.empty() ? value : 0;
}

std::vector<std::int64_t> cache_sizes() {
  std::map<std::string, std::int64_t> sizes; // level -> bytes
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string type = first_word(folder + "type");
    const std::int64_t size = parse_size(first_word(folder + "size"));
    if ((type == "Data" || type == "Unified") && size > 0) sizes[first_word(folder + "level")] = size;
  }
  std::vector<std::int64_t> result;
  for (const auto& [level, size] : sizes) result.push_back(size);
  constexpr std::int64_t smallest_common = 32 << 10;
  if (result.empty()) result.push_back(smallest_common);
  return result;
}

MemorySize memory_size() {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  MemorySize result{sysconf(_SC_PHYS_PAGES) * page, sysconf(_SC_AVPHYS_PAGES) * page};
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (std::int64_t kibibytes = 0; file >> key >> kibibytes; std::getline(file, unit))
    if (key == "MemAvailable:") result.available = kibibytes << 10;
  return result;
}

} // namespace rafter::machine
