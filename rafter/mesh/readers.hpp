// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

#include <rafter/mesh/mesh.hpp>

/// One function per file format: `path` for messages, `bytes` the whole file. All throw InputError; none of them
/// allocates memory from a number in the file before comparing it with the size of the file.
namespace rafter::mesh {

/// read_mesh from memory: the format that the first line names; the mesh is valid.
Mesh parse_mesh(const std::string& path, std::string_view bytes);

/// Gmsh .msh 2.0-2.2 and 4.1, text and binary (https://gmsh.info/doc/texinfo/gmsh.html, "Gmsh file formats").
Mesh read_gmsh(const std::string& path, std::string_view bytes);

/// MFEM mesh v1.0 (https://mfem.org/mesh-formats).
Mesh read_mfem(const std::string& path, std::string_view bytes);

} // namespace rafter::mesh
