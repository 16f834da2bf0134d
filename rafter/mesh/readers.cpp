// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/readers.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <rafter/base/aligned.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/cursor.hpp>

namespace rafter::mesh {

namespace {

struct Format {
  std::string_view first_line; ///< begin of the first line that is not blank
  std::string_view name;
  Mesh (*read)(const std::string& path, std::string_view bytes);
};

/// All formats; a new one takes one line here.
constexpr std::array formats{
    Format{"$", "Gmsh .msh 2.2 and 4.1 ($MeshFormat)", read_gmsh},
    Format{"MFEM ", "MFEM mesh v1.0 (MFEM mesh v1.0)", read_mfem},
};

base::RawVector<char> read_bytes(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw base::InputError(fmt::format("{}: no such file", path));
  if (!std::filesystem::is_regular_file(status))
    throw base::InputError(
        fmt::format("{}: not a file{}", path, std::filesystem::is_directory(status) ? " but a directory" : ""));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw base::InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw base::InputError(fmt::format("{}: cannot be read: {}", path, error.message()));
  base::RawVector<char> bytes(size);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (file.gcount() != static_cast<std::streamsize>(size))
    throw base::InputError(fmt::format("{}: cannot be read to its end", path));
  return bytes;
}

std::string_view first_line(std::string_view bytes) {
  const auto begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return bytes.substr(begin, bytes.find_first_of("\r\n", begin) - begin);
}

} // namespace

Mesh read_mesh(const std::string& path) { return read_mesh(path, {}); }

Mesh read_mesh(const std::string& path, const ReadOptions& options) {
  const auto bytes = read_bytes(path);
  return parse_mesh(path, {bytes.data(), bytes.size()}, options);
}

Mesh parse_mesh(const std::string& path, std::string_view bytes, const ReadOptions& options) {
  const auto line = first_line(bytes);
  if (line.empty()) throw base::InputError(fmt::format("{}: the file is empty", path));
  for (const auto& format : formats)
    if (line.starts_with(format.first_line)) {
      auto mesh = format.read(path, bytes);
      if (options.merge) mesh = merged(mesh, *options.merge);
      require_valid(mesh);
      return mesh;
    }
  std::vector<std::string> names;
  for (const auto& format : formats) names.emplace_back(format.name);
  throw base::InputError(
      fmt::format("{}:1: not a mesh format that is known: the file begins with '{}'; accepted are {}", path,
                  printable(line), base::join(names, ", ")));
}

} // namespace rafter::mesh
