// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/temporary.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <random>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace rafter::base {
namespace {

/// Temporaries that exist. The registry outlives all static objects, which may own temporaries.
struct Registry {
  std::mutex mutex;
  std::set<std::pair<pid_t, std::string>> entries; ///< paths, with the process that made them
};
Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

/// A suffix that nobody can know beforehand and no two processes choose.
std::string unique_suffix() {
  static std::atomic<unsigned> count = 0;
  return fmt::format("{:x}-{:x}-{:08x}", ::getpid(), count++, std::random_device()());
}

/// Calls `make` with new names until one succeeds; returns the path, which is in the registry from the first moment.
template <class Make> std::string make_new(const std::string& prefix, const Make& make) {
  auto& [mutex, entries] = registry();
  const std::scoped_lock lock(mutex);
  for (;;) {
    std::string path = prefix + unique_suffix();
    if (make(path)) {
      entries.emplace(::getpid(), path);
      return path;
    }
    if (errno != EEXIST) throw std::system_error(errno, std::generic_category(), path);
  }
}

/// Whoever still writes into a folder, a thread that no signal stops or a compiler that was killed, ends soon.
void remove_from_under_writers(const std::string& path) {
  constexpr int most_tries = 200;
  std::error_code error;
  for (int i = 0; i < most_tries; ++i) {
    std::filesystem::remove_all(path, error);
    const bool was_written_to = error == std::errc::directory_not_empty || error == std::errc::file_exists ||
                                error == std::errc::no_such_file_or_directory;
    if (!was_written_to) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool make_file(const std::string& path, mode_t mode) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  return descriptor >= 0 && ::close(descriptor) == 0;
}

} // namespace

Temporary Temporary::file(const std::string& prefix, mode_t mode) {
  return Temporary(make_new(prefix, [mode](const std::string& path) { return make_file(path, mode); }));
}

Temporary Temporary::folder(const std::string& prefix) {
  return Temporary(make_new(prefix, [](const std::string& path) { return ::mkdir(path.c_str(), 0700) == 0; }));
}

Temporary::Temporary(std::string path) : path_(std::move(path)), owner_(::getpid()) {}

Temporary::Temporary(Temporary&& other) noexcept : path_(std::exchange(other.path_, {})), owner_(other.owner_) {}

Temporary::~Temporary() {
  if (path_.empty() || owner_ != ::getpid()) return;
  auto& [mutex, entries] = registry();
  const std::scoped_lock lock(mutex);
  std::error_code ignored;
  if (entries.erase({owner_, path_}) > 0) std::filesystem::remove_all(path_, ignored);
}

void Temporary::keep() {
  auto& [mutex, entries] = registry();
  const std::scoped_lock lock(mutex);
  entries.erase({owner_, path_});
}

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder == '/' ? folder : "/tmp";
}

void remove_temporaries() {
  auto& [mutex, entries] = registry();
  mutex.lock(); // never unlocked, so that no new temporary appears before the end
  for (const auto& [owner, path] : entries)
    if (owner == ::getpid()) remove_from_under_writers(path);
}

} // namespace rafter::base
