// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

enum class GmshVersion : std::uint8_t { v2_2, v4_1 };

/// The whole file, text or bytes. Both throw InputError for meshes that the format cannot hold.
std::string mfem_text(const Mesh& mesh); ///< degree 1; names of tags are lost, the format has none
std::string gmsh_text(const Mesh& mesh, GmshVersion version,
                      bool is_binary); ///< degree up to 4; names without entities are kept

/// Coordinates of the vertices, shape (vertex, 3), padded with zeros. Throws InputError when cells disagree about a
/// vertex (periodic meshes), which no format written here can hold.
std::vector<double> vertex_coordinates(const Mesh& mesh);

/// Tagged facets as facets of cells (of one of the cells, for interior facets) with their tags, in the order of the
/// cells.
std::vector<std::pair<FacetRef, std::int32_t>> tagged_cell_facets(const Mesh& mesh);

/// Throws InputError for formats that write_mesh refuses, before there is a mesh.
void require_mesh_format(const std::string& path, const MeshFormat& format);

} // namespace rafter::mesh
