// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// Finds places where neighbouring cells do not match, and describes each in one line, at most `limit` of them:
/// quadrilateral facets that face triangles, pairs of triangles that halve a quadrilateral along different diagonals,
/// and hanging vertices (a vertex of the surface strictly inside another
/// straight facet or edge of the surface). All leave exterior facets inside the domain. Takes about O(n log n).
std::vector<std::string> find_nonconformities(const Mesh& mesh, std::size_t limit);

} // namespace rafter::mesh
