// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <rafter/device/device.hpp>
#include <rafter/device/host/binary_cache.hpp>
#include <string>

namespace rafter::device {

/// Compiled C programs by their sources. The key consists of everything that decides about the result: source, flags,
/// compiler and its version, instruction sets of the processor, version of Rafter.
class ProgramCache {
public:
  explicit ProgramCache(CacheDirectory directory = CacheDirectory());

  /// The program of a source that was compiled before; null where it was not, or its file is damaged. Throws
  /// EnvironmentError where there is no compiler.
  std::shared_ptr<const Program> find(const std::string& source, const CompileOptions& options = {});

  /// The program of a source, compiled if necessary. Throws EnvironmentError where there is no compiler, compilation
  /// fails (the source is kept and named), or no folder can be written.
  std::shared_ptr<const Program> program(const std::string& source, const CompileOptions& options = {});

  /// Path of the cache file of a program, whether it exists or not.
  std::filesystem::path file_of(const std::string& source, const CompileOptions& options = {}) const;

  std::filesystem::path directory() const { return binaries_.directory(); }

private:
  BinaryCache binaries_;
};

} // namespace rafter::device
