// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace rafter::machine {

/// C text of the kernels that measure arithmetic: entry points fma_64, add_128, mul_512, single_fma_256 (on floats),
/// ... for one register width. Arguments: {a, b, repeats} and one result per task. Each repeat does flops_per_repeat()
/// operations.
std::string arithmetic_source(int bits);

/// Accumulators that are updated independently: enough to hide the latency of two units with four cycles each, few
/// enough for 16 registers with the two operands.
inline constexpr int num_chains = 12;

/// Updates of every accumulator in a repeat.
inline constexpr int chain_length = 64;

/// C text of the kernels that measure bandwidth: read, triad, copy, streaming_copy. Arguments: a block of doubles;
/// {doubles per task, repeats}; one result per task. Task i works on its own part of the block, a multiple of
/// part_multiple doubles.
std::string bandwidth_source();

/// Six parts (halves and thirds) of eight registers of 512 bits.
inline constexpr int part_multiple = 6 * 64;

/// Doubles between the results of tasks: a cache line each.
inline constexpr int result_stride = 8;

} // namespace rafter::machine
