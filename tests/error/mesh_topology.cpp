// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <rafter/base/error.hpp>
#include <rafter/mesh/mesh.hpp>

#include <tests/support/inner_facets.hpp>

namespace {

using namespace rafter;

mesh::Mesh two_triangles() { return mesh::make_box({.cells = {1, 1}, .size = {1, 1}, .shape = "triangle"}); }

void expect_error(const mesh::Mesh& mesh, const std::string& words) {
  try {
    mesh.topology();
    ADD_FAILURE() << "no error; expected " << words;
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(TopologyErrors, VerticesOutOfRange) {
  auto mesh = test::fresh_copy(two_triangles());
  mesh.groups[0].vertices[2] = 4;
  expect_error(mesh, "vertex 4; the mesh has vertices 0 to 3");
}

TEST(TopologyErrors, RepeatedVertices) {
  auto mesh = test::fresh_copy(two_triangles());
  mesh.groups[0].vertices[2] = mesh.groups[0].vertices[1];
  expect_error(mesh, "same vertex twice");
}

TEST(TopologyErrors, DuplicateCells) {
  auto mesh = test::fresh_copy(two_triangles());
  std::copy_n(mesh.groups[0].vertices.begin(), 3, mesh.groups[0].vertices.begin() + 3);
  mesh.tagged_facets.clear();
  expect_error(mesh, "duplicate cells");
}

/// A box of 4 x 4 x 4 hexahedra, and one cell more with these vertices.
mesh::Mesh box_and(const std::vector<std::int32_t>& vertices) {
  auto mesh = mesh::make_box({.cells = {4, 4, 4}, .size = {1, 1, 1}, .shape = "hexahedron"});
  auto& group = mesh.groups[0];
  group.vertices.insert(group.vertices.end(), vertices.begin(), vertices.end());
  group.tags.push_back(1);
  for (const auto vertex : vertices) mesh.num_vertices = std::max(mesh.num_vertices, vertex + 1);
  mesh.points.resize(3 * static_cast<std::size_t>(mesh.num_vertices), 0.4);
  return mesh;
}
std::vector<std::int32_t> vertices_of_cell(std::size_t cell) {
  const auto mesh = mesh::make_box({.cells = {4, 4, 4}, .size = {1, 1, 1}, .shape = "hexahedron"});
  const auto first = mesh.groups[0].vertices.begin() + static_cast<std::ptrdiff_t>(8 * cell);
  return {first, first + 8};
}

TEST(TopologyErrors, DuplicateCellsAmongCellsWithParallelAxes) {
  const auto v = vertices_of_cell(21);
  expect_error(box_and(v), "duplicate cells");
  expect_error(box_and({v[2], v[0], v[3], v[1], v[6], v[4], v[7], v[5]}), "duplicate cells"); // the cell is turned
}

TEST(TopologyErrors, CellsOnFacetsBetweenCellsWithParallelAxes) {
  const auto v = vertices_of_cell(21);
  for (const auto& base : {std::array{v[4], v[5], v[6], v[7]}, std::array{v[6], v[4], v[7], v[5]}})
    expect_error(box_and({base[0], base[1], base[2], base[3], 125, 126, 127, 128}), "belongs to 3 cells");
}

TEST(TopologyErrors, TaggedFacetsWithoutACell) {
  auto mesh = test::fresh_copy(two_triangles());
  mesh.tagged_facets.push_back({.vertices = {0, 3, -1, -1}, .tag = 17});
  mesh.tagged_facets.push_back({.vertices = {1, 2, -1, -1}, .tag = 18});
  expect_error(mesh, "is not a facet of any cell"); // one of the two is the diagonal, the other is no facet
  mesh.tagged_facets = {{.vertices = {0, 9, -1, -1}, .tag = 17}};
  expect_error(mesh, "has vertex 9");
  mesh.tagged_facets = {{.tag = 17}};
  expect_error(mesh, "has no vertices");
}

TEST(TagErrors, NearestNameAndTheTagsThatExist) {
  const auto mesh = two_triangles();
  const auto message = [&](const std::string& tag, int dim) {
    try {
      mesh.tags_of(tag, dim);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(mesh.tags_of("xmin", 1), std::vector{1});
  EXPECT_EQ(mesh.tags_of("4", 1), std::vector{4});
  EXPECT_EQ(mesh.tags_of("1", 2), std::vector{1});
  EXPECT_NE(message("xmim", 1).find("did you mean 'xmin'"), std::string::npos) << message("xmim", 1);
  EXPECT_NE(message("9", 1).find("tags 1, 2, 3, 4"), std::string::npos) << message("9", 1);
  EXPECT_NE(message("xmin", 2).find("dimension 1"), std::string::npos) << message("xmin", 2);
  EXPECT_NE(message("99999999999", 1).find("'99999999999'"), std::string::npos);
}

} // namespace
