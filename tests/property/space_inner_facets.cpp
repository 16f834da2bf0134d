// SPDX-License-Identifier: BSD-3-Clause
// Dirichlet conditions hold on tagged facets inside the domain as on those of the boundary, on every shape and degree.
#include <gtest/gtest.h>

#include <set>

#include <rafter/space/constraints.hpp>
#include <rafter/space/low_order_refinement.hpp>

#include <tests/support/inner_facets.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

constexpr std::int32_t inner_tag = 7;

double value_at(std::span<const double> x) { return 1 + x[0] + 2 * x.back(); }

space::Constraints constrained(const space::FunctionSpace& space, std::int32_t tag) {
  const std::vector<space::DirichletCondition> conditions{
      {.tags = {tag},
       .value = [](std::span<const double> x, std::span<double> values) { std::ranges::fill(values, value_at(x)); }}};
  return space::make_constraints(space, conditions);
}

mesh::Point as_point(std::span<const double> x) {
  mesh::Point result{};
  std::ranges::copy(x, result.begin());
  return result;
}

/// The entries whose nodes lie on one of the facets, with the values there.
std::map<std::int32_t, double> entries_on(const space::FunctionSpace& space, std::span<const KnownFacet> facets) {
  std::map<std::int32_t, double> result;
  const auto dim = static_cast<std::size_t>(space.gdim);
  for_each_cell(space, [&](auto, auto, const auto& entries, const auto& points) {
    const auto num_dofs = points.size() / dim;
    for (std::size_t dof = 0; dof < num_dofs; ++dof) {
      const auto x = std::span(points).subspan(dof * dim, dim);
      if (std::ranges::none_of(facets, [&](const auto& facet) { return lies_on(facet, as_point(x)); })) continue;
      for (std::size_t i = dof; i < entries.size(); i += num_dofs) result[entries[i]] = value_at(x);
    }
  });
  return result;
}

void expect_held(const space::FunctionSpace& space, std::span<const KnownFacet> facets, const std::string& what) {
  const auto found = constrained(space, inner_tag);
  const auto expected = entries_on(space, facets);
  ASSERT_EQ(found.entries.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.entries.size(); ++i) {
    ASSERT_TRUE(expected.contains(found.entries[i])) << what;
    EXPECT_NEAR(found.values[i], expected.at(found.entries[i]), 1e-12) << what;
  }
}

class InnerFacets : public ::testing::TestWithParam<std::string> {
protected:
  mesh::Mesh coarse_ = scrambled(box(GetParam(), box_dimension(GetParam()) == 1 ? 5 : 0), 6);
  std::vector<KnownFacet> facets_ = some_inner_facets(coarse_);
};

TEST_P(InnerFacets, HoldConditionsWithAllTheirNodes) {
  ASSERT_FALSE(facets_.empty());
  for (int degree = 1; degree <= 4; ++degree)
    expect_held(*make_space(with_tag(coarse_, facets_, inner_tag), degree, 2), facets_,
                GetParam() + " degree " + std::to_string(degree));
}

TEST_P(InnerFacets, HoldConditionsTogetherWithFacetsOfTheBoundary) {
  auto both = facets_;
  for (const auto& facet : all_facets(coarse_))
    if (facet.sides.size() == 1 && both.size() < 2 * facets_.size()) both.push_back(facet);
  auto mesh = fresh_copy(coarse_);
  mesh.tagged_facets.clear();
  expect_held(*make_space(with_tag(mesh, both, inner_tag), 3), both, GetParam());
}

TEST_P(InnerFacets, AreRefinedWithTheMesh) {
  const auto fine = with_tag(coarse_, facets_, inner_tag).refined(1);
  const auto per_facet = GetParam() == "interval" ? 1 : box_dimension(GetParam()) == 2 ? 2 : 4;
  EXPECT_EQ(fine.surface().facet_counts.at(inner_tag),
            (mesh::FacetCounts{.inner = per_facet * static_cast<std::int64_t>(facets_.size())}));
  expect_held(*make_space(fine, 2), facets_, GetParam());
}

TEST_P(InnerFacets, AreThoseOfTheMeshBetweenTheNodes) {
  if (GetParam() == "pyramid" || GetParam() == "mixed") return; // pyramids are not divided
  const auto space = make_space(with_tag(coarse_, facets_, inner_tag), 3);
  expect_held(*make_space(*space::low_order_refinement(*space)->mesh, 1), facets_, GetParam());
}

/// Nodes on curved cells are compared with those of the same facet on the straight mesh, cell by cell.
TEST_P(InnerFacets, HoldTheSameUnknownsOnCurvedCells) {
  const auto shape = GetParam();
  const auto curved = curved_box(shape, 3), straight = box(shape, 0, 3);
  const auto facets = some_inner_facets(straight);
  const auto a = make_space(with_tag(curved, facets, inner_tag), 2),
             b = make_space(with_tag(straight, facets, inner_tag), 2);
  const auto count = constrained(*a, inner_tag).entries.size();
  EXPECT_EQ(count, entries_on(*b, facets).size());
  const auto found = constrained(*a, inner_tag);
  const auto dim = static_cast<std::size_t>(a->gdim);
  std::map<std::int32_t, double> values;
  for_each_cell(*a, [&](auto, auto, const auto& entries, const auto& points) {
    for (std::size_t i = 0; i < entries.size(); ++i)
      values[entries[i]] = value_at(std::span(points).subspan(i * dim, dim));
  });
  for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(found.values[i], values.at(found.entries[i]), 1e-12);
}

TEST_P(InnerFacets, AreNoPartOfTheWholeBoundary) {
  const auto space = make_space(with_tag(coarse_, facets_, inner_tag), 2), plain = make_space(coarse_, 2);
  const std::vector<space::DirichletCondition> everywhere{
      {.is_all = true, .value = [](auto, std::span<double> values) { values[0] = 0; }}};
  EXPECT_EQ(space::make_constraints(*space, everywhere).entries, space::make_constraints(*plain, everywhere).entries);
}

INSTANTIATE_TEST_SUITE_P(every_shape, InnerFacets, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
