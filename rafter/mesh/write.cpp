// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/writers.hpp>

namespace rafter::mesh {

std::vector<double> vertex_coordinates(const Mesh& mesh) {
  const auto gdim = static_cast<std::size_t>(mesh.gdim);
  std::vector<double> x(3 * static_cast<std::size_t>(mesh.num_vertices), 0.0);
  std::vector<bool> is_set(static_cast<std::size_t>(mesh.num_vertices), false);
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto num_corners = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      const auto corners = cell_vertex_coordinates(mesh, static_cast<std::int32_t>(g), c);
      for (std::size_t k = 0; k < num_corners; ++k) {
        const auto v = static_cast<std::size_t>(group.vertices[static_cast<std::size_t>(c) * num_corners + k]);
        for (std::size_t d = 0; d < gdim; ++d) {
          const double value = corners[k * gdim + d];
          if (is_set[v] && std::abs(x[3 * v + d] - value) > 1e-8 * (std::abs(value) + std::abs(x[3 * v + d])) + 1e-300)
            throw base::InputError(
                fmt::format("{}cells disagree about the position of vertex {}: periodic meshes cannot be written",
                            prefix(mesh), v));
          if (!is_set[v]) x[3 * v + d] = value;
        }
        is_set[v] = true;
      }
    }
  }
  return x;
}

std::vector<std::pair<FacetRef, std::int32_t>> tagged_cell_facets(const Mesh& mesh) {
  using Key = std::array<std::int32_t, 4>;
  std::map<Key, std::int32_t> tags;
  for (const auto& facet : mesh.tagged_facets) {
    auto key = facet.vertices;
    std::sort(key.begin(), key.end());
    tags.emplace(key, facet.tag);
  }
  std::vector<std::pair<FacetRef, std::int32_t>> result;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto num_corners = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (std::int32_t c = 0; c < group.num_cells(); ++c)
      for (int f = 0; f < element::num_facets(group.shape); ++f) {
        Key key{-1, -1, -1, -1};
        std::size_t k = 0;
        for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, f))
          key[k++] = group.vertices[static_cast<std::size_t>(c) * num_corners + static_cast<std::size_t>(v)];
        std::sort(key.begin(), key.end());
        const auto found = tags.find(key);
        if (found == tags.end()) continue;
        result.emplace_back(FacetRef{static_cast<std::int32_t>(g), c, f}, found->second);
        tags.erase(found); // an interior facet is listed once
      }
  }
  return result;
}

namespace {

struct Format {
  const char* name;    ///< name of the format, which is also the ending of its files
  const char* meaning; ///< format and version in words
  bool has_binary;
  std::string (*write)(const Mesh&, bool is_binary);
};

template <GmshVersion version> std::string write_gmsh(const Mesh& mesh, bool is_binary) {
  return gmsh_text(mesh, version, is_binary);
}
/// Formats that are written. Names of versions are those of Gmsh's own option -format.
constexpr std::array<Format, 4> formats{{
    {"msh", "Gmsh 4.1", true, write_gmsh<GmshVersion::v4_1>},
    {"msh41", "Gmsh 4.1", true, write_gmsh<GmshVersion::v4_1>},
    {"msh22", "Gmsh 2.2", true, write_gmsh<GmshVersion::v2_2>},
    {"mesh", "MFEM v1.0", false, [](const Mesh& mesh, bool) { return mfem_text(mesh); }},
}};

/// Text such as "a (meaning), b (meaning) and c (meaning)".
std::string list_formats(bool only_binary) {
  std::vector<std::string> items;
  for (const auto& format : formats)
    if (format.has_binary || !only_binary) items.push_back(fmt::format("{} ({})", format.name, format.meaning));
  const auto last = items.back();
  items.pop_back();
  return fmt::format("{} and {}", fmt::join(items, ", "), last);
}

const Format& find_format(const std::string& path, const MeshFormat& wanted) {
  const auto extension = std::filesystem::path(path).extension().string();
  const auto name = !wanted.name.empty() ? wanted.name : extension.empty() ? "" : extension.substr(1);
  const auto found = std::ranges::find(formats, name, &Format::name);
  if (found == formats.end())
    throw base::InputError(
        wanted.name.empty()
            ? fmt::format("{}: the name does not end in a format for meshes; accepted as its end, "
                          "or given beside the name, are {}",
                          base::output_text(path), list_formats(false))
            : fmt::format("'{}' names no format of meshes; accepted are {}", name, list_formats(false)));
  if (wanted.is_binary && !found->has_binary)
    throw base::InputError(fmt::format("{}: {} has no binary files; accepted as binary are {}", base::output_text(path),
                                       found->meaning, list_formats(true)));
  return *found;
}

} // namespace

void require_mesh_format(const std::string& path, const MeshFormat& format) { find_format(path, format); }

void write_mesh(const Mesh& mesh, const std::string& path, const MeshFormat& format) {
  require_whole(mesh, "mesh files");
  if (mesh.num_cells() == 0)
    throw base::InputError(fmt::format("{}: a mesh without cells cannot be written", base::output_text(path)));
  base::write_output(path, find_format(path, format).write(mesh, format.is_binary));
}

} // namespace rafter::mesh
