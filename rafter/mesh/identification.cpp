// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/identification.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/disjoint_sets.hpp>

namespace rafter::mesh {

namespace {

element::Shape facet_shape_of(std::span<const std::int32_t> vertices) {
  constexpr std::array shapes{element::Shape::point, element::Shape::interval, element::Shape::triangle,
                              element::Shape::quadrilateral};
  return shapes[vertices.size() - 1];
}

/// Key of a sub-entity of the facet that has these vertices.
EntityKey key_of(std::span<const std::int32_t> vertices, int dim, int entity) {
  std::vector<std::int32_t> of_entity;
  for (const int local : element::entity_vertices(facet_shape_of(vertices), dim, entity))
    of_entity.push_back(vertices[static_cast<std::size_t>(local)]);
  return make_entity_key(of_entity);
}

} // namespace

VertexOrder order_vertices(const Mesh& mesh) {
  const auto& numbers = mesh.global_vertices;
  if (numbers.empty()) return {};
  if (numbers.size() != static_cast<std::size_t>(mesh.num_vertices))
    throw base::InputError(
        fmt::format("{}{} global vertex numbers for {} vertices", prefix(mesh), numbers.size(), mesh.num_vertices));
  std::vector<std::int32_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&numbers](std::int32_t v) { return numbers[static_cast<std::size_t>(v)]; });
  VertexOrder result{std::vector<std::int32_t>(numbers.size()), std::vector<std::int32_t>(numbers.size())};
  std::int32_t rank = -1, first = -1;
  for (const auto v : order) {
    if (first < 0 || mesh.global_vertex(v) != mesh.global_vertex(first)) {
      first = v;
      ++rank;
    }
    result.ranks[static_cast<std::size_t>(v)] = rank;
    result.representatives[static_cast<std::size_t>(v)] = first;
  }
  return result;
}

std::span<const std::int32_t> vertices_of(const std::array<std::int32_t, 4>& padded) {
  return std::span(padded.begin(), std::ranges::find(padded, -1));
}

std::vector<EntityKey> periodic_entities(const Mesh& mesh, int dim) {
  std::vector<EntityKey> keys;
  for (const auto& facet : mesh.periodic_facets) {
    const auto from = vertices_of(facet.from), to = vertices_of(facet.to);
    for (int e = 0; e < element::num_entities(facet_shape_of(from), dim); ++e) {
      keys.push_back(key_of(from, dim, e));
      keys.push_back(key_of(to, dim, e));
    }
  }
  return keys;
}

std::vector<std::int32_t> entity_representatives(const Mesh& mesh, const EntityNumbers& entities) {
  if (mesh.periodic_facets.empty()) return {};
  DisjointSets sets(entities.count);
  for (std::size_t i = 0; i < entities.of_lookups.size(); i += 2) {
    const auto one = entities.of_lookups[i], other = entities.of_lookups[i + 1];
    if (one < 0 || other < 0)
      throw base::InternalError(fmt::format("{}periodic facets have no common edges", prefix(mesh)));
    sets.unite(one, other);
  }
  std::vector<std::int32_t> result;
  for (std::int32_t entity = 0; entity < entities.count; ++entity) result.push_back(sets.find(entity));
  return result;
}

void number_identified_vertices(Mesh& mesh) {
  DisjointSets sets(mesh.num_vertices);
  for (const auto& facet : mesh.periodic_facets) {
    const auto from = vertices_of(facet.from);
    for (std::size_t i = 0; i < from.size(); ++i) sets.unite(from[i], facet.to[i]);
  }
  std::vector<std::int64_t> lowest(static_cast<std::size_t>(mesh.num_vertices),
                                   std::numeric_limits<std::int64_t>::max());
  for (std::int32_t v = 0; v < mesh.num_vertices; ++v) {
    auto& number = lowest[static_cast<std::size_t>(sets.find(v))];
    number = std::min(number, mesh.global_vertex(v));
  }
  std::vector<std::int64_t> numbers;
  for (std::int32_t v = 0; v < mesh.num_vertices; ++v)
    numbers.push_back(lowest[static_cast<std::size_t>(sets.find(v))]);
  mesh.global_vertices = std::move(numbers);
}

} // namespace rafter::mesh
