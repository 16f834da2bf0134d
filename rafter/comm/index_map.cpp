// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/comm/index_map.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::comm {
namespace {

void require_consistent(std::int64_t begin, std::int64_t end, std::int64_t num_global,
                        std::span<const std::int64_t> ghosts, std::span<const int> owners) {
  if (begin < 0 || end < begin || num_global < end)
    throw base::InternalError(
        fmt::format("index map: owned range [{}, {}) does not lie in [0, {})", begin, end, num_global));
  if (ghosts.size() != owners.size())
    throw base::InternalError(
        fmt::format("index map: {} ghosts but {} owners of ghosts", ghosts.size(), owners.size()));
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    const std::int64_t ghost = ghosts[i];
    if (ghost < 0 || ghost >= num_global)
      throw base::InternalError(fmt::format("index map: ghost {} does not lie in [0, {})", ghost, num_global));
    if (ghost >= begin && ghost < end)
      throw base::InternalError(fmt::format("index map: ghost {} lies in the owned range [{}, {})", ghost, begin, end));
    if (owners[i] < 0)
      throw base::InternalError(fmt::format("index map: owner {} of ghost {} is not a rank", owners[i], ghost));
  }
}

} // namespace

IndexMap::IndexMap(std::int64_t owned_begin, std::int64_t owned_end, std::int64_t num_global,
                   std::vector<std::int64_t> ghosts, std::vector<int> ghost_owners)
    : owned_begin_(owned_begin), owned_end_(owned_end), num_global_(num_global), ghosts_(std::move(ghosts)),
      ghost_owners_(std::move(ghost_owners)) {
  require_consistent(owned_begin_, owned_end_, num_global_, ghosts_, ghost_owners_);
  sorted_positions_.resize(ghosts_.size());
  std::iota(sorted_positions_.begin(), sorted_positions_.end(), std::int64_t{0});
  const auto ghost_at = [this](std::int64_t i) { return ghosts_[static_cast<std::size_t>(i)]; };
  std::sort(sorted_positions_.begin(), sorted_positions_.end(),
            [&](std::int64_t a, std::int64_t b) { return ghost_at(a) < ghost_at(b); });
  sorted_ghosts_.reserve(ghosts_.size());
  for (const std::int64_t i : sorted_positions_) sorted_ghosts_.push_back(ghost_at(i));
  const auto twice = std::adjacent_find(sorted_ghosts_.begin(), sorted_ghosts_.end());
  if (twice != sorted_ghosts_.end()) throw base::InternalError(fmt::format("index map: ghost {} occurs twice", *twice));
}

std::int64_t IndexMap::local_to_global(std::int64_t local) const {
  if (local < 0 || local >= num_local())
    throw base::InternalError(fmt::format("index map: local number {} does not lie in [0, {})", local, num_local()));
  return local < num_owned() ? owned_begin_ + local : ghosts_[static_cast<std::size_t>(local - num_owned())];
}

std::int64_t IndexMap::global_to_local(std::int64_t global) const {
  if (global >= owned_begin_ && global < owned_end_) return global - owned_begin_;
  const auto found = std::lower_bound(sorted_ghosts_.begin(), sorted_ghosts_.end(), global);
  if (found == sorted_ghosts_.end() || *found != global) return -1;
  return num_owned() + sorted_positions_[static_cast<std::size_t>(found - sorted_ghosts_.begin())];
}

} // namespace rafter::comm
