// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>

#include <rafter/mesh/connected_components.hpp>

namespace {

using namespace rafter;

/// Returns the mesh in which the cells right of x = `cut` have vertices of their own.
mesh::Mesh torn(mesh::Mesh mesh, double cut) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  std::map<std::int32_t, std::int32_t> copies;
  for (auto& group : mesh.groups) {
    const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell) {
      double sum = 0;
      for (std::size_t v = 0; v < n; ++v)
        sum += mesh.points[static_cast<std::size_t>(group.nodes()[cell * n + v]) * dim];
      if (sum / static_cast<double>(n) < cut) continue;
      for (std::size_t v = 0; v < n; ++v) {
        auto& vertex = group.vertices[cell * n + v];
        vertex = copies.try_emplace(vertex, mesh.num_vertices + static_cast<std::int32_t>(copies.size())).first->second;
      }
    }
  }
  mesh.num_vertices += static_cast<std::int32_t>(copies.size());
  return mesh;
}

std::map<std::int32_t, std::int64_t> sizes(const mesh::ConnectedComponents& connected_components) {
  std::map<std::int32_t, std::int64_t> result;
  for (const auto& group : connected_components.of_cell)
    for (const auto connected_component : group) ++result[connected_component];
  return result;
}

TEST(ConnectedComponents, ABoxOfAnyShapeIsOne) {
  for (const auto* shape : {"tetrahedron", "hexahedron", "prism", "pyramid", "mixed"}) {
    SCOPED_TRACE(shape);
    const auto mesh = mesh::make_box({.cells = {4, 2, 2}, .shape = shape});
    const auto connected_components = mesh::connected_components(mesh, mesh::make_cell_mask(mesh, true));
    EXPECT_EQ(connected_components.count, 1);
    EXPECT_EQ(sizes(connected_components), (std::map<std::int32_t, std::int64_t>{{0, mesh.num_cells()}}));
  }
}

TEST(ConnectedComponents, CellsWithoutSharedVerticesAreApart) {
  const auto mesh = torn(mesh::make_box({.cells = {4, 2}, .shape = "quadrilateral"}), 0.75);
  const auto connected_components = mesh::connected_components(mesh, mesh::make_cell_mask(mesh, true));
  EXPECT_EQ(connected_components.count, 2);
  EXPECT_EQ(sizes(connected_components), (std::map<std::int32_t, std::int64_t>{{0, 6}, {1, 2}}));
}

TEST(ConnectedComponents, CellsLeftOutConnectNothing) {
  const auto mesh = mesh::make_box({.cells = {5}, .shape = "interval"});
  auto mask = mesh::make_cell_mask(mesh, true);
  mask[0][2] = 0;
  const auto connected_components = mesh::connected_components(mesh, mask);
  EXPECT_EQ(connected_components.count, 2);
  EXPECT_EQ(connected_components.of_cell[0], (std::vector<std::int32_t>{0, 0, -1, 1, 1}));
  EXPECT_EQ(mesh::connected_components(mesh, mesh::make_cell_mask(mesh, false)).count, 0);
}

TEST(ConnectedComponents, OneSharedVertexConnects) {
  const auto mesh = mesh::make_box({.cells = {2, 2}, .shape = "quadrilateral"});
  auto mask = mesh::make_cell_mask(mesh, false);
  mask[0][0] = mask[0][3] = 1; // two cells on a diagonal share a vertex
  EXPECT_EQ(mesh::connected_components(mesh, mask).count, 1);
}

} // namespace
