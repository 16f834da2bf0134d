// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <string>

#include <rafter/schedule/loop_program.hpp>

namespace rafter::tune {

/// The programs that measure a device. Groups have `items` items along the first axis and take a batch each. Items run
/// through straight text, which compilers of processors turn into vector instructions for several items.
struct ProbePrograms {
  int items = 128;
  /// Rows and columns of the tile of a product of matrices that an item sums up: as many as its registers hold.
  int tile = 8;
  /// Columns of the first matrix of such a product, and rows of the second one.
  int product_depth = 128;

  /// Numbers that an item loads from each array of memory.
  static constexpr int numbers_per_item = 8;
  /// Accumulators that an item updates one after the other, and how often.
  static constexpr int num_chains = 8, num_updates = 64;
  /// Numbers that an item has in each of two arrays of shared memory, and how often it goes through them.
  static constexpr int num_shared = 8, num_turns = 8;

  /// Runs that stream through memory, arguments (y, x, z): "read" sums x to a number per item, "copy" y = x, "triad"
  /// y = x + a z. Batches stand one after the other, shape (batch, number, item).
  schedule::LoopProgram memory(const std::string& what) const;
  /// Updates of registers, argument (y), a number per item: "fma" acc = acc a + b, "add" acc = acc + b, "mul" acc =
  /// acc a, in double or single precision.
  schedule::LoopProgram arithmetic(const std::string& what, schedule::Type type) const;
  /// Runs through shared memory with a barrier after each, argument (y), a number per item: "read" sums, "copy" from
  /// one array to the other and back, "triad" x = y + a x. Arrays have shape (number, item).
  schedule::LoopProgram shared(const std::string& what) const;
  /// Products of matrices C = A B in double precision, arguments (C, A, B). All batches take the same A, shape (k, row)
  /// with product_depth and product_rows() of them. Each has product_columns() columns of B, shape (batch, k, column),
  /// and of C, shape (batch, column, row). Caches keep what items share, so that there is no shared memory with its
  /// barriers.
  schedule::LoopProgram matrix_product() const;
  int product_rows() const { return tile * items_of_rows(); }
  int product_columns() const { return tile * (items / items_of_rows()); }
  /// A program that does nothing, argument (y).
  schedule::LoopProgram empty() const;

  /// Bytes that an item moves in a run of `memory`, and in one of `shared`; flops of one of `arithmetic`.
  static double memory_bytes(const std::string& what);
  static double shared_bytes(const std::string& what);
  static double flops(const std::string& what);
  /// Flops of a batch of products of matrices.
  double product_flops() const { return 2.0 * product_depth * product_rows() * product_columns(); }

private:
  /// Items of a group beside each other along the rows, which read and write consecutive numbers.
  int items_of_rows() const { return std::min(items, 32); }
};

} // namespace rafter::tune
