// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/cache_directory.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/temporary.hpp>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace rafter::device {
namespace {

namespace fs = std::filesystem;

/// The private temporary folder of this process; a forked child gets one of its own.
struct PrivateTemporary {
  base::Temporary folder;
  pid_t owner = getpid();
};
PrivateTemporary make_private_temporary() {
  const std::string prefix = base::temporary_folder() + "/rafter-";
  try {
    return {base::Temporary::folder(prefix)};
  } catch (const std::system_error& error) {
    throw base::EnvironmentError("cannot make a temporary folder '" + prefix + "...': " + error.code().message() +
                                 "; set XDG_CACHE_HOME or TMPDIR to a folder that you can write");
  }
}
base::Temporary& private_temporary() {
  static std::mutex mutex;
  static std::unique_ptr<PrivateTemporary> instance;
  const std::scoped_lock lock(mutex);
  if (!instance || instance->owner != getpid()) instance = std::make_unique<PrivateTemporary>(make_private_temporary());
  return instance->folder;
}

/// The path $XDG_CACHE_HOME/rafter or ~/.cache/rafter; "" without both variables. Relative values are ignored, as the
/// XDG specification asks.
fs::path default_cache_path() {
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr && *value == '/' ? value : "");
  };
  if (const fs::path cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache / "rafter";
  if (const fs::path home = absolute("HOME"); !home.empty()) return home / ".cache" / "rafter";
  return {};
}

/// Makes the folder and missing ones above it, all for the user alone. Returns "" or what failed.
std::string make_private(const fs::path& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return "";
  if (errno == ENOENT && path.has_relative_path()) {
    if (const std::string failure = make_private(path.parent_path()); !failure.empty()) return failure;
    if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return "";
  }
  return "'" + path.string() + "' cannot be made: " + std::strerror(errno);
}

/// Reason why a folder may not be used, or "". Whoever can write it, or replace it through the folder above, could make
/// this process run foreign code.
std::string objection(const fs::path& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return "'" + path.string() + "' cannot be read: " + std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "'" + path.string() + "' is not a folder";
  if (status.st_uid != geteuid()) return "'" + path.string() + "' belongs to somebody else";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "others can write '" + path.string() + "' (chmod 700 makes it yours)";
  if (stat(path.parent_path().c_str(), &status) != 0) return "the folder above '" + path.string() + "' cannot be read";
  if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
    return "others can replace '" + path.string() + "', because anybody can write the folder above it";
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0)
    return "'" + path.string() + "' cannot be written: " + std::strerror(errno);
  return "";
}

} // namespace

CacheDirectory::CacheDirectory() : CacheDirectory(default_cache_path()) {}

CacheDirectory::CacheDirectory(const fs::path& wanted) {
  if (wanted.empty()) {
    degrade("neither XDG_CACHE_HOME nor HOME names a folder");
    return;
  }
  std::string failure = make_private(wanted);
  std::error_code error;
  path_ = fs::canonical(wanted, error);
  if (failure.empty()) failure = error ? "'" + wanted.string() + "': " + error.message() : objection(path_);
  if (!failure.empty()) degrade(failure);
}

void CacheDirectory::degrade(const std::string& reason) {
  if (is_temporary_) throw base::EnvironmentError("kernels cannot be kept in '" + path_.string() + "': " + reason);
  path_ = private_temporary().path();
  is_temporary_ = true;
  base::warn_once("compiled kernels are kept for this run only, because " + reason);
}

std::string read_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code error;
  const auto size = fs::file_size(file, error); // files of the cache are replaced as a whole, never changed
  std::string bytes(error ? 0 : size, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream.is_open() || stream.bad() || error) throw base::EnvironmentError("cannot read '" + file.string() + "'");
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

void keep_private_temporary() { private_temporary().keep(); }

} // namespace rafter::device
