// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/entity_numbers.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <rafter/element/orientation.hpp>

namespace rafter::mesh {

EntityKey make_entity_key(std::span<const std::int32_t> vertices) {
  EntityKey key{key_padding, key_padding, key_padding, key_padding};
  std::copy(vertices.begin(), vertices.end(), key.begin());
  std::sort(key.begin(), key.end());
  return key;
}

EntityNumbers::Search EntityNumbers::search(const EntityKey& key) const {
  int length = 0;
  for (auto i = first_[static_cast<std::size_t>(key[0])]; i >= 0; ++length) {
    const auto& entity = entities_[static_cast<std::size_t>(i)];
    if (entity.others[0] == key[1] && entity.others[1] == key[2] && entity.others[2] == key[3]) return {i, length};
    i = entity.next;
  }
  return {-1, length};
}

std::int32_t EntityNumbers::add(const EntityKey& key) {
  const auto found = search(key);
  if (found.number >= 0) return found.number;
  const auto number = count();
  std::int32_t next = -1;
  if (found.length >= longest_chain) {
    const auto [place, is_new] = rest_.emplace(key, number);
    if (!is_new) return place->second;
  } else {
    next = std::exchange(first_[static_cast<std::size_t>(key[0])], number);
  }
  entities_.push_back({{key[1], key[2], key[3]}, next});
  return number;
}

std::int32_t EntityNumbers::find(const EntityKey& key) const {
  const auto found = search(key);
  if (found.number >= 0 || found.length < longest_chain) return found.number;
  const auto place = rest_.find(key);
  return place == rest_.end() ? -1 : place->second;
}

CellEntities::CellEntities(element::Shape shape, int dim) : order_(static_cast<std::size_t>(num_vertices(shape))) {
  std::iota(order_.begin(), order_.end(), std::uint8_t{0});
  for (int e = 0; e < element::num_entities(shape, dim); ++e) {
    shapes_.push_back(element::entity_shape(shape, dim, e));
    of_entity_.push_back(element::entity_vertices(shape, dim, e));
  }
}

bool CellEntities::is_ascending(std::span<const std::int32_t> vertices) const {
  for (std::size_t i = 1; i < order_.size(); ++i)
    if (vertices[order_[i - 1]] > vertices[order_[i]]) return false;
  return true;
}

void CellEntities::visit(std::span<const std::int32_t> vertices) {
  vertices_ = vertices;
  if (views_ != nullptr && is_ascending(vertices)) return;
  std::sort(order_.begin(), order_.end(),
            [vertices](std::uint8_t a, std::uint8_t b) { return vertices[a] < vertices[b]; });
  std::uint64_t digits = 0;
  for (const auto local : order_) digits = digits << 4 | local;
  auto& views = views_of_order_[digits];
  if (views.empty()) views = make_views();
  views_ = &views;
}

std::vector<CellEntities::View> CellEntities::make_views() const {
  std::array<std::int64_t, 8> rank{};
  for (std::size_t i = 0; i < order_.size(); ++i) rank[order_[i]] = static_cast<std::int64_t>(i);
  std::vector<View> views;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    auto& view = views.emplace_back();
    std::vector<std::int64_t> ranks;
    for (const int local : of_entity_[e]) {
      view.ascending[view.num_vertices++] = static_cast<std::uint8_t>(local);
      ranks.push_back(rank[static_cast<std::size_t>(local)]);
    }
    std::sort(view.ascending.begin(), view.ascending.begin() + view.num_vertices,
              [&rank](std::uint8_t a, std::uint8_t b) { return rank[a] < rank[b]; });
    view.orientation = static_cast<std::uint8_t>(element::orientation(shapes_[e], ranks));
  }
  return views;
}

} // namespace rafter::mesh
