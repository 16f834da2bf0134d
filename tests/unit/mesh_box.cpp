// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <rafter/mesh/mesh.hpp>

using namespace rafter;
using element::Shape;

namespace {

/// Returns the number of cells of one shape, 0 when there are none.
std::int64_t count(const mesh::Mesh& mesh, Shape shape) {
  std::int64_t n = 0;
  for (const auto& group : mesh.groups)
    if (group.shape == shape) n += group.num_cells();
  return n;
}

} // namespace

TEST(box, splits_each_cube_into_the_known_number_of_cells) {
  EXPECT_EQ(count(mesh::make_box({.cells = {7}, .shape = "interval"}), Shape::interval), 7);
  EXPECT_EQ(count(mesh::make_box({.cells = {3, 2}, .shape = "triangle"}), Shape::triangle), 12);
  EXPECT_EQ(count(mesh::make_box({.cells = {3, 2}, .shape = "quadrilateral"}), Shape::quadrilateral), 6);
  EXPECT_EQ(count(mesh::make_box({.cells = {3, 2, 1}, .shape = "tetrahedron"}), Shape::tetrahedron), 36);
  EXPECT_EQ(count(mesh::make_box({.cells = {3, 2, 1}, .shape = "hexahedron"}), Shape::hexahedron), 6);
  EXPECT_EQ(count(mesh::make_box({.cells = {3, 2, 1}, .shape = "prism"}), Shape::prism), 12);
  EXPECT_EQ(count(mesh::make_box({.cells = {3, 2, 1}, .shape = "pyramid"}), Shape::pyramid), 36);
}

TEST(box, mixed_has_every_shape_of_its_dimension) {
  const auto box = mesh::make_box({.cells = {4, 1, 2}, .shape = "mixed"});
  EXPECT_EQ(count(box, Shape::prism), 2 * 2);
  EXPECT_EQ(count(box, Shape::hexahedron), 2);
  EXPECT_EQ(count(box, Shape::pyramid), 5 * 2);
  EXPECT_EQ(count(box, Shape::tetrahedron), (2 + 6) * 2);
  const auto square = mesh::make_box({.cells = {5, 3}, .shape = "mixed"});
  EXPECT_EQ(count(square, Shape::quadrilateral), 6);
  EXPECT_EQ(count(square, Shape::triangle), 18);
}

TEST(box, ends_lie_exactly_at_zero_and_at_the_size) {
  const auto box = mesh::make_box({.cells = {7, 3, 11}, .size = {0.7, 1.0 / 3, 1e-3}, .shape = "hexahedron"});
  for (int d = 0; d < 3; ++d) {
    double low = 1, high = 0;
    for (std::size_t i = d; i < box.points.size(); i += 3) {
      low = std::min(low, box.points[i]);
      high = std::max(high, box.points[i]);
    }
    EXPECT_EQ(low, 0.0);
    EXPECT_EQ(high, (std::array{0.7, 1.0 / 3, 1e-3}[d]));
  }
}

TEST(box, cells_have_tag_1_and_sides_have_names) {
  const auto box = mesh::make_box({.cells = {2, 2, 2}, .shape = "prism"});
  for (const auto& group : box.groups)
    EXPECT_TRUE(std::all_of(group.tags.begin(), group.tags.end(), [](auto t) { return t == 1; }));
  int number = 1;
  for (const auto* side : {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"})
    EXPECT_EQ(box.tags_of(side, 2), std::vector<std::int32_t>{number++});
  EXPECT_EQ(box.physical_groups.names.size(), 6u);
  EXPECT_EQ(mesh::make_box({.cells = {2}, .shape = "interval"}).physical_groups.names.size(), 2u);
}

TEST(box, empty_shape_means_the_tensor_shape_and_default_size_the_unit_box) {
  EXPECT_EQ(mesh::make_box({.cells = {2}, .shape = ""}).groups[0].shape, Shape::interval);
  EXPECT_EQ(mesh::make_box({.cells = {2, 2}, .shape = ""}).groups[0].shape, Shape::quadrilateral);
  EXPECT_EQ(mesh::make_box({.cells = {2, 2, 2}, .shape = ""}).groups[0].shape, Shape::hexahedron);
  const auto square = mesh::make_box({.cells = {2, 2}, .shape = "triangle"});
  EXPECT_EQ(*std::max_element(square.points.begin(), square.points.end()), 1.0);
}

TEST(box, linear_nodes_are_the_vertices) {
  const auto box = mesh::make_box({.cells = {4, 2, 2}, .shape = "mixed"});
  EXPECT_EQ(box.points.size(), static_cast<std::size_t>(box.num_vertices) * 3);
  for (const auto& group : box.groups) EXPECT_TRUE(std::ranges::equal(group.nodes(), group.vertices));
}

TEST(box, high_order_nodes_are_shared_between_cells) {
  // A box of n^3 cubes of degree g has (g n + 1)^3 nodes, for hexahedra, Kuhn tetrahedra and prisms alike.
  for (const auto* shape : {"hexahedron", "tetrahedron", "prism"})
    for (const int degree : {2, 3, 4}) {
      const auto box = mesh::make_box({.cells = {2, 2, 2}, .shape = shape, .degree = degree});
      const auto n = static_cast<std::size_t>(2 * degree + 1);
      EXPECT_EQ(box.points.size(), 3 * n * n * n) << shape << " " << degree;
      std::set<std::int32_t> used(box.groups[0].nodes().begin(), box.groups[0].nodes().end());
      EXPECT_EQ(used.size(), n * n * n);
    }
}
