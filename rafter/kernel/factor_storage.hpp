// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rafter::kernel {

/// The form in which a QFunction is written, and its cut into stored and recomputed values. Its text is "recompute",
/// "partial-2" (two numbers stored per point) or "store"; "-merged" follows where the function is written in merged
/// form, and "-law" where values that depend on data fields may be stored, too.
struct FactorStorage {
  enum class Kind : std::uint8_t {
    recompute, ///< stores nothing but the map coefficients or geometry nodes
    partial,   ///< stores a limited number of values per point, those that save most
    store      ///< stores all values that save operations
  };
  Kind kind = Kind::recompute;
  bool is_merged = false;   ///< the function has one coefficient per pair of test and trial slot: the fewest operations
                            ///< on the trial function
  int num_stored = 0;       ///< numbers stored per point, for Kind::partial
  bool stores_data = false; ///< values that depend on data fields may be stored
  auto operator<=>(const FactorStorage&) const = default;
  static const FactorStorage recompute, recompute_merged, store, store_merged;
};
inline constexpr FactorStorage FactorStorage::recompute{};
inline constexpr FactorStorage FactorStorage::recompute_merged{.is_merged = true};
inline constexpr FactorStorage FactorStorage::store{.kind = Kind::store};
inline constexpr FactorStorage FactorStorage::store_merged{.kind = Kind::store, .is_merged = true};

std::string name(const FactorStorage& factors);
std::optional<FactorStorage> parse_factor_storage(std::string_view text);
/// The texts that parse_factor_storage reads, with N for a number.
std::vector<std::string> factor_storage_names();

} // namespace rafter::kernel
