// SPDX-License-Identifier: BSD-3-Clause
// Parts that touch without sharing nodes are found, and made one they are the mesh that they were cut from.
#include <gtest/gtest.h>

#include <rafter/base/log.hpp>
#include <rafter/mesh/merge.hpp>
#include <rafter/mesh/touching.hpp>

#include <tests/support/inner_facets.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

/// Moves the points by a smooth map.
mesh::Mesh bent(mesh::Mesh mesh) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t i = 0; i < mesh.points.size(); i += dim) {
    const auto x = std::vector(mesh.points.begin() + static_cast<std::ptrdiff_t>(i),
                               mesh.points.begin() + static_cast<std::ptrdiff_t>(i + dim));
    for (std::size_t d = 0; d < dim; ++d) mesh.points[i + d] += 0.05 * std::sin(3 * x[(d + 1) % dim] + x[d]);
  }
  return mesh;
}

/// A box, and the same one cut open in the middle, with the number of facets there.
struct CutBox {
  mesh::Mesh whole, open;
  std::int64_t num_facets = 0;
};
CutBox make_cut(const mesh::Mesh& box, double gap) {
  const auto open = cut_open(box, 0.5, gap);
  const auto more = open.surface().exterior_facets.size() - box.surface().exterior_facets.size();
  return {bent(fresh_copy(box)), bent(fresh_copy(open)), static_cast<std::int64_t>(more / 2)};
}

class CutBoxes : public ::testing::TestWithParam<std::string> {
protected:
  static std::vector<CutBox> boxes(double gap = 0) {
    const int n = box_dimension(GetParam()) == 1 ? 4 : 2;
    std::vector<CutBox> result{make_cut(scrambled(box(GetParam(), n), 5), gap)};
    for (const int degree : {2, 3}) result.push_back(make_cut(box(GetParam(), n, degree), gap));
    return result;
  }
};

TEST_P(CutBoxes, AreFoundToTouch) {
  for (const double gap : {0.0, 1e-9})
    for (const auto& [whole, open, num_facets] : boxes(gap)) {
      EXPECT_FALSE(mesh::find_touching(whole).has_value()) << whole.source;
      ASSERT_GT(num_facets, 0);
      const auto found = mesh::find_touching(open);
      ASSERT_TRUE(found.has_value()) << open.source;
      EXPECT_EQ(found->num_pairs, num_facets);
      EXPECT_EQ(found->num_connected_components, 2);
      EXPECT_LT(found->first, found->second);
      EXPECT_EQ(mesh::merged(open, found->length).num_vertices, whole.num_vertices);
      EXPECT_LE(found->length, 1.001e-8);
    }
}

TEST_P(CutBoxes, TouchWhereFilesHaveFewDigits) {
  for (const auto& [whole, open, num_facets] : boxes(1e-7)) {
    const auto found = mesh::find_touching(open);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(mesh::merged(open, found->length).num_vertices, whole.num_vertices);
  }
}

TEST_P(CutBoxes, DoNotTouchAcrossAGap) {
  for (const auto& [whole, open, num_facets] : boxes(1e-3)) EXPECT_FALSE(mesh::find_touching(open).has_value());
}

TEST_P(CutBoxes, AreTheWholeMeshWhenTheirNodesAreMerged) {
  for (const auto& [whole, open, num_facets] : boxes(1e-10)) {
    const auto joined = mesh::merged(open, 1e-9);
    const auto &a = joined.topology(), &b = whole.topology();
    EXPECT_EQ(joined.num_vertices, whole.num_vertices);
    EXPECT_EQ(a.num_edges, b.num_edges);
    EXPECT_EQ(a.num_faces, b.num_faces);
    EXPECT_EQ(a.exterior_facets, b.exterior_facets);
    EXPECT_EQ(a.exterior_tags, b.exterior_tags);
    EXPECT_EQ(joined.points.size(), whole.points.size());
    EXPECT_FALSE(mesh::find_touching(joined).has_value());
    const auto dim = static_cast<std::size_t>(whole.gdim);
    for (std::size_t g = 0; g < whole.groups.size(); ++g)
      for (std::size_t i = 0; i < whole.groups[g].nodes().size(); ++i)
        for (std::size_t d = 0; d < dim; ++d)
          EXPECT_NEAR(joined.points[static_cast<std::size_t>(joined.groups[g].nodes()[i]) * dim + d],
                      whole.points[static_cast<std::size_t>(whole.groups[g].nodes()[i]) * dim + d], 3e-10);
    EXPECT_NO_THROW(mesh::require_valid(joined));
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, CutBoxes, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

/// A square whose right neighbour has nodes of its own. Edges between them are tagged from the left and the right.
mesh::Mesh two_squares(std::int32_t left, std::int32_t right) {
  mesh::Mesh mesh;
  mesh.tdim = mesh.gdim = 2;
  mesh.num_vertices = 8;
  mesh.points = {0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 2, 0, 1, 1, 2, 1};
  mesh::CellGroup group{.shape = element::Shape::quadrilateral, .degree = 1};
  group.vertices = {0, 1, 2, 3, 4, 5, 6, 7};
  group.tags = {1, 2};
  mesh.groups.push_back(std::move(group));
  mesh.tagged_facets = {{{1, 3, -1, -1}, left}, {{4, 6, -1, -1}, right}, {{5, 7, -1, -1}, 9}};
  return mesh;
}

TEST(Merge, TaggedFacetsOfBothSidesAreOneInsideTheDomain) {
  const auto joined = mesh::merged(two_squares(3, 3), 1e-9);
  EXPECT_EQ(joined.num_vertices, 6);
  EXPECT_EQ(joined.tagged_facets.size(), 2U);
  EXPECT_EQ(joined.surface().facet_counts.at(3), (mesh::FacetCounts{.inner = 1}));
  EXPECT_EQ(joined.surface().facet_counts.at(9), (mesh::FacetCounts{.exterior = 1}));
}

TEST(Merge, FacetsBelongToTheGroupsOfBothSides) {
  const auto joined = mesh::merged(two_squares(3, 4), 1e-9);
  const auto tags = joined.tags_of("3", 1);
  ASSERT_EQ(tags.size(), 1U);
  EXPECT_EQ(joined.tags_of("4", 1), tags);
  EXPECT_EQ(joined.physical_groups.groups_of(1, tags[0]), (std::vector<std::int32_t>{3, 4}));
  EXPECT_EQ(joined.surface().facet_counts.at(tags[0]), (mesh::FacetCounts{.inner = 1}));
}

TEST(Merge, WarnsWhereNoNodesAreNear) {
  std::string warning;
  const auto before = base::set_warning_handler([&](const std::string& text) { warning += text; });
  const auto joined = mesh::merged(box("triangle"), 1e-9);
  base::set_warning_handler(before);
  EXPECT_EQ(joined.num_vertices, box("triangle").num_vertices);
  EXPECT_NE(warning.find("makes no nodes one"), std::string::npos) << warning;
}

/// A slit within one part: cells on both sides have their own nodes along a part of the cut alone.
TEST(Touching, ASlitIsInOneConnectedComponent) {
  auto mesh = fresh_copy(box("quadrilateral", 4));
  // The vertex on the boundary below the cut, at x = 0.5, is another one for the cells to the right.
  std::int32_t at = -1;
  for (std::int32_t v = 0; v < mesh.num_vertices; ++v)
    if (mesh.points[2 * static_cast<std::size_t>(v)] == 0.5 && mesh.points[2 * static_cast<std::size_t>(v) + 1] == 0)
      at = v;
  ASSERT_GE(at, 0);
  mesh.points.insert(mesh.points.end(), {0.5, 0.0});
  for (std::size_t i = 0; i < mesh.groups[0].vertices.size(); ++i) {
    const auto x = mesh::cell_vertex_coordinates(mesh, 0, static_cast<std::int32_t>(i / 4));
    if (mesh.groups[0].vertices[i] == at && x[0] >= 0.5) mesh.groups[0].vertices[i] = mesh.num_vertices;
  }
  mesh.tagged_facets.clear();
  ++mesh.num_vertices;
  const auto found = mesh::find_touching(mesh);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->num_pairs, 1);
  EXPECT_EQ(found->num_connected_components, 1);
  const auto text = mesh::describe(mesh, *found);
  EXPECT_NE(text.find("slit"), std::string::npos) << text;
  EXPECT_NE(text.find("(0.5, 0.09375)"), std::string::npos) << text;
  EXPECT_EQ(mesh::merged(mesh, 1e-9).num_vertices, 25);
}

/// The vertices of two curved edges meet, but the mesh has a hole of the form of a lens between them.
TEST(Touching, CurvedFacetsWithAHoleBetweenThemDoNotTouch) {
  const auto open = cut_open(box("quadrilateral", 2, 2), 0.5);
  const auto before = mesh::find_touching(open), after = mesh::find_touching(with_lens(open, 0.01));
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_EQ(before->num_pairs, 2);
  EXPECT_EQ(after->num_pairs, 1);
}

} // namespace
} // namespace rafter::test
