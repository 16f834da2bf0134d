// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

namespace rafter::io {

/// Levels of keys, lists and tables within each other: a.b.c = [[1]] has five. Values are read by recursion, which so
/// many leave safe.
inline constexpr int max_toml_depth = 100;

/// Throws InputError with the place where a TOML text is nested more than max_toml_depth levels deep, before anybody
/// reads it. Says nothing of other faults.
void require_toml_depth(std::string_view text, const std::string& source);

} // namespace rafter::io
