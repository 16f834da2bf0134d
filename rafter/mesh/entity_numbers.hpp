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

/// Edges and faces that cells share, by their vertices.
namespace rafter::mesh {

/// Vertex numbers of an entity in ascending order; triangles and edges padded at the end, so that they differ from
/// quadrilaterals.
using EntityKey = std::array<std::int32_t, 4>;
inline constexpr std::int32_t key_padding = std::numeric_limits<std::int32_t>::max();
/// Of at most four vertices in any order.
EntityKey make_entity_key(std::span<const std::int32_t> vertices);

/// Numbers of entities, in the order in which they were added.
class EntityNumbers {
public:
  explicit EntityNumbers(std::int32_t num_vertices) : first_(static_cast<std::size_t>(num_vertices), -1) {}

  std::int32_t count() const { return static_cast<std::int32_t>(entities_.size()); }
  /// The entity's number, which is new when it was not seen before.
  std::int32_t add(const EntityKey& key);
  /// Its number; -1 when it was not added.
  std::int32_t find(const EntityKey& key) const;

private:
  /// Of one smallest vertex, the youngest first: neighbouring cells follow each other in most meshes.
  struct Entity {
    std::array<std::int32_t, 3> others; ///< vertices besides the smallest
    std::int32_t next;                  ///< -1: the last
  };
  /// Far above what vertices of sane meshes have. Chains that are as long go on in `rest_`, which keeps insane meshes
  /// O(n log n).
  static constexpr int longest_chain = 64;

  /// The number in the chain of the key, or -1 and how long the chain is.
  struct Search {
    std::int32_t number;
    int length;
  };
  Search search(const EntityKey& key) const;

  std::vector<std::int32_t> first_; ///< of the chain, shape (vertex)
  base::AlignedVector<Entity> entities_;
  std::map<EntityKey, std::int32_t> rest_;
};

/// The sub-entities of one dimension of cells of a shape, one cell after the other. Which of its vertices come first,
/// and how it turns its entities, depends only on the order of a cell's vertex numbers: that is found once per order.
class CellEntities {
public:
  CellEntities(element::Shape shape, int dim);

  int count() const { return static_cast<int>(shapes_.size()); }
  /// Turns to a cell with these vertices, which must differ and stay until the next call.
  void visit(std::span<const std::int32_t> vertices);

  EntityKey key(int entity) const {
    const auto& view = (*views_)[static_cast<std::size_t>(entity)];
    EntityKey key{key_padding, key_padding, key_padding, key_padding};
    for (std::size_t i = 0; i < view.num_vertices; ++i) key[i] = vertices_[view.ascending[i]];
    return key;
  }
  /// element::orientation of the entity.
  std::uint8_t orientation(int entity) const { return (*views_)[static_cast<std::size_t>(entity)].orientation; }

private:
  struct View {
    std::array<std::uint8_t, 4> ascending{}; ///< local vertices by ascending global number
    std::uint8_t num_vertices = 0, orientation = 0;
  };
  bool is_ascending(std::span<const std::int32_t> vertices) const;
  std::vector<View> make_views() const;

  std::vector<element::Shape> shapes_;          ///< of the entities
  std::vector<std::span<const int>> of_entity_; ///< local vertices of the entities
  std::vector<std::uint8_t> order_;             ///< the cell's local vertices by ascending global number
  std::span<const std::int32_t> vertices_;      ///< of the cell
  std::unordered_map<std::uint64_t, std::vector<View>> views_of_order_; ///< by the digits of the order
  const std::vector<View>* views_ = nullptr;                            ///< of the cell
};

} // namespace rafter::mesh
