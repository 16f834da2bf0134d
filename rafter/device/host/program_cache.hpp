// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <rafter/device/device.hpp>
#include <rafter/device/host/cache_directory.hpp>
#include <string>

namespace rafter::device {

struct Compiler;

/// Cache of compiled programs, in memory and on disk. The key consists of everything that decides about the result:
/// source, flags, compiler and its version, instruction sets of the processor, version of Rafter. A file on disk ends
/// with a checksum; it is built anew when that is wrong or the loader refuses the file. Threads, and processes that
/// share the folder, may use it at the same time: an equal program is compiled once per process, and whichever process
/// renames its file last leaves the same program.
class ProgramCache {
public:
  explicit ProgramCache(CacheDirectory directory = CacheDirectory()) : directory_(std::move(directory)) {}

  /// The program of a source that was compiled before; null where it was not, or its file is damaged. Throws
  /// EnvironmentError where there is no compiler.
  std::shared_ptr<const Program> find(const std::string& source, const CompileOptions& options = {});

  /// The program of a source, compiled if necessary. Throws EnvironmentError where there is no compiler, compilation
  /// fails (the source is kept and named), or no folder can be written.
  std::shared_ptr<const Program> program(const std::string& source, const CompileOptions& options = {});

  /// Path of the cache file of a program, whether it exists or not.
  std::filesystem::path file_of(const std::string& source, const CompileOptions& options = {}) const;

  std::filesystem::path directory() const;

private:
  /// A program, which is there already or is being made by the thread that holds the lock.
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const Program> program;
  };
  std::shared_ptr<Entry> entry_of(const std::string& key);
  void degrade(const std::filesystem::path& from, const std::string& reason);
  void keep_source(const std::filesystem::path& folder) const;
  std::shared_ptr<const Program> load_or_build(const std::string& key, const Compiler& compiler,
                                               const std::string& source, const CompileOptions& options);

  mutable std::mutex mutex_;
  CacheDirectory directory_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

} // namespace rafter::device
