// SPDX-License-Identifier: BSD-3-Clause
// These tests say which entities of identified meshes are one, on every shape, for one or more pairs of sides, on
// refined and shuffled meshes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/mesh/tag_uses.hpp>

#include <tests/support/periodic_meshes.hpp>

namespace rafter::test {
namespace {

class Periodic : public ::testing::TestWithParam<std::string> {
protected:
  int dim() const { return box_dimension(GetParam()); }
  std::vector<int> axes() const { return periodic_axes(GetParam()); }
  /// Returns the first axis, the first two, and so on.
  std::vector<std::vector<int>> parts_of_axes() const {
    std::vector<std::vector<int>> parts;
    for (std::size_t n = 1; n <= axes().size(); ++n) {
      parts.push_back(axes());
      parts.back().resize(n);
    }
    return parts;
  }
};

/// Returns vertices - edges + faces - cells, where identified entities count as one.
std::int64_t euler_characteristic(const mesh::Mesh& mesh) {
  const auto& topology = mesh.topology();
  std::int64_t result = topology.num_representatives(0);
  if (mesh.tdim == 1) return result - mesh.num_cells();
  result -= topology.num_representatives(1);
  if (mesh.tdim == 2) return result + mesh.num_cells();
  return result + topology.num_representatives(2) - mesh.num_cells();
}

TEST_P(Periodic, IdentificationAlongAllAxesMakesATorus) {
  for (const int n : {2, 3})
    for (const unsigned seed : {0U, 5U}) {
      const auto mesh = periodic_box(GetParam(), n, axes(), 1, seed);
      const auto& topology = mesh.topology();
      EXPECT_EQ(euler_characteristic(mesh), 0) << n << " cells across";
      EXPECT_EQ(topology.exterior_facets.empty(), GetParam() != "mixed");
      EXPECT_EQ(topology.periodic_tags().size(), 2 * axes().size());
    }
}

TEST_P(Periodic, FacetsOfOtherSidesStayOnTheBoundary) {
  if (dim() == 1) return;
  const auto mesh = periodic_box(GetParam(), 3, std::array{1});
  const auto& topology = mesh.topology();
  EXPECT_EQ(topology.periodic_tags(), (std::set<std::int32_t>{3, 4}));
  std::set<std::int32_t> tags(topology.exterior_tags.begin(), topology.exterior_tags.end());
  EXPECT_EQ(tags, dim() == 2 ? (std::set<std::int32_t>{1, 2}) : (std::set<std::int32_t>{1, 2, 5, 6}));
  for (const auto use : {mesh::TagUse::ds, mesh::TagUse::dirichlet, mesh::TagUse::periodic}) {
    EXPECT_THROW(mesh::tags_for(mesh, "ymin", use), base::InputError);
    EXPECT_EQ(mesh::tags_for(mesh, "xmin", use), std::vector<std::int32_t>{1});
  }
}

/// Returns the image in [0, size) of a point under the periods of a box.
std::vector<double> wrapped(std::vector<double> x, std::span<const double> size, const std::vector<int>& axes) {
  for (const int axis : axes)
    if (const auto d = static_cast<std::size_t>(axis); x[d] > size[d] - 1e-9) x[d] -= size[d];
  return x;
}

TEST_P(Periodic, VerticesAreOneExactlyWhereTheyAreATranslationApart) {
  for (const auto& along : parts_of_axes())
    for (const unsigned seed : {0U, 7U}) {
      const auto mesh = periodic_box(GetParam(), 2, along, 1, seed);
      std::map<std::int64_t, std::vector<double>> place_of;
      std::set<std::vector<std::int64_t>> places; // coordinates are rounded
      for (const auto& group : mesh.groups) {
        const auto element = mesh::geometry_element(group);
        const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
        for (std::int32_t c = 0; c < group.num_cells(); ++c) {
          const auto x = mesh::cell_vertex_coordinates(mesh, static_cast<std::int32_t>(&group - mesh.groups.data()), c);
          for (std::size_t v = 0; v < num_vertices; ++v) {
            const auto begin = x.begin() + static_cast<std::ptrdiff_t>(v * static_cast<std::size_t>(dim()));
            const auto place = wrapped({begin, begin + dim()}, box_size(dim()), along);
            const auto vertex = group.vertices[static_cast<std::size_t>(c) * num_vertices + v];
            const auto [known, is_new] = place_of.emplace(mesh.global_vertex(vertex), place);
            for (std::size_t d = 0; d < place.size(); ++d) EXPECT_NEAR(known->second[d], place[d], 1e-12);
            std::vector<std::int64_t> rounded;
            for (const double coordinate : place) rounded.push_back(std::llround(1e6 * coordinate));
            places.insert(rounded);
          }
        }
      }
      EXPECT_EQ(place_of.size(), places.size());
      EXPECT_EQ(static_cast<std::size_t>(mesh.topology().num_representatives(0)), places.size());
    }
}

TEST_P(Periodic, RefinementKeepsTheIdentification) {
  for (const auto& along : parts_of_axes()) {
    const auto coarse = scrambled(box(GetParam(), 2, 2), 3);
    const auto carried = identified(coarse, along).refined(1), found = identified(coarse.refined(1), along);
    const auto &a = carried.topology(), &b = found.topology();
    EXPECT_EQ(a.representatives, b.representatives);
    EXPECT_EQ(a.exterior_facets, b.exterior_facets);
    EXPECT_EQ(a.periodic_tags(), b.periodic_tags());
    EXPECT_EQ(carried.global_vertices, found.global_vertices);
    for (std::size_t g = 0; g < a.groups.size(); ++g) {
      EXPECT_EQ(a.groups[g].edge_orientations, b.groups[g].edge_orientations);
      EXPECT_EQ(a.groups[g].face_orientations, b.groups[g].face_orientations);
    }
  }
}

TEST_P(Periodic, ChunksOfAStageShareNoIdentifiedVertex) {
  const auto mesh = periodic_box(GetParam(), dim() == 1 ? 40 : 6, axes());
  const auto batches = mesh::make_cell_batches(mesh, {.cells_per_batch = 2, .batches_per_chunk = 1});
  for (const auto& stage : batches.stages) {
    std::map<std::int64_t, std::size_t> chunk_of;
    for (std::size_t i = 0; i < stage.size(); ++i) {
      const auto& block = batches.blocks[static_cast<std::size_t>(stage[i].block)];
      const auto& group = mesh.groups[static_cast<std::size_t>(block.group)];
      const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
      for (auto c = stage[i].batch_begin * 2; c < stage[i].batch_end * 2; ++c)
        for (std::size_t v = 0; v < n; ++v) {
          const auto cell = static_cast<std::size_t>(block.cells[static_cast<std::size_t>(c)]);
          const auto [known, is_new] = chunk_of.emplace(mesh.global_vertex(group.vertices[cell * n + v]), i);
          EXPECT_EQ(known->second, i);
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, Periodic, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
