// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/mesh/mesh.hpp>

namespace rafter::mesh {

/// Places where neighbouring cells do not match, one line each, at most `limit`: a quadrilateral facet that faces
/// triangles, and hanging vertices (a vertex of the surface strictly inside another straight facet or edge of the
/// surface). Both leave exterior facets in the middle of the domain. About O(n log n).
std::vector<std::string> find_nonconformities(const Mesh& mesh, std::size_t limit);

} // namespace rafter::mesh
