// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace rafter::base {

/// 128-bit content hash (XXH3) as 32 hexadecimal digits, for names of cached kernels, checksums and signatures.
std::string content_hash(std::string_view bytes);

/// Combines 64-bit hashes for tables in memory; the result may change between versions.
inline std::uint64_t combine(std::uint64_t seed, std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15ULL;
  value ^= value >> 32;
  return (seed ^ value) * 0xd6e8feb86659fd93ULL + 0x2545f4914f6cdd1dULL;
}

} // namespace rafter::base
