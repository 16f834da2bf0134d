// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/key_registry.hpp>

#include <algorithm>

#include <rafter/schedule/contraction_keys.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::schedule {
namespace {

using KeyList = std::span<const Key* const>;

bool contains(KeyList keys, const Key& key) { return std::ranges::find(keys, &key) != keys.end(); }

/// Says whether some contractions have a key of their own, and the plan's is none of them.
bool is_of_other_contractions(const Plan& plan, const Key& key) {
  bool is_of_some = false;
  for (const auto& row : contraction_keys()) {
    if (!contains(row.keys, key)) continue;
    if (row.contraction == plan[key::contraction]) return false;
    is_of_some = true;
  }
  return is_of_some;
}

} // namespace

KeyRegistry::KeyRegistry(std::span<const Mapping> mappings) : mappings_(mappings) {
  const auto add = [this](KeyList keys) {
    for (const auto* key : keys)
      if (!contains(keys_, *key)) keys_.push_back(key);
  };
  add(common_keys());
  for (const auto& row : contraction_keys()) add(row.keys);
  for (const auto& mapping : mappings) add(mapping.keys);
  std::ranges::stable_sort(keys_, {}, &Key::place);
}

std::vector<std::string> KeyRegistry::names() const {
  std::vector<std::string> result;
  for (const auto* key : keys_) result.emplace_back(key->name);
  return result;
}

const Key& KeyRegistry::named(const std::string& name) const {
  const auto found = std::ranges::find(keys_, name, &Key::name);
  if (found == keys_.end()) refuse("key", name, names());
  return **found;
}

std::vector<const Key*> KeyRegistry::varied() const {
  std::vector<const Key*> result;
  for (const auto* key : keys_)
    if (key->tried != nullptr) result.push_back(key);
  std::ranges::stable_sort(result, {}, &Key::turn);
  return result;
}

bool KeyRegistry::has(const Plan& plan, const Key& key) const {
  const auto lists = [&](const Mapping& mapping) { return contains(mapping.keys, key); };
  const bool is_of_mappings = std::ranges::any_of(mappings_, lists);
  if (is_of_mappings && !lists(mappings_[static_cast<std::size_t>(plan.number(key::mapping))])) return false;
  return key.is_of == nullptr || key.is_of(plan);
}

bool KeyRegistry::matters(const Plan& plan, const Key& key) const {
  return has(plan, key) && !is_of_other_contractions(plan, key) && (key.matters == nullptr || key.matters(plan));
}

const KeyRegistry& key_registry() {
  static const KeyRegistry registry(named_mappings());
  return registry;
}

} // namespace rafter::schedule
