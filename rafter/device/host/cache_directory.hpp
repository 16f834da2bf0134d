// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <string>

namespace rafter::device {

/// Where compiled kernels and measurements are kept: a folder that nobody but the user can write, since code is loaded
/// from it. When there is no such folder (no home, wrong owner or rights, full or read-only disk) the private temporary
/// folder of this process takes its place, with one warning (base::warn_once); that one is removed when the process
/// ends.
class CacheDirectory {
public:
  /// $XDG_CACHE_HOME/rafter, else ~/.cache/rafter; made with mode 0700 when missing.
  CacheDirectory();
  /// The given folder, under the same rules.
  explicit CacheDirectory(const std::filesystem::path& wanted);

  const std::filesystem::path& path() const { return path_; }
  bool is_private_temporary() const { return is_temporary_; }

  /// Goes over to the private temporary folder. Throws EnvironmentError when that cannot be made either, or when it is
  /// already the one in use.
  void degrade(const std::string& reason);

private:
  std::filesystem::path path_;
  bool is_temporary_ = false;
};

/// The bytes of a file. Throws EnvironmentError when it cannot be read.
std::string read_bytes(const std::filesystem::path& file);

/// Leaves the private temporary folder in place when the process ends, since an error message names a file in it.
void keep_private_temporary();

} // namespace rafter::device
