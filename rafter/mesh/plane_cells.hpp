// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/mesh/raw_mesh.hpp>

namespace rafter::mesh {

/// Turns the cells of plane meshes and lines whose geometric entity has the wrong orientation: files orient cells by
/// the normal of their entity, which may point down. If all cells of an entity are reversed, they are mirrored; an
/// entity with cells of both orientations keeps them, and they are reported as inverted later.
void orient_plane_cells(RawMesh& raw);

} // namespace rafter::mesh
