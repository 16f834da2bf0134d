// SPDX-License-Identifier: BSD-3-Clause
// Lengths for which nodes cannot be made one are refused with the reason and the place.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <rafter/mesh/merge.hpp>

#include <tests/support/inner_facets.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

void expect_refused(const mesh::Mesh& mesh, double distance, const std::vector<std::string>& parts) {
  try {
    (void)mesh::merged(mesh, distance);
    ADD_FAILURE() << distance << " is accepted";
  } catch (const mesh::MergeError& error) {
    for (const auto& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in: " << error.what();
  }
}

TEST(MergeErrors, LengthsThatAreNoLengths) {
  for (const double wrong : {0.0, -1e-9, std::nan(""), std::numeric_limits<double>::infinity()})
    expect_refused(box("triangle"), wrong, {"positive length"});
}

TEST(MergeErrors, LengthsOfEdges) {
  // Cells of 0.5 x 0.375.
  expect_refused(box("quadrilateral", 2), 0.375, {"the shortest edge, 0.375, which quadrilateral 0 at (0.25, 0.1875)"});
  EXPECT_EQ(mesh::merged(box("quadrilateral", 2), 0.374).num_vertices, 9);
}

/// Vertices of one cell that are far apart become one by way of those of another part.
TEST(MergeErrors, CellsThatCollapse) {
  mesh::Mesh mesh;
  mesh.tdim = mesh.gdim = 1;
  mesh.num_vertices = 4;
  mesh.points = {0, 1, 0.6, 1.7};
  mesh::CellGroup group{.shape = element::Shape::interval, .degree = 1};
  group.vertices = {0, 1, 2, 3};
  group.tags = {1, 1};
  mesh.groups.push_back(std::move(group));
  expect_refused(mesh, 0.9, {"interval 0 at (0.5) collapses", "(0) and (1)"});
}

/// The same cells twice, with nodes of their own.
TEST(MergeErrors, CellsThatAreThereTwice) {
  auto mesh = fresh_copy(box("tetrahedron"));
  mesh.tagged_facets.clear();
  auto& group = mesh.groups[0];
  const auto count = group.vertices.size(), points = mesh.points.size();
  for (std::size_t i = 0; i < count; ++i) group.vertices.push_back(group.vertices[i] + mesh.num_vertices);
  group.tags.append(group.tags.size(), 1);
  for (std::size_t i = 0; i < points; ++i) mesh.points.push_back(mesh.points[i]);
  mesh.num_vertices *= 2;
  expect_refused(mesh, 1e-9, {"duplicate cells", "tetrahedron 0"});
}

TEST(MergeErrors, CurvedFacetsWithAHoleBetweenThem) {
  const auto open = cut_open(box("quadrilateral", 2, 2), 0.5);
  expect_refused(with_lens(open, 0.01), 1e-9, {"curved edges or faces do not", "0.01 away"});
  EXPECT_NO_THROW((void)mesh::merged(with_lens(open, 0.01), 0.02)) << "nodes inside edges are as close then";
}

TEST(MergeErrors, PeriodicMeshes) {
  const auto periodic = box("quadrilateral", 3).periodic({{.from = {"xmin"}, .to = {"xmax"}}});
  expect_refused(periodic, 1e-9, {"without periodic facets"});
}

} // namespace
} // namespace rafter::test
