// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <optional>
#include <string>

/// Remembers on disk which version a compiler is, since asking takes tens of milliseconds.
namespace rafter::device {

/// The version that was remembered of the compiler at this path; nothing where none was, or the program there is
/// another one by now: its real path, size or time of last change differ. Only programs of compilers are known by
/// these. Scripts and others that start a compiler (ccache, wrappers of sites) stay the same when that changes, so that
/// nothing is remembered of them.
std::optional<std::string> remembered_version(const std::filesystem::path& folder, const std::filesystem::path& path);

/// Remembers the version of the compiler at this path in a file of the folder, which nobody but the user can write
/// (CacheDirectory). Nothing is remembered where the file cannot be written.
void remember_version(const std::filesystem::path& folder, const std::filesystem::path& path,
                      const std::string& version);

} // namespace rafter::device
