// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include <rafter/machine/estimate.hpp>

namespace rafter::machine {

/// What a short measurement gives: the rates, and how little others disturbed it, as in Machine.
struct MeasuredRates {
  TwoRates rates;
  double steadiness = 1, cpu_share = 1;
};

/// Measures with loops that are part of Rafter. `bits` is the width of the widest registers, and `block_bytes` what is
/// streamed from memory.
MeasuredRates measure_two_rates(int cores, int bits, std::int64_t block_bytes);

} // namespace rafter::machine
