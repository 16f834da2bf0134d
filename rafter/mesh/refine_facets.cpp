// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/refinement.hpp>

namespace rafter::mesh {

namespace {

using FacetVertices = std::array<std::int32_t, 4>;

/// Vertices ascending, padding (-1) first.
FacetVertices sorted(FacetVertices vertices) {
  std::sort(vertices.begin(), vertices.end());
  return vertices;
}

/// Lists of tagged facets by their lowest vertex: most facets of cells are dismissed with one look.
class TaggedFacetIndex {
public:
  explicit TaggedFacetIndex(const Mesh& mesh) : first_(mesh.num_vertices, -1) {
    for (const auto& facet : mesh.tagged_facets) {
      const auto key = sorted(facet.vertices);
      const auto lowest = *std::find_if(key.begin(), key.end(), [](std::int32_t v) { return v >= 0; });
      keys_.push_back(key);
      next_.push_back(first_[lowest]);
      first_[lowest] = static_cast<std::int32_t>(keys_.size()) - 1;
    }
  }

  /// Calls visit(index) for the tagged facets with these vertices (padded with -1).
  template <class Visit> void for_each_match(const FacetVertices& vertices, std::int32_t lowest, Visit&& visit) const {
    if (first_[lowest] < 0) return;
    const auto key = sorted(vertices);
    for (std::int32_t i = first_[lowest]; i >= 0; i = next_[i])
      if (keys_[i] == key) visit(i);
  }

private:
  std::vector<std::int32_t> first_, next_;
  std::vector<FacetVertices> keys_;
};

/// A cell's facet for each tagged facet.
std::vector<FacetRef> matching_facets(const Mesh& mesh) {
  const TaggedFacetIndex index(mesh);
  std::vector<FacetRef> found(mesh.tagged_facets.size(), FacetRef{-1, -1, -1});
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& group = mesh.groups[g];
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (int f = 0; f < element::num_facets(group.shape); ++f) {
      const auto local = element::entity_vertices(group.shape, mesh.tdim - 1, f);
      for (std::int32_t c = 0; c < group.num_cells(); ++c) {
        FacetVertices vertices{-1, -1, -1, -1};
        for (std::size_t i = 0; i < local.size(); ++i) vertices[i] = group.vertices[c * num_vertices + local[i]];
        const auto lowest = *std::min_element(vertices.begin(), vertices.begin() + local.size());
        index.for_each_match(vertices, lowest, [&](std::int32_t i) {
          if (found[i].group < 0) found[i] = {static_cast<std::int32_t>(g), c, f};
        });
      }
    }
  }
  return found;
}

} // namespace

std::vector<TaggedFacet> refined_facets(const Mesh& coarse, const RefinedVertices& vertices) {
  if (coarse.tdim == 1 || coarse.tagged_facets.empty()) return coarse.tagged_facets;
  std::vector<TaggedFacet> result;
  const auto places = matching_facets(coarse);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& place = places[i];
    if (place.group < 0)
      throw base::InternalError(fmt::format("mesh '{}': tagged facet {} has no cell", coarse.source, i));
    const auto numbers = vertices.of_cell(place.group, place.cell);
    for (const auto& child : facet_children(coarse.groups[place.group].shape, place.facet)) {
      TaggedFacet facet{.tag = coarse.tagged_facets[i].tag};
      for (std::size_t v = 0; v < child.vertices.size(); ++v) facet.vertices[v] = numbers[child.vertices[v]];
      result.push_back(facet);
    }
  }
  return result;
}

} // namespace rafter::mesh
