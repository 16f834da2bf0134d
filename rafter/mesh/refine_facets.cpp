// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <span>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/entity_matching.hpp>
#include <rafter/mesh/refinement.hpp>

namespace rafter::mesh {

namespace {

using FacetVertices = std::array<std::int32_t, 4>;

/// The vertices in ascending order, with padding (-1) first.
FacetVertices sorted(FacetVertices vertices) {
  std::sort(vertices.begin(), vertices.end());
  return vertices;
}

/// Finds facets by their lowest vertex, so that most facets of cells are dismissed at once.
class FacetIndex {
public:
  FacetIndex(const Mesh& mesh, std::span<const FacetVertices> facets) : first_(mesh.num_vertices, -1) {
    for (const auto& facet : facets) {
      const auto key = sorted(facet);
      const auto lowest = *std::find_if(key.begin(), key.end(), [](std::int32_t v) { return v >= 0; });
      keys_.push_back(key);
      next_.push_back(first_[lowest]);
      first_[lowest] = static_cast<std::int32_t>(keys_.size()) - 1;
    }
  }

  /// Calls visit(index) for the listed facets with these vertices (padded with -1).
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

/// Returns for each facet given by its vertices the facet of a cell that it is. Throws InternalError where there is
/// none.
std::vector<FacetRef> matching_facets(const Mesh& mesh, std::span<const FacetVertices> facets) {
  const FacetIndex index(mesh, facets);
  std::vector<FacetRef> found(facets.size(), FacetRef{-1, -1, -1});
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
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].group < 0)
      throw base::InternalError(fmt::format("mesh '{}': no cell has facet {} of a list", mesh.source, i));
  return found;
}

/// Numbers in the refined mesh of the centres of a facet's sub-entities (and of other sub-entities of its cell), by the
/// vertices of the sub-entity.
std::map<EntityKey, std::int32_t> centres_of(const Mesh& coarse, const RefinedVertices& vertices,
                                             const FacetRef& place) {
  const auto& group = coarse.groups[place.group];
  const auto numbers = vertices.of_cell(place.group, place.cell);
  const auto& centres = subdivision(group.shape, {vertices.axes()}).vertices;
  const auto first = static_cast<std::size_t>(place.cell) * element::num_vertices(group.shape);
  std::map<EntityKey, std::int32_t> result;
  for (std::size_t i = 0; i < centres.size(); ++i) {
    std::vector<std::int32_t> of_entity;
    for (const int v : element::entity_vertices(group.shape, centres[i].dim, centres[i].entity))
      of_entity.push_back(group.vertices[first + v]);
    if (centres[i].dim < coarse.tdim) result.emplace(make_entity_key(of_entity), numbers[i]);
  }
  return result;
}

/// Returns for each vertex of the refined mesh on one side of a periodic facet the vertex to which it is translated.
std::map<std::int32_t, std::int32_t> refined_images(const Mesh& coarse, const RefinedVertices& vertices,
                                                    const PeriodicFacet& facet, const FacetRef& from,
                                                    const FacetRef& to) {
  std::map<std::int32_t, std::int32_t> image_of;
  for (std::size_t i = 0; i < facet.from.size(); ++i) image_of[facet.from[i]] = facet.to[i];
  const auto there = centres_of(coarse, vertices, to);
  std::map<std::int32_t, std::int32_t> result;
  for (const auto& [key, number] : centres_of(coarse, vertices, from)) {
    const auto spanning = std::span(key.begin(), std::ranges::find(key, key_padding));
    // The entity does not lie on the facet.
    if (!std::ranges::all_of(spanning, [&](auto v) { return image_of.contains(v); })) continue;
    std::vector<std::int32_t> images;
    for (const auto v : spanning) images.push_back(image_of.at(v));
    result[number] = there.at(make_entity_key(images));
  }
  return result;
}

} // namespace

std::vector<TaggedFacet> refined_facets(const Mesh& coarse, const RefinedVertices& vertices) {
  if (coarse.tdim == 1 || coarse.tagged_facets.empty()) return coarse.tagged_facets;
  std::vector<FacetVertices> facets;
  for (const auto& facet : coarse.tagged_facets) facets.push_back(facet.vertices);
  const auto places = matching_facets(coarse, facets);
  std::vector<TaggedFacet> result;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& place = places[i];
    const auto numbers = vertices.of_cell(place.group, place.cell);
    for (const auto& child : facet_children(coarse.groups[place.group].shape, place.facet, vertices.axes())) {
      TaggedFacet facet{.tag = coarse.tagged_facets[i].tag};
      for (std::size_t v = 0; v < child.vertices.size(); ++v) facet.vertices[v] = numbers[child.vertices[v]];
      result.push_back(facet);
    }
  }
  return result;
}

std::vector<PeriodicFacet> refined_periodic_facets(const Mesh& coarse, const RefinedVertices& vertices) {
  if (coarse.tdim == 1 || coarse.periodic_facets.empty()) return coarse.periodic_facets;
  std::vector<FacetVertices> from, to;
  for (const auto& facet : coarse.periodic_facets) {
    from.push_back(facet.from);
    to.push_back(facet.to);
  }
  const auto places = matching_facets(coarse, from), opposite = matching_facets(coarse, to);
  std::vector<PeriodicFacet> result;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& place = places[i];
    const auto images = refined_images(coarse, vertices, coarse.periodic_facets[i], place, opposite[i]);
    const auto numbers = vertices.of_cell(place.group, place.cell);
    for (const auto& child : facet_children(coarse.groups[place.group].shape, place.facet, vertices.axes())) {
      PeriodicFacet facet{.translation = coarse.periodic_facets[i].translation};
      for (std::size_t v = 0; v < child.vertices.size(); ++v) {
        facet.from[v] = numbers[child.vertices[v]];
        facet.to[v] = images.at(facet.from[v]);
      }
      result.push_back(facet);
    }
  }
  return result;
}

} // namespace rafter::mesh
