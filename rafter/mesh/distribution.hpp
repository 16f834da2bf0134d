// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <rafter/comm/communicator.hpp>
#include <rafter/mesh/mesh.hpp>

/// Meshes whose cells belong to several processes.
namespace rafter::mesh {

/// The relation of the mesh of a process, which has some of the cells of a larger one, to those of the others.
struct Distribution {
  std::shared_ptr<const comm::Communicator> communicator; ///< communicator of the processes that have the cells
  std::vector<std::vector<std::int32_t>> global_cells;    ///< numbers in the whole mesh, shape (group, cell)
  /// Numbers of the vertices, edges and faces of the cells which are the same on all processes; identified entities
  /// have one number. Shape (dim)(group)(cell, local entity), as Topology::Group::edges.
  std::array<std::vector<std::vector<std::int64_t>>, 3> entities;
  /// Processes that have an entity, ascending, by its number, for the entities that cells of several processes have.
  /// The first one owns the unknowns there. Shape (dim).
  std::array<std::map<std::int64_t, std::vector<int>>, 3> sharing;
  /// Facets between a cell of this process and one of another: no boundary. Sorted.
  std::vector<FacetRef> interface_facets;
  std::set<std::int32_t> cell_tags;                 ///< tags of the cells of the whole mesh, 0 (untagged) included
  std::set<std::int32_t> facet_tags;                ///< tags of the tagged facets of the whole mesh
  std::map<std::int32_t, FacetCounts> facet_counts; ///< counts of the whole mesh, see Surface

  int rank() const { return communicator->rank(); }
  /// Processes that share a vertex, edge or face of a cell; none where this process alone has it.
  std::span<const int> ranks_of(int dim, std::int32_t group, std::size_t entity_of_cell) const {
    const auto& of_dim = sharing[static_cast<std::size_t>(dim)];
    const auto found =
        of_dim.find(entities[static_cast<std::size_t>(dim)][static_cast<std::size_t>(group)][entity_of_cell]);
    return found == of_dim.end() ? std::span<const int>{} : std::span<const int>(found->second);
  }
};

/// The process of each cell, shape (group, cell).
using CellRanks = std::vector<std::vector<int>>;

/// The part of a mesh that this process has: the cells with its rank, in their order, with the vertices, geometry
/// nodes, tags and periodic facets that belong to them. All processes call it with the same mesh and ranks. Groups
/// stay, also those of which no cell is left, since what a form is integrated with depends on the shapes of the whole
/// mesh. Global vertex numbers are those of the whole mesh, so that processes see what they share in the same
/// orientation. Facets between cells of two processes keep their tags on both. Of one process the part is the mesh
/// itself. Threads that share the mesh object need its topology to be built before. Throws InputError for ranks that do
/// not fit the mesh or the communicator, and where a process has no cell.
Mesh local_part(const Mesh& mesh, const CellRanks& ranks, std::shared_ptr<const comm::Communicator> communicator);

/// Throws InputError for a part of a mesh. `what` ("null spaces") names in the message what needs the whole one.
void require_whole(const Mesh& mesh, std::string_view what);

/// Says whether another process has a vertex of the cell, too.
bool is_interface_cell(const Mesh& mesh, std::int32_t group, std::int32_t cell);

} // namespace rafter::mesh
