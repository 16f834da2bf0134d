// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/key.hpp>

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::schedule {
namespace {

constexpr const char* default_text = "default"; ///< stands for "" among texts

int number_in(const Key& key, const std::string& text, int least, int most) {
  const auto value = [&] {
    try {
      return base::parse_integer(text);
    } catch (const base::InputError& error) {
      throw base::InputError(fmt::format("plan: {}: {} from {} to {}", key.name, error.what(), least, most));
    }
  }();
  if (value < least || value > most)
    throw base::InputError(fmt::format("plan: {} = {} is out of range ({} to {})", key.name, text, least, most));
  return static_cast<int>(value);
}

/// Writes the plan's value of a key.
struct ValueWriter {
  const Key& key;
  const Plan& plan;
  std::string operator()(const Names& names) const { return names.name(plan.number(key)); }
  std::string operator()(const Range&) const { return std::to_string(plan.number(key)); }
  std::string operator()(const PowersOfTwo&) const { return std::to_string(plan.number(key)); }
  std::string operator()(const Spelling& spelling) const { return spelling.text(plan.number(key)); }
  std::string operator()(const Texts&) const {
    const auto& text = plan.text(key);
    return text.empty() ? default_text : text;
  }
};

/// Gives a plan the value of a text.
struct ValueReader {
  const Key& key;
  const std::string& text;
  Plan& plan;
  void operator()(const Names& names) const {
    std::vector<std::string> accepted;
    for (int i = 0; i < names.count(); ++i) accepted.push_back(names.name(i));
    const auto found = std::ranges::find(accepted, text);
    if (found == accepted.end()) refuse(key.name, text, accepted);
    plan.set_number(key, static_cast<int>(found - accepted.begin()));
  }
  void operator()(const Range& range) const { plan.set_number(key, number_in(key, text, range.least, range.most)); }
  void operator()(const PowersOfTwo& powers) const {
    const int number = number_in(key, text, 1, powers.most);
    if (!std::has_single_bit(static_cast<unsigned>(number)))
      throw base::InputError(fmt::format("plan: {} = {} is no power of two", key.name, text));
    plan.set_number(key, number);
  }
  void operator()(const Spelling& spelling) const {
    const auto number = spelling.number(text);
    if (!number) refuse(key.name, text, spelling.patterns());
    plan.set_number(key, *number);
  }
  void operator()(const Texts& texts) const {
    texts.check(text);
    plan.set_text(key, text == default_text ? "" : text);
  }
};

} // namespace

std::string Key::text(const Plan& plan) const { return std::visit(ValueWriter{*this, plan}, values); }

void Key::read(Plan& plan, const std::string& text) const { std::visit(ValueReader{*this, text, plan}, values); }

void refuse(std::string_view what, const std::string& word, const std::vector<std::string>& accepted) {
  throw base::InputError(fmt::format("plan: unknown {} '{}'{}; accepted: {}", what, word,
                                     base::suggestion(word, accepted), base::join(accepted, ", ")));
}

} // namespace rafter::schedule
