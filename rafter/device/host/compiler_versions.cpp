// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/compiler_versions.hpp>

#include <array>
#include <fstream>
#include <system_error>

#include <rafter/base/error.hpp>
#include <rafter/device/host/binary_cache.hpp>
#include <rafter/device/host/cache_entry.hpp>

namespace rafter::device {
namespace {

namespace fs = std::filesystem;

/// Says whether a file is a program by its first bytes (ELF), and not a script.
bool is_program(const fs::path& file) {
  constexpr std::array<char, 4> magic{'\x7f', 'E', 'L', 'F'};
  std::array<char, 4> bytes{};
  std::ifstream(file, std::ios::binary).read(bytes.data(), bytes.size());
  return bytes == magic;
}

/// Returns the key under which the version of the program at this path, as it is now, is remembered; "" for a file that
/// is no compiler.
std::string key_of(const fs::path& path) {
  std::error_code error;
  const fs::path program = fs::canonical(path, error);
  if (error) return {};
  const auto name = program.filename().string();
  if ((name.find("gcc") == std::string::npos && name.find("clang") == std::string::npos) || !is_program(program))
    return {};
  const auto size = fs::file_size(program, error);
  if (error) return {};
  const auto time = fs::last_write_time(program, error);
  if (error) return {};
  return cache_key(
      {path.string(), program.string(), std::to_string(size), std::to_string(time.time_since_epoch().count())});
}

constexpr std::string_view kind = "compiler";

fs::path file_of(const fs::path& folder, const std::string& key) { return folder / ("compiler-" + key); }

} // namespace

std::optional<std::string> remembered_version(const fs::path& folder, const fs::path& path) {
  const std::string key = key_of(path);
  if (key.empty()) return std::nullopt;
  return read_entry(file_of(folder, key), {kind, key});
}

void remember_version(const fs::path& folder, const fs::path& path, const std::string& version) {
  const std::string key = key_of(path);
  if (key.empty()) return;
  try {
    write_entry(file_of(folder, key), {kind, key}, version);
  } catch (const base::EnvironmentError&) { // the next run asks again
  }
}

} // namespace rafter::device
