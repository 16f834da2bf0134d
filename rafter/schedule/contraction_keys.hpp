// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

#include <rafter/kernel/contraction.hpp>
#include <rafter/schedule/key.hpp>

/// The keys that belong to contractions.
namespace rafter::schedule {

namespace key {
extern const KeyOf<int> even_odd; ///< 1D matrices with symmetry and at least so many columns use even-odd; 0: never
extern const KeyOf<int> rows;     ///< sums of dense products that are kept in registers
extern const KeyOf<int> unroll;   ///< dense tables of at most so many entries stand in the text; 0: none
} // namespace key

/// The keys of a contraction. Every plan has those of all contractions, since a kernel that cannot follow a plan takes
/// another contraction, but only those of its own matter.
struct ContractionKeys {
  kernel::Contraction contraction;
  std::span<const Key* const> keys;
};
std::span<const ContractionKeys> contraction_keys();

} // namespace rafter::schedule
