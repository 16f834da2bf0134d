// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/form/scope.hpp>
#include <rafter/form/token_stream.hpp>

namespace rafter::form {

/// Throws InputError for dS, jump, avg and restrictions, which other packages have: says what serves instead here.
[[noreturn]] void fail_interior_facets(Position position);

/// Throws InputError for an unknown name, with why the scope refuses it, or the nearest known one as a suggestion.
/// `parameters` are those of the definition being read.
[[noreturn]] void fail_unknown(const Token& name, bool is_call, const Scope& scope,
                               std::span<const std::string> parameters);

} // namespace rafter::form
