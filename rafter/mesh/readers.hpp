// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

#include <rafter/mesh/merge.hpp>
#include <rafter/mesh/mesh.hpp>

/// Readers for each file format. `path` is used in messages; `bytes` is the whole file. All throw InputError, and none
/// allocates memory according to a number in the file before comparing it with the size of the file.
namespace rafter::mesh {

/// Returns the text of messages about a file whose name ends as those of geometries do; "": it may be a mesh.
std::string geometry_objection(const std::string& path);

/// Reads a mesh from memory, in the format that its first line names, and checks that it is valid.
Mesh parse_mesh(const std::string& path, std::string_view bytes, const ReadOptions& options = {});

/// Reads Gmsh .msh files of versions 2.0-2.2 and 4.1, text and binary (https://gmsh.info/doc/texinfo/gmsh.html, "Gmsh
/// file formats").
Mesh read_gmsh(const std::string& path, std::string_view bytes);

/// Reads files of MFEM mesh v1.0 (https://mfem.org/mesh-formats).
Mesh read_mfem(const std::string& path, std::string_view bytes);

} // namespace rafter::mesh
