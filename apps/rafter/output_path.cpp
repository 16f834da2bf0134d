// SPDX-License-Identifier: BSD-3-Clause
#include "output_path.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::app {

void require_folder(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  const auto parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!parent.empty() && !std::filesystem::is_directory(parent, error))
    throw base::InputError(fmt::format("{} {}: {} is no folder", option, path, parent.string()));
  if (std::filesystem::is_directory(path, error))
    throw base::InputError(fmt::format("{} {}: is a folder; accepted is a file", option, path));
}

} // namespace rafter::app
