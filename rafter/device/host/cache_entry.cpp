// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/cache_entry.hpp>

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/device/host/cache_directory.hpp>

namespace rafter::device {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view tag = "\nrafter entry ";
constexpr std::size_t trailer_size = tag.size() + 32 + 1; // the hash and a line end

} // namespace

std::string entry_trailer(const EntryKey& key, std::string_view content) {
  const auto parts =
      fmt::format("{}:{}{}:{}{}", key.kind.size(), key.kind, key.hash.size(), key.hash, base::content_hash(content));
  return fmt::format("{}{}\n", tag, base::content_hash(parts));
}

void set_entry_aside(const fs::path& file) {
  std::error_code error; // an entry that cannot be renamed is replaced, or refused by whoever writes the new one
  const auto aside = file.string() + damaged_ending;
  fs::rename(file, aside, error);
  if (!error) fs::last_write_time(aside, fs::file_time_type::clock::now(), error); // since when it stands aside
  base::warn_once(
      fmt::format("files of the cache folder '{}' are damaged or do not belong to their names: they are set "
                  "aside as '*.damaged' and made anew",
                  file.parent_path().string()));
}

std::optional<std::string> read_entry(const fs::path& file, const EntryKey& key) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) return std::nullopt;
  if (fs::is_regular_file(status)) try {
      std::string bytes = read_bytes(file);
      const auto size = bytes.size() - std::min(bytes.size(), trailer_size);
      const bool is_whole =
          bytes.size() >= trailer_size &&
          std::string_view(bytes).substr(size) == entry_trailer(key, std::string_view(bytes).substr(0, size));
      bytes.resize(size);
      if (is_whole) return bytes;
    } catch (const base::EnvironmentError&) { // it went away, say
      return std::nullopt;
    }
  set_entry_aside(file);
  return std::nullopt;
}

void write_entry(const fs::path& file, const EntryKey& key, std::string content) {
  content += entry_trailer(key, content);
  base::write_output(file.string(), content, 0600);
}

} // namespace rafter::device
