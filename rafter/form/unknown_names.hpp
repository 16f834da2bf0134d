// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>

#include <rafter/form/scope.hpp>
#include <rafter/form/token_stream.hpp>

namespace rafter::form {

/// Throws InputError: what users of other packages expect of dS, jump, avg and restrictions, and what serves here.
[[noreturn]] void fail_interior_facets(Position position);

/// Throws InputError: a name that means nothing, with the nearest one that does. `parameters`: of the definition being
/// read.
[[noreturn]] void fail_unknown(const Token& name, bool is_call, const Scope& scope,
                               std::span<const std::string> parameters);

} // namespace rafter::form
