// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/readers.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <rafter/base/aligned.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/input_file.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/cursor.hpp>
#include <rafter/mesh/limits.hpp>

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
  base::require_regular_file(path, "a mesh (.msh, .mesh)");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw base::InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw base::InputError(fmt::format("{}: cannot be read: {}", path, error.message()));
  if (static_cast<double>(size) > available_memory_bytes()) // files with holes are longer than their disk
    throw base::EnvironmentError(
        fmt::format("{}: the file has {:.2g} GB, more than the {:.2g} GB of memory that may be "
                    "used here",
                    path, 1e-9 * static_cast<double>(size), 1e-9 * available_memory_bytes()));
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

std::string geometry_objection(const std::string& path) {
  auto ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  constexpr std::array<std::string_view, 7> endings{".geo", ".geo_unrolled", ".step", ".stp", ".brep", ".iges", ".igs"};
  if (std::ranges::find(endings, ending) == endings.end()) return {};
  return fmt::format("\"{0}\" is a geometry, not a mesh: meshing is not available in this version; available: .msh, "
                     ".mesh (gmsh -3 {0} writes one)",
                     path);
}

Mesh read_mesh(const std::string& path) { return read_mesh(path, {}); }

Mesh read_mesh(const std::string& path, const ReadOptions& options) {
  if (const auto objection = geometry_objection(path); !objection.empty()) throw base::InputError(objection);
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
