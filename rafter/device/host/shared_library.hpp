// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <memory>
#include <rafter/device/device.hpp>
#include <string>

namespace rafter::device {

/// C signature of a host entry point.
using EntryPoint = void (*)(void* const* arguments, std::int64_t begin, std::int64_t end);

/// An entry point of a loaded library; the library stays loaded as long as it exists.
class HostKernel final : public Kernel {
public:
  HostKernel(std::string name, EntryPoint address, std::shared_ptr<void> library)
      : name_(std::move(name)), entry_(address), library_(std::move(library)) {}
  const std::string& name() const override { return name_; }
  EntryPoint entry() const { return entry_; }

private:
  std::string name_;
  EntryPoint entry_;
  std::shared_ptr<void> library_;
};

/// A shared library that is loaded into this process, with symbols that other libraries do not see.
class HostProgram final : public Program {
public:
  /// Throws EnvironmentError with the loader's message when the library cannot be loaded.
  explicit HostProgram(const std::filesystem::path& library);
  std::shared_ptr<const Kernel> kernel(const std::string& name) const override;
  /// Returns what the library says that it was compiled for, in a constant text of this name; "" where it has none.
  std::string key() const;
  static constexpr const char* key_symbol = "rafter_key";

private:
  std::shared_ptr<void> library_;
};

} // namespace rafter::device
