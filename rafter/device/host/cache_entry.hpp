// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Files of a cache folder, which are checked together with what they are looked up by.
namespace rafter::device {

/// The ending of the names of files that were set aside.
inline constexpr const char* damaged_ending = ".damaged";

/// The key by which an entry is looked up. Both parts stand under the check of the entry, so that a file that was
/// renamed, copied or exchanged with another one of any kind is none for its name.
struct EntryKey {
  std::string_view kind; ///< the cache that the entry belongs to; no two caches have the same
  std::string_view hash; ///< hash of everything that decides about the content
};

/// The content of an entry; nothing where there is no such file. A file whose check does not hold, and anything that is
/// no regular file, is set aside as "<file>.damaged", with one warning for each folder (base::warn_once).
std::optional<std::string> read_entry(const std::filesystem::path& file, const EntryKey& key);

/// Writes an entry for its user alone, complete or not at all. Throws EnvironmentError where that fails.
void write_entry(const std::filesystem::path& file, const EntryKey& key, std::string content);

/// The check of an entry, which stands behind its content: a tag, and the hash of both parts of the key and the
/// content.
std::string entry_trailer(const EntryKey& key, std::string_view content);

/// Sets a file of a cache folder aside as "<file>.damaged", with one warning for each folder (base::warn_once).
void set_entry_aside(const std::filesystem::path& file);

} // namespace rafter::device
