// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/input_file.hpp>

#include <filesystem>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::base {

namespace fs = std::filesystem;

std::string irregular_kind(const std::string& path) {
  std::error_code error;
  switch (fs::status(path, error).type()) {
  case fs::file_type::directory:
    return "a directory";
  case fs::file_type::fifo:
    return "a pipe (FIFO)";
  case fs::file_type::block:
  case fs::file_type::character:
    return "a device";
  case fs::file_type::socket:
    return "a socket";
  default:
    return "";
  }
}

void require_regular_file(const std::string& path, std::string_view accepted) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) {
    const bool is_missing = error == std::errc::no_such_file_or_directory || !error;
    throw InputError(is_missing ? fmt::format("{}: no such file", path)
                                : fmt::format("{}: cannot be opened: {}", path, error.message()));
  }
  if (!fs::is_regular_file(status))
    throw InputError(fmt::format("{}: not a file but {}; accepted is {}", path, irregular_kind(path), accepted));
}

} // namespace rafter::base
