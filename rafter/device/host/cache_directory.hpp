// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <string>

namespace rafter::device {

/// The folder for compiled kernels and measurements, which nobody but the user can write, since code is loaded from it.
/// If such a folder is not to be had (no home, wrong owner or permissions, full or read-only disk), a private temporary
/// folder of this process takes its place, with one warning (base::warn_once); it is removed when the process ends.
class CacheDirectory {
public:
  /// Uses $XDG_CACHE_HOME/rafter, or else ~/.cache/rafter; makes it with mode 0700 when missing.
  CacheDirectory();
  /// Uses the given folder, under the same conditions as the default one.
  explicit CacheDirectory(const std::filesystem::path& wanted);

  const std::filesystem::path& path() const { return path_; }
  bool is_private_temporary() const { return is_temporary_; }

  /// Changes to the private temporary folder. Throws EnvironmentError when that cannot be made, or is in use already.
  void degrade(const std::string& reason);

private:
  std::filesystem::path path_;
  bool is_temporary_ = false;
};

/// The bytes of a file. Throws EnvironmentError when it cannot be read.
std::string read_bytes(const std::filesystem::path& file);

/// Keeps the private temporary folder when the process ends, because an error message names a file in it.
void keep_private_temporary();

} // namespace rafter::device
