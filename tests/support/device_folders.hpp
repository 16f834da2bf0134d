// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <rafter/base/log.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace rafter::test {

/// This is a new folder, which is removed at the end of the scope.
class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "rafter-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = std::filesystem::canonical(name);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  /// Returns the files in the folder whose names end so.
  std::vector<std::filesystem::path> files(const std::string& extension) const { return files_in(path_, extension); }
  static std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                                     const std::string& extension) {
    std::vector<std::filesystem::path> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == extension) result.push_back(entry.path());
    std::ranges::sort(result);
    return result;
  }
  std::size_t count(const std::string& extension) const { return files(extension).size(); }

private:
  std::filesystem::path path_;
};

/// This collects warnings as long as it exists.
class Warnings {
public:
  Warnings() : previous_(base::set_warning_handler([this](const std::string& text) { texts.push_back(text); })) {}
  ~Warnings() { base::set_warning_handler(std::move(previous_)); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  std::vector<std::string> texts;

private:
  base::WarningHandler previous_;
};

/// This sets an environment variable as long as it exists, or removes it if there is no value.
class Environment {
public:
  Environment(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) previous_ = old;
    set(value);
  }
  ~Environment() { set(previous_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

private:
  void set(const std::optional<std::string>& value) {
    if (value)
      setenv(name_.c_str(), value->c_str(), 1);
    else
      unsetenv(name_.c_str());
  }
  std::string name_;
  std::optional<std::string> previous_;
};

} // namespace rafter::test
