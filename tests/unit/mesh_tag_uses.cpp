// SPDX-License-Identifier: BSD-3-Clause
// Which tags serve which use.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/tag_uses.hpp>

#include <tests/support/inner_facets.hpp>
#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

using mesh::TagUse;

/// Four squares in a row with tag 1 and names of the sides; the inner edges have the tag 7 (`wall`), of which one edge
/// of the boundary, with tag 3 (ymin), is made a member, too, where `is_mixed`.
mesh::Mesh row(bool is_mixed) {
  auto mesh = fresh_copy(mesh::make_box({.cells = {4, 1}, .size = {4, 1}, .shape = "quadrilateral"}));
  std::vector<KnownFacet> inner;
  for (const auto& facet : all_facets(mesh))
    if (facet.sides.size() == 2) inner.push_back(facet);
  mesh = with_tag(mesh, inner, 7);
  for (auto& facet : mesh.tagged_facets)
    if (is_mixed && facet.tag == 3) {
      facet.tag = 7;
      break;
    }
  mesh.physical_groups.names.insert({.dim = 1, .name = "wall", .number = 7});
  return mesh;
}

TEST(TagUses, InnerFacetsAreCountedApartFromThoseOfTheBoundary) {
  const auto mesh = row(true);
  EXPECT_EQ(mesh.surface().facet_counts.at(7), (mesh::FacetCounts{.exterior = 1, .inner = 3}));
  EXPECT_EQ(mesh.surface().facet_counts.at(3), (mesh::FacetCounts{.exterior = 3}));
  EXPECT_EQ(mesh::count_facets(mesh, std::vector<std::int32_t>{7, 3, 7}),
            (mesh::FacetCounts{.exterior = 4, .inner = 3}));
  ASSERT_EQ(mesh.surface().inner_facets.size(), 3U);
  for (const auto& facet : mesh.surface().inner_facets) {
    EXPECT_LT(facet.first, facet.second);
    EXPECT_EQ(facet.tag, 7);
  }
}

TEST(TagUses, AFacetThatIsListedTwiceKeepsItsFirstTag) {
  auto mesh = row(false);
  const auto again = mesh.tagged_facets.back();
  mesh = with_tag(mesh, std::vector<KnownFacet>{{.vertices = again.vertices, .corners = {}, .sides = {}}}, 8);
  EXPECT_EQ(mesh.surface().inner_facets.size(), 3U);
  EXPECT_FALSE(mesh.surface().facet_counts.contains(8));
}

TEST(TagUses, ConditionsTakeFacetsInsideAndIntegralsThoseOfTheBoundary) {
  const auto inner = row(false), mixed = row(true);
  const std::vector<std::int32_t> wall{7};
  EXPECT_EQ(mesh::tags_for(inner, "wall", TagUse::dirichlet), wall);
  EXPECT_EQ(mesh::tags_for(inner, "7", TagUse::dirichlet), wall);
  EXPECT_EQ(mesh::tags_for(mixed, "wall", TagUse::dirichlet), wall);
  EXPECT_EQ(mesh::tags_for(mixed, "wall", TagUse::ds), wall);
  EXPECT_THROW(mesh::tags_for(inner, "wall", TagUse::ds), base::InputError);
  EXPECT_THROW(mesh::tags_for(inner, "wall", TagUse::periodic), base::InputError);
  EXPECT_THROW(mesh::tags_for(mixed, "wall", TagUse::periodic), base::InputError);
  EXPECT_EQ(mesh::tags_for(mixed, "1", TagUse::dx), std::vector<std::int32_t>{1});
}

TEST(TagUses, WhatAnIntegralLeavesOutIsReportedWithBothNumbers) {
  const auto mesh = row(true);
  const std::vector<std::int32_t> wall{7}, xmin{1};
  const auto text = mesh::left_out(mesh, wall, "'wall'", TagUse::ds);
  EXPECT_NE(text.find("3 of the 4 facets of 'wall' lie inside the domain"), std::string::npos) << text;
  EXPECT_NE(text.find("the other one alone"), std::string::npos) << text;
  EXPECT_EQ(mesh::left_out(mesh, wall, "'wall'", TagUse::dirichlet), "");
  EXPECT_EQ(mesh::left_out(mesh, xmin, "'xmin'", TagUse::ds), "");
  EXPECT_EQ(mesh::left_out(mesh, xmin, "'1'", TagUse::dx), "");
}

class PartsWithInnerFacets : public ::testing::TestWithParam<std::string> {};

TEST_P(PartsWithInnerFacets, TogetherHaveTheInnerFacetsOfTheMesh) {
  const auto plain = rank_box(GetParam());
  const auto whole = with_tag(plain, some_inner_facets(plain), 9);
  std::set<mesh::FacetRef> expected;
  for (const auto& facet : whole.surface().inner_facets) expected.insert({facet.first, facet.second});
  for (const auto parts : all_parts) {
    const auto ranks = cell_ranks(whole, 4, parts);
    std::set<mesh::FacetRef> found;
    std::mutex mutex;
    comm::run_in_process(4, [&](const Process& process) {
      const auto part = mesh::local_part(whole, ranks, process);
      EXPECT_EQ(part.surface().facet_counts, whole.surface().facet_counts);
      EXPECT_EQ(mesh::tags_for(part, "9", TagUse::dirichlet), std::vector<std::int32_t>{9});
      EXPECT_THROW(mesh::tags_for(part, "9", TagUse::ds), base::InputError);
      const std::lock_guard lock(mutex);
      for (const auto& facet : part.surface().inner_facets)
        for (auto side : {facet.first, facet.second}) {
          if (side.group < 0) continue;
          side.cell = part.distribution
                          ->global_cells[static_cast<std::size_t>(side.group)][static_cast<std::size_t>(side.cell)];
          EXPECT_TRUE(found.insert(side).second) << "a side of two processes";
        }
    });
    EXPECT_EQ(found, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, PartsWithInnerFacets, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
