// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/entity_matching.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/aligned.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/element/orientation.hpp>
#include <rafter/mesh/describe.hpp>

namespace rafter::mesh {

namespace {

using base::Parts;

constexpr std::int64_t most_parts = 64;

/// A key holds the vertices of an entity in ascending order, padded at the end.
template <std::size_t n> using Key = std::array<std::int32_t, n>;

struct Record {
  std::int32_t cell;
  std::int32_t place; ///< group and local entity
};

constexpr int local_bits = 4; ///< bits of `place`: no cell has more than 12 entities of one dimension
constexpr std::int32_t place_of_lookup = -1;

std::int32_t place_of(std::size_t group, int local) {
  return static_cast<std::int32_t>(group) << local_bits | static_cast<std::int32_t>(local);
}

EntitySide side_of(const Record& record) {
  if (record.place == place_of_lookup) return {group_of_lookup, record.cell, 0};
  return {record.place >> local_bits, record.cell, record.place & ((1 << local_bits) - 1)};
}

template <std::size_t n> void sort_vertices(Key<n>& v) {
  const auto order = [&v](std::size_t a, std::size_t b) {
    const auto low = std::min(v[a], v[b]), high = std::max(v[a], v[b]);
    v[a] = low;
    v[b] = high;
  };
  if constexpr (n == 2) order(0, 1);
  if constexpr (n == 3) {
    order(0, 1);
    order(1, 2);
    order(0, 1);
  }
  if constexpr (n == 4) {
    order(0, 1);
    order(2, 3);
    order(0, 2);
    order(1, 3);
    order(1, 2);
  }
}

/// Compares word by word, since == of arrays is a call.
template <std::size_t n> bool are_equal(const Key<n>& a, const Key<n>& b) {
  std::int32_t difference = 0;
  for (std::size_t i = 0; i < n; ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

template <std::size_t n> std::uint64_t hash_of(const Key<n>& vertices) {
  std::uint64_t result = 0;
  for (const auto v : vertices) result = (result ^ static_cast<std::uint32_t>(v)) * 0x9e3779b97f4a7c15ULL;
  return result ^ result >> 32;
}

/// The entities of one dimension of the cells of a group.
template <std::size_t n> class GroupSides {
public:
  GroupSides(const Mesh& mesh, std::size_t group, int dim)
      : group_(group), vertices_(mesh.groups[group].vertices),
        per_cell_(static_cast<std::size_t>(element::num_vertices(mesh.groups[group].shape))) {
    for (int e = 0; e < element::num_entities(mesh.groups[group].shape, dim); ++e) {
      const auto of_entity = element::entity_vertices(mesh.groups[group].shape, dim, e);
      auto& local = locals_.emplace_back();
      local.fill(of_entity[0]);
      std::ranges::copy(of_entity, local.begin());
      sizes_.push_back(of_entity.size());
      masks_.push_back(0);
      for (const int v : of_entity) masks_.back() |= 1U << v;
    }
  }
  std::size_t count() const { return locals_.size(); }
  /// Returns the local vertices that are marked, as bits; `is_marked` has shape (vertex), empty: all are.
  unsigned marked(std::size_t cell, std::span<const std::uint8_t> is_marked) const {
    if (is_marked.empty()) return ~0U;
    unsigned result = 0;
    for (std::size_t v = 0; v < per_cell_; ++v)
      result |= unsigned{is_marked[static_cast<std::size_t>(vertices_[cell * per_cell_ + v])]} << v;
    return result;
  }
  bool has_all(unsigned vertices, std::size_t entity) const { return (masks_[entity] & ~vertices) == 0; }
  /// Returns the lowest vertex of an entity.
  std::int32_t lowest(std::size_t cell, std::size_t entity) const {
    const auto* vertices = vertices_.data() + cell * per_cell_;
    std::int32_t result = vertices[locals_[entity][0]];
    for (std::size_t i = 1; i < n; ++i) result = std::min(result, vertices[locals_[entity][i]]);
    return result;
  }
  Key<n> key(std::size_t cell, std::size_t entity) const {
    const auto* vertices = vertices_.data() + cell * per_cell_;
    Key<n> result;
    for (std::size_t i = 0; i < n; ++i) result[i] = vertices[locals_[entity][i]];
    for (std::size_t i = sizes_[entity]; i < n; ++i) result[i] = key_padding;
    sort_vertices(result);
    return result;
  }

private:
  std::size_t group_;
  std::span<const std::int32_t> vertices_;
  std::size_t per_cell_;
  std::vector<std::array<int, n>> locals_; ///< local vertices of each entity, filled up with its first one
  std::vector<std::size_t> sizes_;         ///< number of vertices of each entity
  std::vector<unsigned> masks_;            ///< local vertices of each entity, as bits
};

/// Holds all sides of a mesh in blocks by their lowest vertices; in a block they keep their order. Vertices are looked
/// up again block by block, since memory that is written for the first time costs more.
template <std::size_t n> class SideBlocks {
public:
  SideBlocks(const Mesh& mesh, int dim, std::span<const EntityKey> lookups, std::span<const std::uint8_t> is_marked)
      : num_blocks_(num_entity_blocks(mesh, dim)), lookups_(lookups), is_marked_(is_marked) {
    const auto range = static_cast<std::uint64_t>(std::max(mesh.num_vertices, 1));
    shift_ = static_cast<int>(std::bit_width((range - 1) / num_blocks_));
    for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
      groups_.emplace_back(mesh, g, dim);
      const Parts parts(mesh.groups[g].num_cells(), 1 << 12, most_parts);
      for (std::int64_t part = 0; part < parts.count(); ++part)
        parts_.push_back({g, parts.begin(part), parts.end(part)});
    }
    count();
    place();
  }
  std::size_t count_blocks() const { return num_blocks_; }
  std::span<const Record> operator[](std::size_t block) const {
    return std::span(records_).subspan(begins_[block], begins_[block + 1] - begins_[block]);
  }
  Key<n> key(const Record& record) const {
    const auto cell = static_cast<std::size_t>(record.cell);
    if (record.place != place_of_lookup) {
      const auto side = side_of(record);
      return groups_[static_cast<std::size_t>(side.group)].key(cell, static_cast<std::size_t>(side.facet));
    }
    Key<n> result;
    std::copy_n(lookups_[cell].begin(), n, result.begin());
    return result;
  }

private:
  struct Part {
    std::size_t group;
    std::int64_t begin, end;
  };
  std::size_t block_of(std::int32_t lowest) const { return static_cast<std::size_t>(lowest) >> shift_; }
  /// Calls visit(block, record) for the sides of a part in their order.
  template <class Visit> void for_sides(const Part& part, const Visit& visit) const {
    const auto& sides = groups_[part.group];
    for (std::int64_t cell = part.begin; cell < part.end; ++cell) {
      const auto marked = sides.marked(static_cast<std::size_t>(cell), is_marked_);
      if (marked == 0) continue;
      for (std::size_t e = 0; e < sides.count(); ++e)
        if (sides.has_all(marked, e))
          visit(block_of(sides.lowest(static_cast<std::size_t>(cell), e)),
                Record{static_cast<std::int32_t>(cell), place_of(part.group, static_cast<int>(e))});
    }
  }

  /// Sets begins_, and next_ to where each part writes its first record of a block; lookups are the last part.
  void count() {
    next_.resize((parts_.size() + 1) * num_blocks_);
    base::run_parallel(static_cast<std::int64_t>(parts_.size()), [&](std::int64_t p) {
      std::vector<std::size_t> counts(num_blocks_);
      for_sides(parts_[static_cast<std::size_t>(p)], [&](std::size_t block, const Record&) { ++counts[block]; });
      std::ranges::copy(counts, next_.begin() + p * static_cast<std::int64_t>(num_blocks_));
    });
    for (const auto& key : lookups_) ++next_[parts_.size() * num_blocks_ + block_of(key[0])];
    std::size_t sum = 0;
    for (std::size_t block = 0; block < num_blocks_; ++block) {
      begins_.push_back(sum);
      for (std::size_t part = 0; part <= parts_.size(); ++part)
        sum += std::exchange(next_[part * num_blocks_ + block], sum);
    }
    begins_.push_back(sum);
  }
  void place() {
    records_.resize(begins_.back());
    base::run_parallel(static_cast<std::int64_t>(parts_.size()), [&](std::int64_t p) {
      auto* next = next_.data() + static_cast<std::size_t>(p) * num_blocks_;
      for_sides(parts_[static_cast<std::size_t>(p)],
                [&](std::size_t block, const Record& record) { records_[next[block]++] = record; });
    });
    for (std::size_t i = 0; i < lookups_.size(); ++i)
      records_[next_[parts_.size() * num_blocks_ + block_of(lookups_[i][0])]++] = {static_cast<std::int32_t>(i),
                                                                                   place_of_lookup};
  }

  std::size_t num_blocks_;
  std::span<const EntityKey> lookups_;
  std::span<const std::uint8_t> is_marked_; ///< shape (vertex); empty: all are
  int shift_ = 0;                           ///< right shift of vertex numbers to those of blocks
  std::vector<GroupSides<n>> groups_;
  std::vector<Part> parts_;
  std::vector<std::size_t> begins_, next_; ///< shape (block + 1); shape (part + 1, block)
  base::RawVector<Record> records_;
};

/// Chains the records of a block that have the same vertices. It is used for several blocks, since new memory is slow.
template <std::size_t n> class Chains {
public:
  template <class Visit> void for_entities(const SideBlocks<n>& blocks, std::size_t block, const Visit& visit) {
    const auto records = blocks[block];
    const std::size_t capacity = std::bit_ceil(2 * records.size() + 1);
    slots_.assign(capacity, -1);
    links_.resize(records.size());
    keys_.resize(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      keys_[i] = blocks.key(records[i]);
      link(i, capacity - 1);
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!links_[i].is_first) continue;
      sides_.clear();
      for (auto k = static_cast<std::int32_t>(i); k >= 0; k = links_[static_cast<std::size_t>(k)].next)
        sides_.push_back(side_of(records[static_cast<std::size_t>(k)]));
      visit(std::span<const EntitySide>(sides_));
    }
  }

private:
  struct Link {
    std::int32_t next = -1; ///< next record of the chain
    std::int32_t last = -1; ///< last record of the chain, where this is the first
    bool is_first = false;
  };
  void link(std::size_t i, std::size_t mask) {
    const auto number = static_cast<std::int32_t>(i);
    for (std::size_t slot = hash_of(keys_[i]) & mask;; slot = (slot + 1) & mask) {
      const auto first = slots_[slot];
      if (first < 0) {
        slots_[slot] = number;
        links_[i] = {-1, number, true};
        return;
      }
      if (!are_equal(keys_[static_cast<std::size_t>(first)], keys_[i])) continue;
      auto& last = links_[static_cast<std::size_t>(first)].last;
      links_[static_cast<std::size_t>(last)].next = number;
      last = number;
      links_[i] = {-1, -1, false};
      return;
    }
  }
  std::vector<std::int32_t> slots_; ///< first records of chains; -1: free
  std::vector<Key<n>> keys_;        ///< keys of the records
  std::vector<Link> links_;
  std::vector<EntitySide> sides_;
};

template <std::size_t n>
void match(const Mesh& mesh, int dim, std::span<const EntityKey> lookups,
           const std::function<void(std::span<const EntitySide>, std::size_t)>& visit,
           std::span<const std::uint8_t> is_marked) {
  const SideBlocks<n> blocks(mesh, dim, lookups, is_marked);
  // A part holds several blocks, which use the same memory.
  base::Parts(static_cast<std::int64_t>(blocks.count_blocks()), 16)
      .run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        Chains<n> chains;
        for (auto block = static_cast<std::size_t>(begin); block < static_cast<std::size_t>(end); ++block)
          chains.for_entities(blocks, block, [&](std::span<const EntitySide> sides) { visit(sides, block); });
      });
}

/// Returns the most vertices that an entity of a dimension has.
std::size_t most_vertices(const Mesh& mesh, int dim) {
  std::size_t result = 2;
  for (const auto& group : mesh.groups)
    for (int e = 0; e < element::num_entities(group.shape, dim); ++e)
      result = std::max(result, element::entity_vertices(group.shape, dim, e).size());
  return result;
}

} // namespace

EntityKey make_entity_key(std::span<const std::int32_t> vertices) {
  EntityKey key{key_padding, key_padding, key_padding, key_padding};
  std::copy(vertices.begin(), vertices.end(), key.begin());
  std::sort(key.begin(), key.end());
  return key;
}

std::vector<std::int64_t> side_begins(const Mesh& mesh, int dim) {
  std::vector<std::int64_t> begins{0};
  for (const auto& group : mesh.groups)
    begins.push_back(begins.back() + std::int64_t{group.num_cells()} * element::num_entities(group.shape, dim));
  return begins;
}

std::size_t num_entity_blocks(const Mesh& mesh, int dim) {
  constexpr std::size_t sides_per_block = 1 << 13, most_blocks = 1 << 10; // blocks that fit a core's own cache
  const auto sides = static_cast<std::size_t>(side_begins(mesh, dim).back());
  return std::min(std::bit_ceil(sides / sides_per_block + 1), most_blocks);
}

void match_entities(const Mesh& mesh, int dim, std::span<const EntityKey> lookups,
                    const std::function<void(std::span<const EntitySide> sides, std::size_t block)>& visit,
                    std::span<const std::uint8_t> is_marked) {
  std::size_t n = most_vertices(mesh, dim);
  for (const auto& key : lookups)
    n = std::max<std::size_t>(n, static_cast<std::size_t>(std::ranges::find(key, key_padding) - key.begin()));
  if (n == 2) return match<2>(mesh, dim, lookups, visit, is_marked);
  if (n == 3) return match<3>(mesh, dim, lookups, visit, is_marked);
  match<4>(mesh, dim, lookups, visit, is_marked);
}

EntityNumbers number_entities(const Mesh& mesh, int dim, std::span<const EntityKey> lookups) {
  const auto begins = side_begins(mesh, dim);
  const std::int64_t num_sides = begins.back();
  if (num_sides > std::numeric_limits<std::int32_t>::max())
    throw base::InputError(fmt::format("{}the cells have {} {}, counted cell by cell; one process numbers at most {}",
                                       prefix(mesh), num_sides, dim == 1 ? "edges" : "faces",
                                       std::numeric_limits<std::int32_t>::max()));
  EntityNumbers result;
  base::RawVector<std::int32_t> numbers(static_cast<std::size_t>(num_sides)); // number of the first side at first
  std::vector<int> per_cell;
  for (const auto& group : mesh.groups) per_cell.push_back(element::num_entities(group.shape, dim));
  const auto place = [&](const EntitySide& side) {
    const auto g = static_cast<std::size_t>(side.group);
    return static_cast<std::size_t>(begins[g] + std::int64_t{side.cell} * per_cell[g] + side.facet);
  };
  result.of_lookups.assign(lookups.size(), -1);
  match_entities(mesh, dim, lookups, [&](std::span<const EntitySide> sides, std::size_t) {
    if (sides.front().group == group_of_lookup) return;
    const auto first = static_cast<std::int32_t>(place(sides.front()));
    for (const auto& side : sides)
      (side.group == group_of_lookup ? result.of_lookups[static_cast<std::size_t>(side.cell)] : numbers[place(side)]) =
          first;
  });

  // First sides get their numbers, below 0 to distinguish them from places; the others then take those.
  const Parts parts(num_sides, 1 << 14, most_parts);
  std::vector<std::int32_t> next(static_cast<std::size_t>(parts.count()));
  const auto for_firsts = [&](std::int64_t begin, std::int64_t end, const auto& body) {
    for (std::int64_t i = begin; i < end; ++i)
      if (auto& number = numbers[static_cast<std::size_t>(i)]; number == i) body(number);
  };
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    std::int32_t count = 0;
    for_firsts(begin, end, [&](std::int32_t) { ++count; });
    next[static_cast<std::size_t>(part)] = count;
  });
  for (auto& of_part : next) result.count += std::exchange(of_part, result.count);
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    auto number = next[static_cast<std::size_t>(part)];
    for_firsts(begin, end, [&](std::int32_t& entry) { entry = -1 - number++; });
  });
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    auto& of_group = result.of_groups.emplace_back(static_cast<std::size_t>(begins[g + 1] - begins[g]));
    const auto* of_sides = numbers.data() + begins[g];
    Parts(static_cast<std::int64_t>(of_group.size())).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto number = of_sides[i];
        of_group[static_cast<std::size_t>(i)] = -1 - (number < 0 ? number : numbers[static_cast<std::size_t>(number)]);
      }
    });
  }
  for (auto& number : result.of_lookups)
    if (number >= 0) number = -1 - numbers[static_cast<std::size_t>(number)];
  return result;
}

EntityOrientations::EntityOrientations(element::Shape shape, int dim)
    : order_(static_cast<std::size_t>(element::num_vertices(shape))) {
  std::iota(order_.begin(), order_.end(), std::uint8_t{0});
  for (int e = 0; e < element::num_entities(shape, dim); ++e) {
    shapes_.push_back(element::entity_shape(shape, dim, e));
    of_entity_.push_back(element::entity_vertices(shape, dim, e));
  }
}

bool EntityOrientations::is_ascending(std::span<const std::int32_t> vertices) const {
  for (std::size_t i = 1; i < order_.size(); ++i)
    if (vertices[order_[i - 1]] > vertices[order_[i]]) return false;
  return true;
}

std::span<const std::uint8_t> EntityOrientations::of(std::span<const std::int32_t> vertices) {
  if (codes_ != nullptr && is_ascending(vertices)) return *codes_;
  for (std::size_t i = 1; i < order_.size(); ++i) // insertion: cells that follow each other are often alike
    for (std::size_t k = i; k > 0 && vertices[order_[k]] < vertices[order_[k - 1]]; --k)
      std::swap(order_[k], order_[k - 1]);
  std::uint64_t digits = 0;
  for (const auto local : order_) digits = digits << 4 | local;
  auto& codes = codes_of_order_[digits];
  if (codes.empty()) codes = make_codes();
  codes_ = &codes;
  return codes;
}

std::vector<std::uint8_t> EntityOrientations::make_codes() const {
  std::array<std::int64_t, 8> rank{};
  for (std::size_t i = 0; i < order_.size(); ++i) rank[order_[i]] = static_cast<std::int64_t>(i);
  std::vector<std::uint8_t> codes;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    std::vector<std::int64_t> ranks;
    for (const int local : of_entity_[e]) ranks.push_back(rank[static_cast<std::size_t>(local)]);
    codes.push_back(static_cast<std::uint8_t>(element::orientation(shapes_[e], ranks)));
  }
  return codes;
}

} // namespace rafter::mesh
