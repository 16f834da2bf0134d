// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace rafter::comm {

/// The global numbers that a process holds: a contiguous range that it owns, then ghosts, which other processes own.
/// Local numbers 0 .. num_owned-1 are the owned range in order, num_owned .. num_local-1 the ghosts.
class IndexMap {
public:
  /// Index map of a single process, which owns all numbers.
  explicit IndexMap(std::int64_t num_global = 0) : IndexMap(0, num_global, num_global, {}, {}) {}
  IndexMap(std::int64_t owned_begin, std::int64_t owned_end, std::int64_t num_global, std::vector<std::int64_t> ghosts,
           std::vector<int> ghost_owners);

  std::int64_t owned_begin() const { return owned_begin_; }
  std::int64_t owned_end() const { return owned_end_; }
  std::int64_t num_owned() const { return owned_end_ - owned_begin_; }
  std::int64_t num_ghosts() const { return static_cast<std::int64_t>(ghosts_.size()); }
  std::int64_t num_local() const { return num_owned() + num_ghosts(); }
  std::int64_t num_global() const { return num_global_; }
  std::span<const std::int64_t> ghosts() const { return ghosts_; }
  std::span<const int> ghost_owners() const { return ghost_owners_; }

  std::int64_t local_to_global(std::int64_t local) const;
  /// Local number of a global one; -1 when this process does not hold it.
  std::int64_t global_to_local(std::int64_t global) const;

private:
  std::int64_t owned_begin_, owned_end_, num_global_;
  std::vector<std::int64_t> ghosts_;
  std::vector<int> ghost_owners_;
  std::vector<std::int64_t> sorted_ghosts_; ///< ghosts in ascending order, for look-up
  std::vector<std::int64_t> sorted_positions_;
};

} // namespace rafter::comm
