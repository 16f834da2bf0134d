// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>

namespace rafter::schedule {

/// Precision of a kind of numbers in a kernel.
enum class Precision : std::uint8_t { double_precision, single_precision };
std::string_view name(Precision precision); ///< "double", "float"

} // namespace rafter::schedule
