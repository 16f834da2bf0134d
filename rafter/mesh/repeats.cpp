// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/repeats.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <rafter/base/log.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/base/sorted_order.hpp>

namespace rafter::mesh {

namespace {

/// Bits of a node that are independent of those of others (the finaliser of SplitMix64, Steele, Lea and Flood 2014,
/// doi:10.1145/2660193.2660195).
std::uint64_t mixed(std::int32_t node) {
  auto x = static_cast<std::uint64_t>(static_cast<std::uint32_t>(node)) + 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Joins elements that are one, and counts those that say nothing new.
class Joiner {
public:
  Joiner(PhysicalGroups& physical, int dim) : physical_(physical), dim_(dim) {}
  std::int32_t join(std::int32_t tag, std::int32_t other) {
    auto groups = physical_.groups_of(dim_, tag);
    const auto more = physical_.groups_of(dim_, other);
    const auto listed = std::max<std::size_t>(groups.size(), 1) + std::max<std::size_t>(more.size(), 1);
    groups.insert(groups.end(), more.begin(), more.end());
    const auto joined = physical_.tag_of(dim_, groups);
    repeats_ += listed - std::max<std::size_t>(physical_.groups_of(dim_, joined).size(), 1);
    return joined;
  }
  std::size_t repeats() const { return repeats_; }

private:
  PhysicalGroups& physical_;
  int dim_;
  std::size_t repeats_ = 0;
};

/// Keeps the rows that are the first with their nodes; `values` may be empty.
void keep_firsts(std::span<const std::int32_t> firsts, std::vector<std::int32_t>& values) {
  const auto per_row = static_cast<std::ptrdiff_t>(values.size() / firsts.size());
  auto end = values.begin();
  for (std::size_t i = 0; i < firsts.size(); ++i)
    if (firsts[i] == static_cast<std::int32_t>(i)) {
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(i) * per_row;
      end = std::copy(row, row + per_row, end);
    }
  values.erase(end, values.end());
}

void merge_cells(RawCells& cells, Joiner& joiner) {
  const auto firsts = first_with_same_nodes(cells.nodes, cells.nodes.size() / cells.tags.size());
  if (firsts.empty()) return;
  for (std::size_t i = 0; i < firsts.size(); ++i)
    if (const auto first = static_cast<std::size_t>(firsts[i]); first != i)
      cells.tags[first] = joiner.join(cells.tags[first], cells.tags[i]);
  for (auto* values : {&cells.nodes, &cells.vertices, &cells.tags, &cells.entities}) keep_firsts(firsts, *values);
}

void merge_facets(std::vector<TaggedFacet>& facets, Joiner& joiner) {
  std::vector<std::int32_t> vertices;
  constexpr std::size_t per_facet = std::tuple_size_v<decltype(TaggedFacet::vertices)>;
  vertices.reserve(facets.size() * per_facet);
  for (const auto& facet : facets) vertices.insert(vertices.end(), facet.vertices.begin(), facet.vertices.end());
  const auto firsts = first_with_same_nodes(vertices, per_facet);
  if (firsts.empty()) return;
  std::vector<TaggedFacet> merged;
  std::vector<std::size_t> places(facets.size()); // places in `merged` of those that are the first
  for (std::size_t i = 0; i < facets.size(); ++i) {
    if (const auto first = static_cast<std::size_t>(firsts[i]); first != i) {
      auto& tag = merged[places[first]].tag;
      tag = joiner.join(tag, facets[i].tag);
    } else {
      places[i] = merged.size();
      merged.push_back(facets[i]);
    }
  }
  facets = std::move(merged);
}

} // namespace

std::vector<std::int32_t> first_with_same_nodes(std::span<const std::int32_t> nodes, std::size_t nodes_per_element) {
  const std::size_t n = nodes_per_element, count = n == 0 ? 0 : nodes.size() / n;
  std::vector<std::uint64_t> keys(count); // do not depend on the order of the nodes
  base::Parts(static_cast<std::int64_t>(count)).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      for (std::size_t k = 0; k < n; ++k) keys[i] += mixed(nodes[i * n + k]);
  });
  const auto order = base::sorted_order(keys);
  const auto key = [&](std::size_t place) { return keys[static_cast<std::size_t>(order[place])]; };
  const auto sorted_nodes = [&](std::int32_t element) {
    const auto of_element = nodes.subspan(static_cast<std::size_t>(element) * n, n);
    std::vector<std::int32_t> result(of_element.begin(), of_element.end());
    std::ranges::sort(result);
    return result;
  };
  std::vector<std::int32_t> firsts;
  for (std::size_t begin = 0, end = 1; begin < count; begin = end++) {
    while (end < count && key(end) == key(begin)) ++end;
    if (end == begin + 1) continue;
    if (firsts.empty()) {
      firsts.resize(count);
      for (std::size_t i = 0; i < count; ++i) firsts[i] = static_cast<std::int32_t>(i);
    }
    std::vector<std::pair<std::vector<std::int32_t>, std::int32_t>> distinct; // nodes of equal keys, mostly one set
    for (auto place = begin; place < end; ++place) {
      auto own = sorted_nodes(order[place]);
      const auto found = std::ranges::find(distinct, own, &std::pair<std::vector<std::int32_t>, std::int32_t>::first);
      if (found == distinct.end())
        distinct.emplace_back(std::move(own), order[place]);
      else
        firsts[static_cast<std::size_t>(order[place])] = found->second;
    }
  }
  return firsts;
}

void merge_repeats(RawMesh& raw) {
  Joiner cells(raw.physical_groups, raw.tdim), facets(raw.physical_groups, raw.tdim - 1);
  if (raw.is_continuous)
    for (auto& of_shape : raw.cells) merge_cells(of_shape, cells);
  merge_facets(raw.facets, facets);
  if (cells.repeats() + facets.repeats() > 0)
    base::warn(fmt::format(
        "{}: {} of the cells and {} of the facets that are listed repeat others with the same nodes and the "
        "same physical group: they count once",
        raw.source, cells.repeats(), facets.repeats()));
}

} // namespace rafter::mesh
