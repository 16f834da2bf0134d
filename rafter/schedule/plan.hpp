// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/key.hpp>

namespace rafter::schedule {

class KeyRegistry;
/// The keys of all mappings that plans may name.
const KeyRegistry& key_registry();

/// Everything that is decided about a kernel: a value for each key, such as plan[key::vector_width]. It prints as one
/// line of text, from which the same kernel can be made again.
class Plan {
public:
  template <class T> T operator[](const KeyOf<T>& key) const { return KeyOf<T>::value(number(key)); }
  const std::string& operator[](const TextKey& key) const { return text(key); }
  template <class T> Plan& set(const KeyOf<T>& key, const std::type_identity_t<T>& value) {
    return set_number(key, KeyOf<T>::number(value));
  }
  Plan& set(const TextKey& key, std::string value) { return set_text(key, std::move(value)); }

  // Values of keys whose type is not known.
  int number(const Key& key) const;
  const std::string& text(const Key& key) const;
  Plan& set_number(const Key& key, int number);
  Plan& set_text(const Key& key, std::string text);

  friend Plan without_compilation(Plan plan);
  bool operator==(const Plan&) const = default;

private:
  // Those that differ from the initial ones, so that equal plans have equal maps.
  std::map<const Key*, int> numbers_;
  std::map<const Key*, std::string> texts_;
};

/// Full text of a plan, without the keys of other mappings alone, such as
/// "contraction=collocated factors=store-merged mapping=simd_cells vector_width=8 even_odd=4 rows=16 subbatches=1
/// unroll=256 patches=1 indices=runs gathers=vector prefetch=1 stores=cached storage=double compute=double
/// accumulate=double compiler=default flags=default"
std::string to_string(const Plan& plan, const KeyRegistry& keys = key_registry());
/// Short text for tables: the keys that differ from the default, in the order of the full text and without keys that do
/// not matter to the plan ("factors=recompute vector_width=4"), or "default". Parsed back, it makes the same kernel if
/// a kernel follows this plan exactly, as plans in reports do. A plan that a kernel cannot follow falls back to another
/// contraction or mapping, to which the keys left out may matter.
std::string short_name(const Plan& plan, const KeyRegistry& keys = key_registry());
/// Short names of the plans of one table. Different plans get different names: where they differ only in keys that do
/// not matter to them, these keys are named, too.
std::vector<std::string> short_names(std::span<const Plan> plans);
/// Sets one key of the text form. Throws InputError, with the nearest key or value as a suggestion, where either is
/// unknown.
void set(Plan& plan, const std::string& key, const std::string& value, const KeyRegistry& keys = key_registry());
/// Reads a plan from text. Keys that are absent keep their default; that of vector_width fills 64 bytes (8, or 16 with
/// compute=float). The word "default" is the default plan. Throws InputError, with the nearest key or value as a
/// suggestion, and for accumulate=float without compute=float. `usual` has the values of keys that the text leaves out.
Plan parse_plan(const std::string& text, const Plan& usual = Plan(), const KeyRegistry& keys = key_registry());
/// The plan with the values that its full text means for the keys that are not in it, those of other mappings.
Plan without_unused_keys(Plan plan);
/// The plan with all numbers in double precision.
Plan in_double(Plan plan);
/// The plan with all numbers in single precision, and its vector width.
Plan in_single(Plan plan);
/// The keys with less than double precision as text, such as "storage=float compute=float"; "" if there are none.
std::string single_keys(const Plan& plan);
/// The plan without compiler and flags, which do not change the text of a kernel: plans that differ there alone become
/// equal.
Plan without_compilation(Plan plan);

} // namespace rafter::schedule
