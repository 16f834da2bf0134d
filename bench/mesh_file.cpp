// SPDX-License-Identifier: BSD-3-Clause
#include <bench/mesh_file.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <bench/suites.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/map_kinds.hpp>
#include <rafter/report/table.hpp>

namespace rafter::bench {
namespace {

/// The file has been read before, so that failures are rare.
std::string hash_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::filesystem::file_size(path), '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw base::InputError(fmt::format("{}: cannot be read to its end", path));
  return base::content_hash(bytes);
}

/// Counts the cells in the order of shapes and kinds of maps.
std::vector<MeshFile::Cells> count_cells(const mesh::Mesh& mesh) {
  std::vector<MeshFile::Cells> result;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto kinds = mesh::map_kinds(mesh, static_cast<int>(g), mesh::BatchOptions().affine_tolerance);
    for (const auto map : mesh::map_kinds_in_order)
      if (const auto count = std::ranges::count(kinds, map); count > 0)
        result.push_back({mesh.groups[g].shape, mesh.groups[g].degree, map, count});
  }
  std::ranges::stable_sort(result, {}, &MeshFile::Cells::shape);
  return result;
}

mesh::Mesh read(const std::string& path) {
  if (const std::filesystem::path file(path); file.extension() == ".geo")
    throw base::InputError(fmt::format("{}: a geometry is no mesh; Gmsh makes one of it: gmsh -3 -o {}.msh {}", path,
                                       file.stem().string(), path));
  return mesh::read_mesh(path);
}

/// Returns numbers of cells under the names that `key` gives them.
template <class Key> nlohmann::ordered_json counts_by(const MeshFile& file, const Key& key) {
  auto result = nlohmann::ordered_json::object();
  for (const auto& cells : file.cells) {
    const std::string name(key(cells));
    result[name] = result.value(name, std::int64_t{0}) + cells.count;
  }
  return result;
}

} // namespace

void read_mesh_file(const std::string& suite, Settings& settings, std::span<const std::string> given,
                    std::span<const std::string> of_boxes) {
  if (settings.mesh_path.empty()) {
    if (std::ranges::find(given, "--refine") != given.end())
      throw base::InputError(
          fmt::format("bench {}: --refine is of the mesh that --mesh names, which is missing", suite));
    return;
  }
  std::vector<std::string> refused{"--mdofs"};
  refused.insert(refused.end(), of_boxes.begin(), of_boxes.end());
  for (const auto& key : given)
    if (std::ranges::find(refused, key) != refused.end())
      throw base::InputError(fmt::format("bench {}: {} is of squares and cubes and does not go with --mesh, whose file "
                                         "has its cells; --refine makes them more",
                                         suite, key));
  auto generations =
      mesh::refined_generations(std::make_shared<const mesh::Mesh>(read(settings.mesh_path)), settings.refinements);
  const auto mesh = generations.finest();
  mesh::require_valid(*mesh);
  MeshFile file{.path = settings.mesh_path,
                .name = std::filesystem::path(settings.mesh_path).stem().string(),
                .hash = hash_of_file(settings.mesh_path),
                .refinements = settings.refinements,
                .mesh = mesh,
                .generations = std::make_shared<const mesh::Generations>(std::move(generations)),
                .cells = count_cells(*mesh)};
  settings.mesh = std::make_shared<const MeshFile>(std::move(file));
  settings.million_dofs = {0}; // the mesh has one size
}

void require_hexahedra(const std::string& suite, const Settings& settings) {
  if (settings.mesh == nullptr) return;
  std::vector<std::string> others;
  for (const auto& group : settings.mesh->mesh->groups)
    if (group.shape != element::Shape::hexahedron) others.emplace_back(element::name(group.shape));
  std::ranges::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  if (others.empty()) return;
  std::vector<std::string> accepting;
  for (const auto& of : suites())
    if (of.takes_all_shapes) accepting.emplace_back(of.name);
  throw base::InputError(fmt::format("bench {}: the suite is of hexahedra, and {} has cells of shape {}; suites that "
                                     "take all shapes: {}",
                                     suite, settings.mesh->path, base::join(others, ", "),
                                     base::join(accepting, ", ")));
}

std::string describe(const MeshFile& file) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& cells : file.cells)
    rows.push_back({std::string(element::name(cells.shape)), std::string(mesh::name(cells.map)),
                    std::to_string(cells.degree), std::to_string(cells.count)});
  const std::vector<report::Column> columns{
      {"shape", "of cells"},
      {"map", "kind of their geometry: what kernels know of it"},
      {"geometry degree", "of the file; 1: given by the vertices", report::Align::right},
      {"cells", "how many", report::Align::right}};
  const auto refined = file.refinements == 0 ? std::string() : fmt::format(", refined {} times", file.refinements);
  return fmt::format("mesh {}{}; hash of the file {}\n{}", file.path, refined, file.hash,
                     report::format_table(columns, rows));
}

nlohmann::ordered_json to_json(const MeshFile& file) {
  nlohmann::ordered_json result{{"file", file.path},
                                {"hash", file.hash},
                                {"refinements", file.refinements},
                                {"dimension", file.mesh->tdim},
                                {"cells", nlohmann::ordered_json::array()}};
  for (const auto& cells : file.cells)
    result["cells"].push_back({{"shape", element::name(cells.shape)},
                               {"degree", cells.degree},
                               {"map", mesh::name(cells.map)},
                               {"count", cells.count}});
  return result;
}

nlohmann::ordered_json row_of(const MeshFile& file) {
  return {{"mesh", file.name},
          {"shapes", counts_by(file, [](const MeshFile::Cells& cells) { return element::name(cells.shape); })},
          {"maps", counts_by(file, [](const MeshFile::Cells& cells) { return mesh::name(cells.map); })}};
}

} // namespace rafter::bench
