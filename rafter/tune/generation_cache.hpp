// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <rafter/schedule/plan.hpp>

namespace rafter::tune {

/// Names the generator of this build: it changes with the sources of all modules from forms to kernels, so that texts
/// of another generator are never taken for those of this one.
std::string_view generator_id();

/// What planning decided and emission wrote for one specification of a kernel.
struct Generation {
  schedule::Plan plan;
  double seconds = 0;       ///< of a run, as the planner predicted; 0: not known
  std::string source;       ///< of the kernel
  std::string setup_source; ///< of the kernel that computes what it reads as stored; "": there is none
  bool operator==(const Generation&) const = default;
};

/// Generations by the hash of their specification, as files in a folder that is named by the generator and that several
/// processes may use. It is a memory and nothing more: what is missing, damaged or cannot be written is generated anew,
/// never an exception.
class GenerationCache {
public:
  /// In the cache folder of this user (device::CacheDirectory). Folders of other generators that no process
  /// has used for some weeks go.
  GenerationCache();
  explicit GenerationCache(std::filesystem::path folder, std::string_view id = generator_id());

  std::optional<Generation> find(const std::string& specification) const;
  void remember(const std::string& specification, const Generation& generation);

  const std::filesystem::path& folder() const { return folder_; }

private:
  std::filesystem::path file_of(const std::string& specification) const;
  std::filesystem::path parent_, folder_;
  std::once_flag is_made_;
  mutable std::once_flag is_used_; ///< the folder's time says when kernels were last found in it
};

} // namespace rafter::tune
