// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include <rafter/base/aligned.hpp>
#include <rafter/element/cell.hpp>

/// Numbers the edges and faces that cells share, and finds them by their vertices.
namespace rafter::mesh {

/// Vertex numbers of an entity in ascending order; edges and triangles are padded at the end, so that they differ from
/// quadrilaterals.
using EntityKey = std::array<std::int32_t, 4>;
inline constexpr std::int32_t key_padding = std::numeric_limits<std::int32_t>::max();
/// Key of an entity with at most four vertices, given in any order.
EntityKey make_entity_key(std::span<const std::int32_t> vertices);

/// Numbers entities in the order in which they are added.
class EntityNumbers {
public:
  explicit EntityNumbers(std::int32_t num_vertices) : first_(static_cast<std::size_t>(num_vertices), -1) {}

  std::int32_t count() const { return static_cast<std::int32_t>(entities_.size()); }
  /// Returns the number of an entity, which is new if the entity was not added before.
  std::int32_t add(const EntityKey& key);
  /// Returns the number of an entity; -1 when it was not added.
  std::int32_t find(const EntityKey& key) const;

private:
  /// An entity in the chain of those with the same smallest vertex. New entities come first, since neighbouring cells
  /// follow each other in most meshes.
  struct Entity {
    std::array<std::int32_t, 3> others; ///< vertices other than the smallest, ascending
    std::int32_t next;                  ///< next entity of the chain; -1: none
  };
  /// Far more entities than vertices of reasonable meshes have. Where chains would grow longer, entities go to the map
  /// `rest_`, which keeps all other meshes at O(n log n).
  static constexpr int longest_chain = 64;

  /// Result of a search in the chain of a key: the number found, or -1, and how many entities were visited.
  struct Search {
    std::int32_t number;
    int length;
  };
  Search search(const EntityKey& key) const;

  std::vector<std::int32_t> first_; ///< first entity of the chain, shape (vertex)
  base::AlignedVector<Entity> entities_;
  std::map<EntityKey, std::int32_t> rest_;
};

/// The sub-entities of one dimension of cells of a shape, which are visited one after the other. How a cell sees its
/// entities (their vertices in ascending order, their orientations) depends only on the order of its vertex numbers,
/// and is computed once for each order.
class CellEntities {
public:
  CellEntities(element::Shape shape, int dim);

  int count() const { return static_cast<int>(shapes_.size()); }
  /// Makes a cell with these vertices the current one. The vertices must be different, and stay valid until the next
  /// call.
  void visit(std::span<const std::int32_t> vertices);

  EntityKey key(int entity) const {
    const auto& view = (*views_)[static_cast<std::size_t>(entity)];
    EntityKey key{key_padding, key_padding, key_padding, key_padding};
    for (std::size_t i = 0; i < view.num_vertices; ++i) key[i] = vertices_[view.ascending[i]];
    return key;
  }
  /// Code of element::orientation with which the current cell sees the entity.
  std::uint8_t orientation(int entity) const { return (*views_)[static_cast<std::size_t>(entity)].orientation; }

private:
  struct View {
    std::array<std::uint8_t, 4> ascending{}; ///< local vertices by ascending global number
    std::uint8_t num_vertices = 0, orientation = 0;
  };
  bool is_ascending(std::span<const std::int32_t> vertices) const;
  std::vector<View> make_views() const;

  std::vector<element::Shape> shapes_;          ///< shapes of the entities
  std::vector<std::span<const int>> of_entity_; ///< local vertices of each entity
  std::vector<std::uint8_t> order_;             ///< local vertices of the current cell by ascending global number
  std::span<const std::int32_t> vertices_;      ///< vertices of the current cell
  std::unordered_map<std::uint64_t, std::vector<View>> views_of_order_; ///< views for each order, by its digits
  const std::vector<View>* views_ = nullptr;                            ///< views of the current cell
};

} // namespace rafter::mesh
