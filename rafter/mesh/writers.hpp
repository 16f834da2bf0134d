// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

enum class GmshVersion : std::uint8_t { v2_2, v4_1 };

/// The functions below return the whole file, as text or bytes. They throw InputError for meshes that the format cannot
/// hold.
/// Takes geometry of degree 1; names of tags are lost, since the format has none.
std::string mfem_text(const Mesh& mesh);
std::string gmsh_text(const Mesh& mesh, GmshVersion version,
                      bool is_binary); ///< takes geometry of degree up to 4; names without entities are kept

/// Coordinates of the vertices, shape (vertex, 3), padded with zeros. Throws InputError when cells disagree about a
/// vertex (periodic meshes); no format written here can hold such meshes.
std::vector<double> vertex_coordinates(const Mesh& mesh);

/// Each tagged facet as a facet of a cell (for interior facets, of one of the cells) with its tag, in the order of the
/// cells.
std::vector<std::pair<FacetRef, std::int32_t>> tagged_cell_facets(const Mesh& mesh);

/// Throws InputError for formats that write_mesh refuses; to be called before a mesh is made.
void require_mesh_format(const std::string& path, const MeshFormat& format);

} // namespace rafter::mesh
