// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>
#include <vector>

#include <rafter/io/problem.hpp>

/// Keys of a problem file that are accepted and have no effect in that problem are reported in one warning each, with
/// the reason: "file:line:column: key PATH is not used: REASON". They are not refused, so that a file can be tried with
/// other methods, meshes and forms.
namespace rafter::io {

/// All keys of a table with those of tables and lists within, under the paths that messages have ("solver.restart",
/// "dirichlet[0].value").
std::vector<GivenKey> given_keys(const Value& root);

/// Warns of a key if the problem gives it, once. Whoever decides that a key is not read calls this.
void warn_unused(const Problem& problem, std::string_view path, std::string_view reason);

/// Warns of the keys of [solver] that direct solves do not read, where these take the place of the method of the
/// problem, for the given cause.
void warn_of_keys_that_direct_solves_leave(const Problem& problem, std::string_view cause);

/// Warns of coefficients and definitions whose names no other text of the file has. `root` is the whole file.
void warn_of_unused_names(const Value& root, const Problem& problem);

/// Warns of keys that the sections of the problem, taken together, leave without a reader.
void warn_of_unused_keys(const Value& root, const Problem& problem);

} // namespace rafter::io
