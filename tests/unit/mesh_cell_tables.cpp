// SPDX-License-Identifier: BSD-3-Clause
// Tables of cells that hold a few numbers for many cells: parents and tags.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter {
namespace {

using mesh::CellTags;
using mesh::Parents;

TEST(parents, of_ranges_are_those_of_their_children) {
  Parents parents;
  EXPECT_TRUE(parents.empty());
  parents.append({.group = 1, .first_parent = 5, .num_parents = 2, .children_per_parent = 3});
  parents.append({.group = 0, .first_parent = 0, .num_parents = 1, .children_per_parent = 2});
  EXPECT_EQ(parents.num_children(), 8);
  const std::vector<Parents::Cell> expected{{1, 5}, {1, 5}, {1, 5}, {1, 6}, {1, 6}, {1, 6}, {0, 0}, {0, 0}};
  for (std::int32_t child = 0; child < 8; ++child)
    EXPECT_EQ(parents.of(child), expected[static_cast<std::size_t>(child)]) << child;
  EXPECT_THROW((void)parents.of(8), base::InternalError);
  EXPECT_THROW((void)parents.of(-1), base::InternalError);
}

TEST(parents, of_children_one_by_one_become_ranges) {
  Parents parents;
  std::vector<Parents::Cell> expected;
  for (std::int32_t parent = 0; parent < 100; ++parent) // one of them has a child less
    for (int child = 0; child < (parent == 40 ? 7 : 8); ++child) expected.push_back({0, parent});
  for (const auto parent : expected) parents.append(parent);
  EXPECT_LE(parents.ranges().size(), 4u);
  ASSERT_EQ(parents.num_children(), static_cast<std::int32_t>(expected.size()));
  for (std::size_t child = 0; child < expected.size(); ++child)
    EXPECT_EQ(parents.of(static_cast<std::int32_t>(child)), expected[child]) << child;
}

TEST(parents, of_a_refined_mesh_are_as_many_ranges_however_many_cells_there_are) {
  for (const auto* shape : {"tetrahedron", "hexahedron", "mixed"}) {
    const auto box = mesh::make_box({.cells = {4, 2, 2}, .shape = shape});
    const auto once = box.refined(1), thrice = box.refined(3);
    for (const auto* fine : {&once, &thrice})
      for (const auto& group : fine->groups) {
        EXPECT_LE(group.parents.ranges().size(), 4u) << shape; // tetrahedra lie in tetrahedra and in pyramids
        EXPECT_EQ(group.parents.num_children(), group.num_cells()) << shape;
        EXPECT_TRUE(group.tags.are_equal()) << shape;
      }
  }
}

TEST(cell_tags, are_one_number_until_they_differ) {
  CellTags tags;
  EXPECT_TRUE(tags.empty());
  tags.append(3, 7);
  tags.push_back(7);
  EXPECT_TRUE(tags.are_equal());
  EXPECT_EQ(tags, (CellTags{7, 7, 7, 7}));
  tags.push_back(8);
  tags.append(2, 7);
  EXPECT_FALSE(tags.are_equal());
  EXPECT_EQ(tags, (std::vector<std::int32_t>{7, 7, 7, 7, 8, 7, 7}));
  EXPECT_NE(tags, (CellTags{7, 7, 7, 7}));
  tags.assign(2, 3);
  EXPECT_TRUE(tags.are_equal());
  tags.set(1, 3);
  EXPECT_TRUE(tags.are_equal());
  tags.set(1, 4);
  EXPECT_EQ(tags, (CellTags{3, 4}));
  EXPECT_EQ(std::vector<std::int32_t>(tags.begin(), tags.end()), (std::vector<std::int32_t>{3, 4}));
}

} // namespace
} // namespace rafter
