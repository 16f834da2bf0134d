// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace rafter::base {

/// Returns the numbers 0 to keys.size() - 1 by ascending keys; of equal keys the first comes first. It is a radix sort
/// from the highest digits on, on several threads, of less than 2^31 keys.
std::vector<std::int32_t> sorted_order(std::span<const std::uint64_t> keys);

} // namespace rafter::base
