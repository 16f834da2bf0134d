// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/subdivision.hpp>
#include <tests/support/mesh_laws.hpp>

using namespace rafter;
using element::Shape;

namespace {

std::map<Shape, int> child_shapes(Shape shape) {
  std::map<Shape, int> counts;
  for (const auto& child : mesh::subdivision(shape).children) ++counts[child.shape];
  return counts;
}

/// Returns det J of the affine map from the reference cell of a child, given by reference vertices of the parent, to
/// the parent.
double relative_determinant(Shape parent, const mesh::Subdivision& split, const mesh::Child& child) {
  const int dim = element::dimension(parent);
  std::vector<double> steps(dim, -1.0);
  for (int axis = 0; axis < dim; ++axis) {
    std::vector<double> corner(dim, -1.0);
    corner[axis] = 1;
    steps.insert(steps.end(), corner.begin(), corner.end());
  }
  const auto x = mesh::map_to_parent(parent, split, child, steps);
  std::array<mesh_laws::Point, 3> columns{};
  for (int axis = 0; axis < dim; ++axis)
    for (int d = 0; d < dim; ++d) columns[axis][d] = (x[(axis + 1) * dim + d] - x[d]) / 2;
  return mesh_laws::determinant(columns, dim);
}

} // namespace

TEST(subdivision, has_the_known_children) {
  using Counts = std::map<Shape, int>;
  EXPECT_EQ(child_shapes(Shape::interval), (Counts{{Shape::interval, 2}}));
  EXPECT_EQ(child_shapes(Shape::triangle), (Counts{{Shape::triangle, 4}}));
  EXPECT_EQ(child_shapes(Shape::quadrilateral), (Counts{{Shape::quadrilateral, 4}}));
  EXPECT_EQ(child_shapes(Shape::tetrahedron), (Counts{{Shape::tetrahedron, 8}}));
  EXPECT_EQ(child_shapes(Shape::hexahedron), (Counts{{Shape::hexahedron, 8}}));
  EXPECT_EQ(child_shapes(Shape::prism), (Counts{{Shape::prism, 8}}));
  EXPECT_EQ(child_shapes(Shape::pyramid), (Counts{{Shape::tetrahedron, 4}, {Shape::pyramid, 6}}));
}

TEST(subdivision, children_fill_the_reference_cell_and_keep_its_orientation) {
  for (const auto shape : element::all_cell_shapes)
    for (int diagonal = 0; diagonal < (shape == Shape::tetrahedron ? 3 : 1); ++diagonal) {
      const auto& split = mesh::subdivision(shape, diagonal);
      double sum = 0;
      for (const auto& child : split.children) {
        const double det = relative_determinant(shape, split, child);
        EXPECT_GT(det, 0.1) << element::name(shape);
        sum += det * element::reference_volume(child.shape);
      }
      EXPECT_NEAR(sum, element::reference_volume(shape), 1e-14) << element::name(shape);
    }
}

TEST(refined, zero_times_is_the_mesh_itself) {
  const auto box = mesh::make_box({.cells = {2, 2}, .shape = "triangle"});
  const auto same = box.refined(0);
  EXPECT_EQ(same.points, box.points);
  EXPECT_EQ(same.groups[0].vertices, box.groups[0].vertices);
  EXPECT_TRUE(same.groups[0].parents.empty());
}

TEST(refined, hexahedral_box_is_the_box_with_twice_the_cells) {
  const auto fine = mesh::make_box({.cells = {2, 1, 3}, .shape = "hexahedron"}).refined();
  const auto direct = mesh::make_box({.cells = {4, 2, 6}, .shape = "hexahedron"});
  ASSERT_EQ(fine.num_vertices, direct.num_vertices);
  EXPECT_EQ(fine.num_cells(), direct.num_cells());
  auto rows = [](const mesh::Mesh& m) {
    std::vector<mesh_laws::Point> points;
    for (std::int32_t v = 0; v < m.num_vertices; ++v) points.push_back(mesh_laws::node(m, v));
    std::sort(points.begin(), points.end());
    return points;
  };
  const auto a = rows(fine), b = rows(direct);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(a[i][d], b[i][d], 1e-15);
}

TEST(refined, pyramids_add_a_group_of_tetrahedra_or_join_the_one_there_is) {
  const auto pyramids = mesh::make_box({.cells = {1, 1, 1}, .shape = "pyramid"}).refined();
  ASSERT_EQ(pyramids.groups.size(), 2u);
  EXPECT_EQ(pyramids.groups[0].shape, Shape::pyramid);
  EXPECT_EQ(pyramids.groups[0].num_cells(), 36);
  EXPECT_EQ(pyramids.groups[1].shape, Shape::tetrahedron);
  EXPECT_EQ(pyramids.groups[1].num_cells(), 24);
  const auto mixed = mesh::make_box({.cells = {4, 1, 1}, .shape = "mixed"});
  const auto fine = mixed.refined();
  ASSERT_EQ(fine.groups.size(), mixed.groups.size());
  for (const auto& group : fine.groups)
    if (group.shape == Shape::tetrahedron) {
      EXPECT_EQ(group.num_cells(), 8 * 8 + 4 * 5);
    }
}

TEST(refined, thin_octahedra_are_cut_along_their_shortest_diagonal) {
  // A flat tetrahedron spans the diagonals of a square: edges 0-1 and 2-3 are long, and their centres are close.
  mesh::Mesh sliver;
  sliver.num_vertices = 4;
  sliver.points = {-1, 0, 0, 1, 0, 0, 0, -1, 0.2, 0, 1, 0.2};
  sliver.groups.emplace_back();
  sliver.groups[0].shape = Shape::tetrahedron;
  sliver.groups[0].vertices = sliver.groups[0].nodes = {0, 1, 3, 2};
  sliver.groups[0].tags = {1};
  ASSERT_GT(mesh_laws::smallest_det_j(sliver), 0);
  const auto fine = sliver.refined();
  // The only new edge in the interior is the diagonal between the centres (0,0,0) and (0,0,0.2) of edges 01 and 23.
  const auto& cells = fine.groups[0];
  int found = 0;
  for (std::int32_t c = 0; c < cells.num_cells(); ++c) {
    int ends = 0;
    for (int v = 0; v < 4; ++v) {
      const auto x = mesh_laws::node(fine, cells.vertices[c * 4 + v]);
      ends += x[0] == 0 && x[1] == 0;
    }
    found += ends == 2;
  }
  EXPECT_EQ(found, 4);
}

TEST(refined, cell_tags_and_interior_facet_tags_are_inherited) {
  auto box = mesh::make_box({.cells = {2, 1, 1}, .shape = "hexahedron"});
  box.groups[0].tags = {7, 9};
  // The face between the two cubes is given in cyclic instead of lexicographic order.
  box.tagged_facets.push_back({{1, 4, 10, 7}, 42});
  const auto fine = box.refined(2);
  for (std::int32_t c = 0; c < fine.num_cells(); ++c)
    EXPECT_EQ(fine.groups[0].tags[c], fine.groups[0].parents[c] == 0 ? 7 : 9);
  int count = 0;
  for (const auto& facet : fine.tagged_facets) {
    if (facet.tag != 42) continue;
    ++count;
    for (const auto v : facet.vertices) EXPECT_EQ(mesh_laws::node(fine, v)[0], 0.5);
  }
  EXPECT_EQ(count, 16);
}

TEST(refined, periodic_meshes_keep_their_topology_and_their_geometry) {
  // Three squares in a row have the same edge at both ends: corner 3 is vertex 0 again, and corner 7 is corner 4.
  auto ring = mesh::make_box({.cells = {3, 1}, .size = {3, 1}, .shape = "quadrilateral"});
  ring.tagged_facets.clear();
  constexpr std::array<std::int32_t, 8> merged{0, 1, 2, 0, 3, 4, 5, 3};
  for (auto& v : ring.groups[0].vertices) v = merged[v];
  ring.num_vertices = 6;
  const auto fine = ring.refined();
  EXPECT_EQ(fine.num_vertices, 6 * 3);
  EXPECT_EQ(mesh_laws::euler_characteristic(fine), 0);
  EXPECT_NEAR(mesh_laws::volume(fine), 3.0, 1e-14);
  EXPECT_GT(mesh_laws::smallest_det_j(fine), 0.05);
}
