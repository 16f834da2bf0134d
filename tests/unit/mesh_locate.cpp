// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/mesh/locate.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

/// Returns the image of a reference point.
std::vector<double> image(const mesh::Mesh& mesh, const mesh::CellPoint& at) {
  const auto& group = mesh.groups[static_cast<std::size_t>(at.group)];
  const auto table = mesh::geometry_element(group)->tabulate(at.reference);
  const auto dim = static_cast<std::size_t>(mesh.gdim), count = static_cast<std::size_t>(table.num_dofs);
  std::vector<double> x(dim, 0.0);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t a = 0; a < dim; ++a)
      x[a] +=
          table(0, 0, static_cast<int>(i)) *
          mesh.points[static_cast<std::size_t>(group.nodes()[static_cast<std::size_t>(at.cell) * count + i]) * dim + a];
  return x;
}

class Locate : public ::testing::TestWithParam<std::string> {};

TEST_P(Locate, FindsPointsInsideAndOnTheBoundaryOfCellsWhereTheMapPutsThem) {
  for (const auto& mesh : {box(GetParam()), curved_box(GetParam(), 3)}) {
    const mesh::PointLocator locator(mesh);
    for (std::int32_t g = 0; g < static_cast<std::int32_t>(mesh.groups.size()); ++g) {
      const auto& group = mesh.groups[static_cast<std::size_t>(g)];
      const auto vertices = element::reference_vertices(group.shape);
      const auto dim = static_cast<std::size_t>(mesh.gdim);
      for (std::int32_t cell = 0; cell < group.num_cells(); cell += 3)
        for (const double towards_vertex : {0.0, 0.5, 1.0}) {
          mesh::CellPoint at{g, cell, std::vector<double>(dim, -0.4)};
          for (std::size_t a = 0; a < dim; ++a)
            at.reference[a] += towards_vertex * (vertices[vertices.size() - dim + a] - at.reference[a]);
          const auto x = image(mesh, at);
          const auto found = mesh::locate(mesh, x), by_tree = locator.find(x);
          ASSERT_TRUE(found && by_tree) << mesh.source << " cell " << cell << ", " << towards_vertex;
          EXPECT_EQ(std::pair(found->group, found->cell), std::pair(by_tree->group, by_tree->cell));
          EXPECT_EQ(found->reference, by_tree->reference);
          const auto again = image(mesh, *found);
          for (std::size_t a = 0; a < dim; ++a) EXPECT_NEAR(again[a], x[a], 1e-13);
          if (towards_vertex == 1) continue; // a vertex belongs to several cells
          EXPECT_EQ(found->group, g);
          EXPECT_EQ(found->cell, cell);
          for (std::size_t a = 0; a < dim; ++a) EXPECT_NEAR(found->reference[a], at.reference[a], 1e-11);
        }
    }
  }
}

TEST_P(Locate, FindsNodesOfCellsFarFromTheOrigin) {
  for (const double distance : {4e6, 1e9}) // cells are 1e-7 and 1e-9 of that
    for (auto mesh : {box(GetParam()), curved_box(GetParam(), 2)}) {
      for (auto& coordinate : mesh.points) coordinate += distance;
      const mesh::PointLocator locator(mesh);
      const auto dim = static_cast<std::size_t>(mesh.gdim);
      for (std::size_t node = 0; node < mesh.points.size() / dim; ++node)
        EXPECT_TRUE(locator.find(std::span(mesh.points).subspan(node * dim, dim))) << mesh.source << " node " << node;
      const auto& group = mesh.groups[0];
      const auto vertices = element::reference_vertices(group.shape);
      for (std::int32_t cell = 0; cell < group.num_cells(); ++cell)
        for (const double share : {0.25, 1.0 / 3, 0.9}) { // points between the first vertex and the second
          mesh::CellPoint at{0, cell, {}};
          for (std::size_t a = 0; a < dim; ++a)
            at.reference.push_back((1 - share) * vertices[a] + share * vertices[dim + a]);
          EXPECT_TRUE(locator.find(image(mesh, at))) << mesh.source << " cell " << cell << ", " << share;
        }
    }
}

TEST_P(Locate, FindsNothingOutside) {
  const auto mesh = box(GetParam());
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.gdim); ++axis)
    for (const double outside : {-1e-6, 1.25 + 1e-6, 100.0}) {
      std::vector<double> x(static_cast<std::size_t>(mesh.gdim), 0.1);
      x[axis] = outside;
      EXPECT_FALSE(mesh::locate(mesh, x)) << axis << " " << outside;
      EXPECT_FALSE(mesh::PointLocator(mesh).find(x)) << axis << " " << outside;
    }
}

INSTANTIATE_TEST_SUITE_P(every_shape, Locate, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
