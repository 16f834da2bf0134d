// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/definition_order.hpp>

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::form {

namespace {

/// The definitions that a text uses, in the order in which they stand there. Parameters hide definitions.
std::vector<DefinitionUse> uses_in(std::string_view text, const Scope& scope, std::span<const std::string> parameters) {
  const auto tokens = tokenize(text);
  const auto is_symbol = [&tokens](std::size_t i, std::string_view symbol) {
    return tokens[i].kind == TokenKind::symbol && tokens[i].text == symbol;
  };
  std::vector<DefinitionUse> uses;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& token = tokens[i];
    if (token.kind != TokenKind::name || scope.find_definition(token.text) == nullptr) continue;
    if (std::ranges::find(parameters, token.text) != parameters.end()) continue;
    const bool is_attribute = i > 0 && is_symbol(i - 1, "."), is_key = is_symbol(i + 1, "=");
    if (!is_attribute && !is_key) uses.push_back({token.text, token.position});
  }
  return uses;
}

/// A text that is being followed, with the next of its uses.
struct Followed {
  std::vector<DefinitionUse> uses;
  std::size_t next = 0;
};

[[noreturn]] void fail_cycle(std::span<const DefinitionUse> chain, const DefinitionUse& use) {
  constexpr std::size_t most = 12; ///< names of a cycle that a message lists
  std::vector<std::string> names;
  for (auto at = std::ranges::find(chain, use.name, &DefinitionUse::name); at != chain.end(); ++at)
    names.push_back(at->name);
  const auto num_names = names.size();
  if (num_names > most) {
    names.resize(most);
    names.push_back(fmt::format("({} more)", num_names - most));
  }
  fail_in(chain, fmt::format("{}: the definition '{}' uses itself ({} -> {})", to_string(use.position), use.name,
                             fmt::join(names, " -> "), use.name));
}

} // namespace

void for_definitions(std::string_view text, const Scope& scope,
                     const std::function<void(std::span<const DefinitionUse>)>& read) {
  std::set<std::string> is_known;
  std::vector<DefinitionUse> chain;
  std::vector<Followed> followed{{uses_in(text, scope, {})}};
  while (true) {
    auto& [uses, next] = followed.back();
    if (next < uses.size()) {
      const DefinitionUse use = uses[next++];
      if (std::ranges::find(chain, use.name, &DefinitionUse::name) != chain.end()) fail_cycle(chain, use);
      if (is_known.contains(use.name)) continue;
      const auto& definition = *scope.find_definition(use.name);
      chain.push_back(use);
      try {
        followed.push_back({uses_in(definition.text, scope, definition.parameters)});
      } catch (const base::InputError& error) {
        fail_in(chain, error.what());
      }
    } else if (chain.empty()) {
      return;
    } else {
      if (!scope.find_definition(chain.back().name)->is_function) read(chain);
      is_known.insert(chain.back().name);
      chain.pop_back();
      followed.pop_back();
    }
  }
}

void fail_in(std::span<const DefinitionUse> chain, std::string message) {
  constexpr std::size_t most_at_ends = 3; ///< definitions that a message names at each end of the chain
  for (std::size_t i = chain.size(); i-- > 0;) {
    message = fmt::format("in the definition of '{}', {}", chain[i].name, message);
    if (chain.size() > 2 * most_at_ends && i == chain.size() - most_at_ends) {
      i = most_at_ends;
      message = fmt::format("through {} more, {}", chain.size() - 2 * most_at_ends, message);
    } else
      message = fmt::format("{}: {}", to_string(chain[i].position), message);
  }
  throw base::InputError(message);
}

} // namespace rafter::form
