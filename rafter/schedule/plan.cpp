// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/plan.hpp>

#include <array>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/schedule/key_registry.hpp>
#include <rafter/schedule/matrix_product.hpp>

namespace rafter::schedule {

int Plan::number(const Key& key) const {
  const auto found = numbers_.find(&key);
  return found == numbers_.end() ? key.initial : found->second;
}

const std::string& Plan::text(const Key& key) const {
  static const std::string initial;
  const auto found = texts_.find(&key);
  return found == texts_.end() ? initial : found->second;
}

Plan& Plan::set_number(const Key& key, int number) {
  if (number == key.initial)
    numbers_.erase(&key);
  else
    numbers_[&key] = number;
  return *this;
}

Plan& Plan::set_text(const Key& key, std::string text) {
  if (text.empty())
    texts_.erase(&key);
  else
    texts_[&key] = std::move(text);
  return *this;
}

namespace {

constexpr const char* default_name = "default"; ///< short name of the default plan

constexpr std::array precision_keys{&key::storage, &key::compute, &key::accumulate};

std::string word(const Key& key, const Plan& plan) { return std::string(key.name) + "=" + key.text(plan); }

/// The values that a text means which names no key, beside the mapping and the precision of computation of a plan.
Plan default_beside(const Plan& plan, const KeyRegistry& keys) {
  Plan result;
  for (const auto* key : keys.keys())
    if (key->usual != nullptr) result.set_number(*key, key->usual(plan, Plan()));
  return result;
}

/// Text of the chosen keys whose value differs from the default; "default" if there are none.
template <class Taken> std::string differences(const Plan& plan, const KeyRegistry& keys, Taken is_taken) {
  const Plan usual = default_beside(plan, keys);
  std::vector<std::string> words;
  for (const auto* key : keys.keys())
    if (is_taken(*key) && key->text(plan) != key->text(usual)) words.push_back(word(*key, plan));
  return words.empty() ? default_name : base::join(words, " ");
}

/// Throws InputError where the values of a plan exclude each other.
void require_consistent(const Plan& plan) {
  if (plan[key::accumulate] == Precision::single_precision && plan[key::compute] == Precision::double_precision)
    throw base::InputError("plan: accumulate=float needs compute=float: sums of doubles are not kept as floats");
  if (is_assembled(plan) && plan[key::compute] == Precision::single_precision)
    throw base::InputError("plan: compute=float with mapping=assembled, which multiplies in doubles; accepted is "
                           "storage=float, of its entries");
}

} // namespace

std::string to_string(const Plan& plan, const KeyRegistry& keys) {
  std::vector<std::string> words;
  for (const auto* key : keys.keys())
    if (keys.has(plan, *key)) words.push_back(word(*key, plan));
  return base::join(words, " ");
}

std::string short_name(const Plan& plan, const KeyRegistry& keys) {
  return differences(plan, keys, [&](const Key& key) { return keys.matters(plan, key); });
}

std::vector<std::string> short_names(std::span<const Plan> plans) {
  std::vector<std::string> names;
  for (const auto& plan : plans) names.push_back(short_name(plan));
  const auto shares_name = [&](std::size_t i) {
    for (std::size_t k = 0; k < plans.size(); ++k)
      if (plans[k] != plans[i] && short_name(plans[k]) == short_name(plans[i])) return true;
    return false;
  };
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (shares_name(i)) names[i] = differences(plans[i], key_registry(), [](const Key&) { return true; });
  return names;
}

void set(Plan& plan, const std::string& key, const std::string& value, const KeyRegistry& keys) {
  keys.named(key).read(plan, value);
}

Plan without_compilation(Plan plan) {
  plan.texts_.clear();
  return plan;
}

Plan in_double(Plan plan) {
  for (const auto* key : precision_keys) plan.set(*key, Precision::double_precision);
  return plan;
}

Plan in_single(Plan plan) {
  for (const auto* key : precision_keys) plan.set(*key, Precision::single_precision);
  return plan;
}

std::string single_keys(const Plan& plan) {
  std::vector<std::string> result;
  for (const auto* key : precision_keys)
    if (plan[*key] == Precision::single_precision) result.push_back(word(*key, plan));
  return base::join(result, " ");
}

Plan without_unused_keys(Plan plan) {
  const auto& keys = key_registry();
  const Plan usual = default_beside(plan, keys);
  for (const auto* key : keys.keys())
    if (!keys.has(plan, *key)) key->read(plan, key->text(usual));
  return plan;
}

Plan parse_plan(const std::string& text, const Plan& usual, const KeyRegistry& keys) {
  Plan plan = usual;
  if (base::trimmed(text) == default_name) return plan;
  std::set<std::string> given;
  for (const auto& part : base::words(text)) {
    const auto equals = part.find('=');
    if (equals == std::string::npos)
      throw base::InputError("plan: '" + part +
                             "' is not of the form key=value; keys: " + base::join(keys.names(), ", "));
    const std::string key = part.substr(0, equals);
    set(plan, key, part.substr(equals + 1), keys);
    if (!given.insert(key).second) throw base::InputError("plan: " + key + " is given twice");
  }
  require_consistent(plan);
  for (const auto* key : keys.keys())
    if (key->usual != nullptr && !given.contains(std::string(key->name)))
      plan.set_number(*key, key->usual(plan, usual));
  return plan;
}

} // namespace rafter::schedule
