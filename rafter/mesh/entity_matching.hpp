// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// Finds the edges and faces that cells share, by their vertices.
namespace rafter::mesh {

/// Vertex numbers of an entity in ascending order; edges and triangles are padded at the end, so that they differ from
/// quadrilaterals.
using EntityKey = std::array<std::int32_t, 4>;
inline constexpr std::int32_t key_padding = std::numeric_limits<std::int32_t>::max();
/// Returns the key of an entity with at most four vertices, given in any order.
EntityKey make_entity_key(std::span<const std::int32_t> vertices);

/// An entity is seen from the side of each of its cells; `facet` is the local number of the entity there.
using EntitySide = FacetRef;
/// A side of this group stands for number `cell` of the keys that are looked up.
inline constexpr std::int32_t group_of_lookup = std::numeric_limits<std::int32_t>::max();

/// Calls visit(sides, block) once for every entity of one dimension below that of the cells: `sides` are those of all
/// cells that have it, ascending, and then the numbers of the keys in `lookups` that are its own, with or without a
/// cell. Entities come in `num_entity_blocks` blocks, which run on several threads; those of one block come one after
/// the other. Keys hold vertices of the mesh. The result does not depend on the number of threads, and takes O(n)
/// operations for any mesh. `is_marked` leaves out the entities of which a vertex is not marked, shape (vertex); empty:
/// all are marked. The vertices of lookups must be.
void match_entities(const Mesh& mesh, int dim, std::span<const EntityKey> lookups,
                    const std::function<void(std::span<const EntitySide> sides, std::size_t block)>& visit,
                    std::span<const std::uint8_t> is_marked = {});
std::size_t num_entity_blocks(const Mesh& mesh, int dim);

/// Returns where the sides of each group of cells begin in a list of all, shape (group + 1).
std::vector<std::int64_t> side_begins(const Mesh& mesh, int dim);

/// The edges or faces of all cells are numbered in the order in which cells have them first. `of_groups` are those of
/// the cells of each group, shape (cell, local entity), `of_lookups` those of keys; -1: no cell has it.
struct EntityNumbers {
  std::int32_t count = 0;
  std::vector<std::vector<std::int32_t>> of_groups;
  std::vector<std::int32_t> of_lookups;
};
/// Throws InputError where there are more sides than 32 bits number.
EntityNumbers number_entities(const Mesh& mesh, int dim, std::span<const EntityKey> lookups);

/// Says how cells of a shape see their sub-entities of one dimension. This depends only on the order of a cell's vertex
/// numbers, and is computed once for each order.
class EntityOrientations {
public:
  EntityOrientations(element::Shape shape, int dim);

  int count() const { return static_cast<int>(shapes_.size()); }
  /// Returns the codes of element::orientation with which a cell with these vertices, all of them different, sees its
  /// entities.
  std::span<const std::uint8_t> of(std::span<const std::int32_t> vertices);

private:
  bool is_ascending(std::span<const std::int32_t> vertices) const;
  std::vector<std::uint8_t> make_codes() const;

  std::vector<element::Shape> shapes_;          ///< shapes of the entities
  std::vector<std::span<const int>> of_entity_; ///< local vertices of each entity
  std::vector<std::uint8_t> order_;             ///< local vertices of the last cell by ascending number
  std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> codes_of_order_; ///< codes for each order, by its digits
  const std::vector<std::uint8_t>* codes_ = nullptr;                            ///< codes of the last cell
};

} // namespace rafter::mesh
