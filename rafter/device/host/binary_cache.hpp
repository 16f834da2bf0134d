// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>
#include <rafter/device/host/cache_directory.hpp>

namespace rafter::device {

/// A program as its compiler made it.
struct Binary {
  std::string bytes; ///< content of the cache file
  /// The program itself, if compiling gives it; null: it is loaded from the file.
  std::shared_ptr<const Program> program = nullptr;
};

/// The ways in which the programs of a device are made. Both functions may be called on several threads at the same
/// time.
struct BinaryFormat {
  std::string extension; ///< ending of the names of cache files, with its point; no other device has the same
  /// Loads the program from a cache file, whose bytes are also given; null where the device refuses them.
  std::function<std::shared_ptr<const Program>(const std::filesystem::path& file, const std::string& bytes)> load;
};

/// Compiles a program. The folder is for temporary files and goes afterwards; `kept` is the path, without extension, of
/// files that an error message names. Throws EnvironmentError where that fails.
using BinaryBuild = std::function<Binary(const std::filesystem::path& folder, const std::filesystem::path& kept)>;

/// Cache of compiled programs, in memory and on disk, under keys that hash everything which decides about the result. A
/// file on disk is checked together with its key (read_entry); it is built anew when the check does not hold or the
/// device refuses the file. Threads, and
/// processes that share the folder, may use it at the same time: an equal program is compiled once per process, and
/// whichever process renames its file last leaves the same program. A folder that cannot be used is replaced by a
/// temporary one, with one warning.
class BinaryCache {
public:
  BinaryCache(CacheDirectory directory, BinaryFormat format)
      : directory_(std::move(directory)), format_(std::move(format)) {}

  /// The program of a key that was compiled before; null where it was not, or its file is damaged.
  std::shared_ptr<const Program> find(const std::string& key);
  /// The program of a key, compiled if necessary. Throws EnvironmentError where that fails or no folder can be written.
  std::shared_ptr<const Program> program(const std::string& key, const BinaryBuild& build);

  /// Path of the cache file of a program, whether it exists or not.
  std::filesystem::path file_of(const std::string& key) const { return directory() / (key + format_.extension); }
  std::filesystem::path directory() const;

private:
  /// A program, which is there already or is being made by the thread that holds the lock.
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const Program> program;
  };
  std::shared_ptr<Entry> entry_of(const std::string& key);
  void degrade(const std::filesystem::path& from, const std::string& reason);
  void keep_files(const std::filesystem::path& folder) const;
  std::shared_ptr<const Program> load(const std::filesystem::path& file, const std::string& key) const;
  std::shared_ptr<const Program> compiled(const std::filesystem::path& file, const std::string& key,
                                          const BinaryBuild& build) const;
  std::shared_ptr<const Program> load_or_build(const std::string& key, const BinaryBuild& build);

  mutable std::mutex mutex_;
  CacheDirectory directory_;
  BinaryFormat format_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

/// The hash of texts in their order, which are kept apart.
std::string cache_key(const std::vector<std::string>& parts);

/// The folder cannot store or load programs. (A program that does not compile is another error.)
class UnusableFolder : public base::EnvironmentError {
public:
  using base::EnvironmentError::EnvironmentError;
};

/// Writes a file for its user alone. Throws UnusableFolder where that fails.
void write_private(const std::filesystem::path& file, std::string_view bytes);

} // namespace rafter::device
