// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/mesh/describe.hpp>
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
  const char* name;    ///< and the extension of its files
  const char* meaning; ///< with version
  std::string (*text)(const Mesh&);
};
constexpr std::array<Format, 2> formats{{{"msh", "Gmsh 4.1", gmsh_text}, {"mesh", "MFEM v1.0", mfem_text}}};

const Format& find_format(const std::string& path, const std::string& name) {
  const auto extension = std::filesystem::path(path).extension().string();
  const auto wanted = !name.empty() ? name : extension.empty() ? "" : extension.substr(1);
  for (const auto& format : formats)
    if (wanted == format.name) return format;
  std::string accepted;
  for (const auto& format : formats)
    accepted += fmt::format("{}{} ({})", accepted.empty() ? "" : " and ", format.name, format.meaning);
  throw base::InputError(
      name.empty() ? fmt::format("{}: the name does not end in a format for meshes; accepted as its end, or given "
                                 "beside the name, are {}",
                                 base::output_text(path), accepted)
                   : fmt::format("'{}' names no format of meshes; accepted are {}", name, accepted));
}

} // namespace

void require_mesh_format(const std::string& path, const std::string& format) { find_format(path, format); }

void write_mesh(const Mesh& mesh, const std::string& path, const std::string& format) {
  if (mesh.num_cells() == 0)
    throw base::InputError(fmt::format("{}: a mesh without cells cannot be written", base::output_text(path)));
  base::write_output(path, find_format(path, format).text(mesh));
}

void write_mesh(const Mesh& mesh, const std::string& path) { write_mesh(mesh, path, {}); }

} // namespace rafter::mesh
