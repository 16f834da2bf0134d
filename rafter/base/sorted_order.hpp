// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace rafter::base {

/// The numbers 0 to keys.size() - 1 by ascending keys; of equal keys the first comes first. Radix sort from the highest
/// digits on, on several threads. There are less than 2^31 keys.
std::vector<std::int32_t> sorted_order(std::span<const std::uint64_t> keys);

} // namespace rafter::base
