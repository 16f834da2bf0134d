// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

/// Files that a user names as input.
namespace rafter::base {

/// Names the kind of an irregular file, links followed: "a directory", "a pipe (FIFO)", "a device", "a socket". Returns
/// "" for a regular file, and where there is nothing.
std::string irregular_kind(const std::string& path);

/// Throws InputError "PATH: no such file" or "PATH: not a file but a pipe (FIFO); accepted is ACCEPTED" unless the path
/// leads to a regular file: reading others may wait for ever, and has no end that is known beforehand.
void require_regular_file(const std::string& path, std::string_view accepted);

} // namespace rafter::base
