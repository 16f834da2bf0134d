// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace rafter::machine {

/// C text of the kernels that measure arithmetic with one register width: entry points fma_64, add_128, mul_512,
/// single_fma_256 (on floats) and so on. Arguments are {a, b, repeats} and one result per task. Each repeat updates
/// num_chains accumulators chain_length times.
std::string arithmetic_source(int bits);

/// Number of accumulators that are updated independently: enough to hide the latency of two units with four cycles
/// each, and few enough for 16 registers with the two operands.
inline constexpr int num_chains = 12;

/// Number of updates of every accumulator in a repeat.
inline constexpr int chain_length = 64;

/// C text of the kernels that measure bandwidth: read, triad, copy, streaming_copy. Arguments are a block of doubles,
/// {doubles per task, repeats}, and one result per task. Task i works on its own part of the block, whose size is a
/// multiple of part_multiple doubles.
std::string bandwidth_source();

/// C text of the kernels vector_gather and scalar_gather, which load doubles from places in a list, registers of the
/// widest kind at a time. Arguments are {repeats} and one result per task. Each repeat loads num_gathered doubles.
std::string gather_source();

/// C text of the kernel matrix_product, which multiplies matrices of doubles in registers of `bits` bits: C = A B^T
/// with matrices of product_order rows and columns, column by column in memory. A tile of C, three registers long and
/// as wide as the other registers allow, is summed up in registers. Arguments are {repeats}, the matrices A, B, C of
/// all tasks one after the other (product_doubles each), and one result per task.
std::string product_source(int bits);

/// Rows and columns of these matrices: whole tiles for any registers. All three fit the second cache, and what a tile
/// reads the first one.
inline constexpr int product_order = 96;

/// Distance in doubles between their columns: an odd number of cache lines, so that columns do not share their places
/// in caches.
inline constexpr int product_stride = 104;

/// Doubles of the three matrices of a task.
inline constexpr int product_doubles = 3 * product_order * product_stride;

/// Length of the list from which vector_gather and scalar_gather load: table, list and results fit the nearest cache.
inline constexpr int num_gathered = 1024;

/// A part has a multiple of so many doubles, so that its halves (copy) and thirds (triad) consist of whole steps of
/// eight registers of 512 bits.
inline constexpr int part_multiple = 6 * 64;

/// Distance in doubles between the results of tasks, so that each has a cache line of its own.
inline constexpr int result_stride = 8;

} // namespace rafter::machine
