// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/space/constraints.hpp>

#include <tests/support/space_meshes.hpp>

namespace rafter {
namespace {

using space::Constraints;
using space::DirichletCondition;

space::SpatialFunction constant(double value) {
  return [value](std::span<const double>, std::span<double> values) { std::ranges::fill(values, value); };
}

/// Maps every entry to its component and point, as the cells see it.
std::map<std::int32_t, std::pair<std::size_t, std::vector<double>>> places(const space::FunctionSpace& space) {
  std::map<std::int32_t, std::pair<std::size_t, std::vector<double>>> result;
  const auto dim = static_cast<std::size_t>(space.gdim);
  test::for_each_cell(space, [&](auto, auto, const auto& entries, const auto& points) {
    const std::size_t num_dofs = points.size() / dim;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto x = points.begin() + static_cast<std::ptrdiff_t>(i % num_dofs * dim);
      result[entries[i]] = {i / num_dofs, {x, x + static_cast<std::ptrdiff_t>(dim)}};
    }
  });
  return result;
}

/// The box of test::box has its lower corner at 0 and this upper corner. Tags 1..6 are xmin, xmax, ymin, ymax, zmin,
/// zmax.
constexpr std::array<double, 3> upper{1.0, 0.75, 1.25};

bool lies_on(std::span<const double> x, int tag) {
  const auto axis = static_cast<std::size_t>((tag - 1) / 2);
  return std::abs(x[axis] - (tag % 2 == 1 ? 0.0 : upper[axis])) < 1e-12;
}

TEST(Constraints, HoldExactlyTheNodesOnTheTaggedSide) {
  for (const auto& shape : test::box_shapes()) {
    const auto space = test::make_space(test::scrambled(test::box(shape), 5), 3, 2);
    for (int tag = 1; tag <= 2 * test::box_dimension(shape); ++tag) {
      std::vector<std::int32_t> expected;
      for (const auto& [entry, place] : places(*space))
        if (lies_on(place.second, tag)) expected.push_back(entry);
      const std::vector<DirichletCondition> conditions{{.tags = {tag}, .value = constant(2.5)}};
      const Constraints found = space::make_constraints(*space, conditions);
      EXPECT_EQ(found.entries, expected) << shape << " tag " << tag;
      EXPECT_EQ(found.values, std::vector<double>(expected.size(), 2.5));
    }
  }
}

/// A predicate that holds on a side selects what its tag does; together they restrict each other.
TEST(Constraints, HoldWhereAPredicateHolds) {
  for (const auto& shape : test::box_shapes()) {
    const auto space = test::make_space(test::scrambled(test::box(shape), 5), 3, 2);
    const auto where = [](std::span<const double> x) { return lies_on(x, 2); };
    const std::vector<DirichletCondition> by_tag{{.tags = {2}, .value = constant(2.5)}};
    const std::vector<DirichletCondition> by_predicate{{.is_all = true, .value = constant(2.5), .where = where}};
    const auto expected = space::make_constraints(*space, by_tag).entries;
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(space::make_constraints(*space, by_predicate).entries, expected) << shape;
    const std::vector<DirichletCondition> nowhere{{.tags = {1}, .value = constant(2.5), .where = where}};
    EXPECT_TRUE(space::make_constraints(*space, nowhere).entries.empty()) << shape;
  }
}

TEST(Constraints, HoldOnAllMembersOfAGroup) {
  // The first of the two facets of xmin is also in group 9; those of xmax have no group.
  auto mesh = mesh::make_box({.cells = {2, 2}, .shape = "quadrilateral"});
  auto facet = std::ranges::find(mesh.tagged_facets, 1, &mesh::TaggedFacet::tag);
  facet->tag = mesh.physical_groups.tag_of(1, std::vector<std::int32_t>{1, 9});
  std::erase_if(mesh.tagged_facets, [](const auto& tagged) { return tagged.tag == 2; });
  const auto space = test::make_space(std::move(mesh), 1);
  const auto num_constrained = [&](const std::vector<std::int32_t>& tags) {
    const std::vector<DirichletCondition> conditions{{.tags = tags, .value = constant(0)}};
    return space::make_constraints(*space, conditions).entries.size();
  };
  EXPECT_EQ(num_constrained({1}), 3U);
  EXPECT_EQ(num_constrained({9}), 2U);
  EXPECT_EQ(num_constrained({9, 1}), 3U);
  EXPECT_EQ(num_constrained({-1}), 2U);
  EXPECT_EQ(num_constrained({0}), 3U);
  EXPECT_EQ(num_constrained({0, 1}), 6U);
  EXPECT_THROW(num_constrained({2}), base::InputError);
}

TEST(Constraints, WholeBoundaryByFlagOrByNoTags) {
  for (const auto& shape : test::box_shapes()) {
    const auto space = test::make_space(test::box(shape), 2);
    std::vector<std::int32_t> expected;
    for (const auto& [entry, place] : places(*space)) {
      bool is_boundary = false;
      for (int tag = 1; tag <= 2 * space->gdim; ++tag) is_boundary = is_boundary || lies_on(place.second, tag);
      if (is_boundary) expected.push_back(entry);
    }
    const std::vector<DirichletCondition> by_flag{{.is_all = true, .value = constant(0)}};
    const std::vector<DirichletCondition> by_none{{.value = constant(0)}};
    EXPECT_EQ(space::make_constraints(*space, by_flag).entries, expected) << shape;
    EXPECT_EQ(space::make_constraints(*space, by_none).entries, expected) << shape;
  }
}

TEST(Constraints, ValuesAreThoseOfTheFunctionAtTheNodes) {
  const auto space = test::make_space(test::box("mixed"), 3, 3);
  const std::vector<DirichletCondition> conditions{
      {.is_all = true, .value = [](std::span<const double> x, std::span<double> values) {
         for (std::size_t c = 0; c < values.size(); ++c) values[c] = test::polynomial(x, 3, c);
       }}};
  const auto found = space::make_constraints(*space, conditions);
  const auto place = places(*space);
  ASSERT_FALSE(found.entries.empty());
  for (std::size_t i = 0; i < found.entries.size(); ++i) {
    const auto& [component, x] = place.at(found.entries[i]);
    EXPECT_NEAR(found.values[i], test::polynomial(x, 3, component), 1e-12);
  }
}

TEST(Constraints, ComponentSubsetsLeaveTheOthersFree) {
  const auto space = test::make_space(test::box("hexahedron"), 2, 3);
  const std::vector<DirichletCondition> conditions{{.tags = {1}, .value = constant(1), .components = {0, 2}}};
  const auto found = space::make_constraints(*space, conditions);
  const auto place = places(*space);
  std::array<int, 3> num_found{};
  for (const auto entry : found.entries) ++num_found[place.at(entry).first];
  EXPECT_EQ(num_found[0], 25);
  EXPECT_EQ(num_found[1], 0);
  EXPECT_EQ(num_found[2], 25);
}

TEST(Constraints, LaterConditionsWinOnSharedNodes) {
  const auto space = test::make_space(test::box("tetrahedron"), 3, 2);
  const std::vector<DirichletCondition> conditions{{.tags = {1}, .value = constant(1)},
                                                   {.tags = {3}, .value = constant(2)},
                                                   {.tags = {1, 6}, .value = constant(3), .components = {1}}};
  const auto found = space::make_constraints(*space, conditions);
  EXPECT_EQ(std::set<std::int32_t>(found.entries.begin(), found.entries.end()).size(), found.entries.size());
  EXPECT_TRUE(std::ranges::is_sorted(found.entries));
  const auto place = places(*space);
  for (std::size_t i = 0; i < found.entries.size(); ++i) {
    const auto& [component, x] = place.at(found.entries[i]);
    const bool is_third = component == 1 && (lies_on(x, 1) || lies_on(x, 6));
    EXPECT_EQ(found.values[i], is_third ? 3 : lies_on(x, 3) ? 2 : 1);
  }
}

TEST(Constraints, NoConditionsGiveNone) {
  const auto space = test::make_space(test::box("quadrilateral"), 2);
  EXPECT_TRUE(space::make_constraints(*space, {}).entries.empty());
}

} // namespace
} // namespace rafter
