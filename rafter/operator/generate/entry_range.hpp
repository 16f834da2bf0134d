// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace rafter::op {

/// The entries begin .. end - 1 of a vector.
struct EntryRange {
  std::int32_t begin = 0, end = 0;
};

} // namespace rafter::op
