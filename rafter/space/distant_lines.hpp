// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include <rafter/base/aligned.hpp>
#include <rafter/space/block_dofs.hpp>

/// Finds what batches share with batches that ran long before them.
namespace rafter::space {

/// Cache lines of the local vector that hold entries which a batch shares with batches that ran long before, and none
/// that it or a recent batch has touched. If vectors are longer than a cache, these lines come from memory, from places
/// that no processor foresees.
struct DistantLines {
  base::AlignedVector<std::int32_t> begins;  ///< number of the first line of each batch, shape (batch + 1)
  base::AlignedVector<std::int32_t> entries; ///< an entry of each line, ascending within a batch
};

/// The parts of two vectors that caches hold. Lines that are asked for in vain cost little, so that no machine needs
/// figures of its own.
struct DistantLineOptions {
  /// Entries that a batch and those before it touch first before an entry is distant: two vectors of them take half of
  /// a second cache.
  std::int64_t recent_entries = 32768;
  std::int64_t cached_entries = std::int64_t{1} << 20; ///< vectors that are not longer stay in the last cache
};

/// Finds the distant lines of the batches of a block, for vectors of doubles. There are none where vectors stay in a
/// cache. `components`: number of components of the space.
DistantLines distant_lines(const BlockDofs& dofs, int components, const DistantLineOptions& options = {});

} // namespace rafter::space
