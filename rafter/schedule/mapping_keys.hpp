// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <rafter/schedule/key.hpp>

/// The keys that several mappings have.
namespace rafter::schedule {

/// The way in which cells find the dofs that they share.
enum class Indices : std::uint8_t {
  runs, ///< by the starts of runs and their orientations
  dofs  ///< by an index of each
};
std::string_view name(Indices indices); ///< "runs", "dofs"
/// The way in which numbers of a vector that lie apart are loaded.
enum class Gathers : std::uint8_t {
  vector, ///< by an instruction for all lanes
  scalar  ///< one by one
};
std::string_view name(Gathers gathers); ///< "vector", "scalar"
/// The way in which unknowns that belong to one batch alone are stored.
enum class Stores : std::uint8_t {
  cached,
  streaming ///< past the caches
};
std::string_view name(Stores stores); ///< "cached", "streaming"

namespace key {
/// Number of lanes; larger batches run in sub-batches of so many cells. A text without it means 16 with compute=float,
/// and with mapping=cell_per_item what items of the device have, 1 where these hold a cell each.
extern const KeyOf<int> vector_width;
extern const KeyOf<int> subbatches; ///< sub-batches that dense products take at a time, sharing the registers for sums
/// Values that cells of a patch share are gathered and added once, where batches consist of patches.
extern const KeyOf<bool> patches;
extern const KeyOf<Indices> indices;
extern const KeyOf<Gathers> gathers;
extern const KeyOf<bool> prefetch; ///< vectors and data of the next batch are fetched while one is computed
extern const KeyOf<Stores> stores;
} // namespace key

/// The keys of mappings for hosts.
std::span<const Key* const> keys_of_host();

} // namespace rafter::schedule
