// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <vector>

#include <rafter/schedule/key.hpp>
#include <rafter/schedule/mapping.hpp>

namespace rafter::schedule {

/// The keys that plans may have: those of all plans, of contractions, and of mappings.
class KeyRegistry {
public:
  /// `mappings` has rows of the names of named_mappings(), in that order, and stays where it is.
  explicit KeyRegistry(std::span<const Mapping> mappings);

  /// All keys, in the order in which they stand in texts.
  std::span<const Key* const> keys() const { return keys_; }
  std::vector<std::string> names() const;
  /// Throws InputError, with the nearest name as a suggestion, where there is none of this name.
  const Key& named(const std::string& name) const;
  /// The keys that the planner varies, each behind those on which its values depend.
  std::vector<const Key*> varied() const;

  /// Says whether a plan has a key, which its full text then names.
  bool has(const Plan& plan, const Key& key) const;
  /// Says whether the value of a key changes the kernels of a plan that follow it exactly.
  bool matters(const Plan& plan, const Key& key) const;

private:
  std::span<const Mapping> mappings_;
  std::vector<const Key*> keys_;
};

} // namespace rafter::schedule
