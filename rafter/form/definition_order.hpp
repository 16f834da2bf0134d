// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <rafter/form/lexer.hpp>
#include <rafter/form/scope.hpp>

namespace rafter::form {

/// A definition, and where the text uses it that has it in it.
struct DefinitionUse {
  std::string name;
  Position position;
};

/// Calls `read` for each definition without parameters that a text needs, once, after those that it needs itself.
/// Chains of definitions that use each other are followed without recursion, however long they are. `read` gets the
/// chain of uses that leads to the definition: the first stands in the text, the last is the definition. Throws
/// InputError where a definition uses itself.
void for_definitions(std::string_view text, const Scope& scope,
                     const std::function<void(std::span<const DefinitionUse>)>& read);

/// Throws InputError with a message from the text of the last definition of a chain, and the way there.
[[noreturn]] void fail_in(std::span<const DefinitionUse> chain, std::string message);

} // namespace rafter::form
