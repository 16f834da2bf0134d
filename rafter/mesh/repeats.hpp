// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/mesh/raw_mesh.hpp>

namespace rafter::mesh {

/// Returns for every element the first that has the same nodes, in any order; shape (element), empty where no two
/// elements have. `nodes` has the shape (element, node of it).
std::vector<std::int32_t> first_with_same_nodes(std::span<const std::int32_t> nodes, std::size_t nodes_per_element);

/// Makes one of the cells, and one of the facets, that a file lists several times with the same nodes: it is as the
/// first of them, and belongs to the physical groups of all. Cells are distinguished by all of their nodes, facets by
/// their vertices. Cells with nodes of their own (RawMesh::is_continuous) stay as they are. Warns of elements that
/// repeat others in the same group.
void merge_repeats(RawMesh& raw);

} // namespace rafter::mesh
