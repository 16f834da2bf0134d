// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string_view>

#include <rafter/kernel/contraction.hpp>
#include <rafter/kernel/factor_storage.hpp>
#include <rafter/schedule/key.hpp>
#include <rafter/schedule/precision.hpp>

/// The keys that every plan has.
namespace rafter::schedule {

struct Mapping;

/// Set of compiler flags (key::flags) for kernels that run a few times.
inline constexpr std::string_view quick_flags = "quick";

/// The number of a storage of factors has its members as digits.
template <> struct KeyOf<kernel::FactorStorage> : Key {
  static constexpr int number(const kernel::FactorStorage& value) {
    const int flags = (value.is_merged ? 1 : 0) + (value.stores_data ? 2 : 0);
    return static_cast<int>(value.kind) + 3 * (flags + 4 * value.num_stored);
  }
  static constexpr kernel::FactorStorage value(int number) {
    return {.kind = static_cast<kernel::FactorStorage::Kind>(number % 3),
            .is_merged = number / 3 % 2 == 1,
            .num_stored = number / 12,
            .stores_data = number / 6 % 2 == 1};
  }
};
/// The number of a mapping is its place among named_mappings().
template <> struct KeyOf<const Mapping&> : Key {
  static int number(const Mapping& value);
  static const Mapping& value(int number);
};

namespace key {
extern const KeyOf<kernel::Contraction> contraction;
extern const KeyOf<kernel::FactorStorage> factors;
extern const KeyOf<const Mapping&> mapping;
extern const KeyOf<Precision> storage; ///< precision of what set-up stores per cell and point
extern const KeyOf<Precision> compute; ///< precision of work arrays and registers
/// Precision of the vectors, hence of the sums of what cells contribute.
extern const KeyOf<Precision> accumulate;
extern const TextKey compiler; ///< name or path of the C compiler; "": the device's default
extern const TextKey flags;    ///< name of a set of compiler flags; "": the default set
} // namespace key

std::span<const Key* const> common_keys();

} // namespace rafter::schedule
