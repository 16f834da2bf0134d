// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/mesh/stretching.hpp>
#include <tests/support/space_meshes.hpp>

using namespace rafter;
using namespace rafter::test;

TEST(largest_stretching, is_the_ratio_of_the_edges_of_boxes) {
  const auto of = [](std::vector<int> cells, std::vector<double> size, const std::string& shape, int degree) {
    return mesh::largest_stretching(
        scrambled(mesh::make_box({.cells = cells, .size = size, .shape = shape, .degree = degree}), 3));
  };
  EXPECT_NEAR(of({4, 2}, {1, 1}, "quadrilateral", 1), 2, 1e-12);
  EXPECT_NEAR(of({2, 2, 2}, {1, 30, 5}, "hexahedron", 3), 30, 1e-12);
  EXPECT_EQ(of({2, 2, 2}, {1, 30, 5}, "tetrahedron", 1), 1) << "simplices have no axes";
  EXPECT_EQ(of({3}, {7}, "interval", 1), 1);
}

TEST(largest_stretching, is_that_of_the_worst_cell) {
  auto mesh = mesh::make_box({.cells = {3, 1}, .size = {3, 1}, .shape = "quadrilateral"});
  for (std::size_t i = 0; i < mesh.points.size(); i += 2)
    if (mesh.points[i] == 1) mesh.points[i] = 0.05;
  EXPECT_NEAR(mesh::largest_stretching(mesh), 20, 1e-12);
}
