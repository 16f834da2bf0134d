// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <bench/options.hpp>
#include <nlohmann/json_fwd.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/generations.hpp>

/// Suites run on meshes from files, too.
namespace rafter::bench {

/// A mesh was read from a file and refined; its hash distinguishes its rows from those of other meshes.
struct MeshFile {
  /// These cells have one shape and one kind of map.
  struct Cells {
    element::Shape shape = element::Shape::hexahedron;
    int degree = 1; ///< is that of the geometry
    mesh::MapKind map = mesh::MapKind::affine;
    std::int64_t count = 0;
  };
  std::string path, name; ///< the name is that of the file without folders and ending
  std::string hash;       ///< hash of the bytes of the file, XXH3 of 128 bits, as the program xxh128sum prints it
  int refinements = 0;
  std::shared_ptr<const mesh::Mesh> mesh;
  std::shared_ptr<const mesh::Generations> generations; ///< the meshes of all refinements; `mesh` is the last
  std::vector<Cells> cells;
};

/// Reads the mesh that `settings` ask for and puts it there; without --mesh they stay as they are. `given` are the keys
/// of the command line, `of_boxes` the options of the suite that choose squares and cubes, beside the common ones.
/// Throws InputError for such options beside --mesh, for --refine without it, and for files that hold no usable mesh.
void read_mesh_file(const std::string& suite, Settings& settings, std::span<const std::string> given,
                    std::span<const std::string> of_boxes = {});

/// Throws InputError where the mesh of the settings has other cells than hexahedra.
void require_hexahedra(const std::string& suite, const Settings& settings);

/// Returns file, hash and a table of the cells, for the heading of a report.
std::string describe(const MeshFile& file);
/// Returns an object with `file`, `hash`, `refinements`, `dimension` and `cells`, a list of `shape`, `degree`, `map`
/// and `count`.
nlohmann::ordered_json to_json(const MeshFile& file);
/// Returns what rows say of the mesh: its name, `mesh`, and numbers of cells by name, `shapes` and `maps`.
nlohmann::ordered_json row_of(const MeshFile& file);

} // namespace rafter::bench
