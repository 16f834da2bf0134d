// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <rafter/base/parallel.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <tests/support/space_meshes.hpp>

/// Meshes, orders of cells and numberings do not depend on the number of threads that made them.
namespace rafter {
namespace {

class SetUp : public testing::TestWithParam<std::string> {
protected:
  /// Large enough for several parts of every loop.
  mesh::Mesh make_mesh() const {
    const int dim = test::box_dimension(GetParam());
    const int n = dim == 1 ? 40000 : dim == 2 ? 150 : GetParam() == "hexahedron" ? 28 : 16;
    return test::scrambled(
        mesh::make_box({.cells = std::vector<int>(static_cast<std::size_t>(dim), n), .shape = GetParam()}), 5);
  }
};

TEST_P(SetUp, OfTopologyIsTheSameOnAnyNumberOfThreads) {
  const auto on_threads = [&](int threads) {
    const base::ThreadLimit limit(threads);
    auto mesh = make_mesh();
    (void)mesh.topology();
    return mesh;
  };
  const auto one = on_threads(1), several = on_threads(3);
  EXPECT_EQ(one.points, several.points);
  const auto &a = one.topology(), &b = several.topology();
  EXPECT_EQ(a.exterior_facets, b.exterior_facets);
  EXPECT_EQ(a.exterior_tags, b.exterior_tags);
  EXPECT_EQ(a.num_edges, b.num_edges);
  EXPECT_EQ(a.num_faces, b.num_faces);
  for (std::size_t g = 0; g < a.groups.size(); ++g) {
    EXPECT_EQ(one.groups[g].vertices, several.groups[g].vertices);
    EXPECT_EQ(a.groups[g].edges, b.groups[g].edges);
    EXPECT_EQ(a.groups[g].faces, b.groups[g].faces);
    EXPECT_EQ(a.groups[g].edge_orientations, b.groups[g].edge_orientations);
    EXPECT_EQ(a.groups[g].face_orientations, b.groups[g].face_orientations);
  }
  const auto report = [&](int threads) {
    const base::ThreadLimit limit(threads);
    return mesh::check_validity(one);
  };
  EXPECT_EQ(report(1).volume, report(3).volume);
  EXPECT_EQ(report(1).worst_cell, report(3).worst_cell);
}

/// Compares the spaces that one thread and several make of the same mesh.
void expect_equal_spaces(const mesh::Mesh& mesh, int degree, int components, const mesh::BatchOptions& options) {
  const auto on_threads = [&](int threads) {
    const base::ThreadLimit limit(threads);
    return test::make_space(mesh, degree, components, options);
  };
  const auto one = on_threads(1), several = on_threads(3);
  ASSERT_EQ(one->num_dofs(), several->num_dofs());
  for (std::size_t b = 0; b < one->batches().blocks.size(); ++b) {
    EXPECT_EQ(one->batches().blocks[b].cells, several->batches().blocks[b].cells);
    EXPECT_EQ(one->batches().blocks[b].are_patches, several->batches().blocks[b].are_patches);
    const auto &x = one->block(static_cast<int>(b)), &y = several->block(static_cast<int>(b));
    EXPECT_TRUE(std::ranges::equal(x.run_starts, y.run_starts));
    EXPECT_TRUE(std::ranges::equal(x.run_permutations, y.run_permutations));
    EXPECT_EQ(x.interior_starts, y.interior_starts);
    EXPECT_EQ(x.first_touch, y.first_touch);
    EXPECT_EQ(x.pattern_numbers, y.pattern_numbers);
    EXPECT_EQ(x.patterns, y.patterns);
    EXPECT_EQ(x.patch_numbers.empty(), options.patch_width == 1);
    EXPECT_TRUE(std::ranges::equal(x.patch_starts, y.patch_starts));
    EXPECT_EQ(x.patch_numbers, y.patch_numbers);
    EXPECT_EQ(x.patch_patterns, y.patch_patterns);
  }
}

TEST_P(SetUp, OfSpacesIsTheSameOnAnyNumberOfThreads) {
  const auto mesh = make_mesh();
  for (const int degree : {1, 2, 3})
    expect_equal_spaces(mesh, degree, degree == 1 ? 3 : 0, {.has_orientation_buckets = degree == 3});
}

TEST(Patches, AreNumberedTheSameOnAnyNumberOfThreads) {
  // Neighbouring cells of the coarse mesh are rotated, so that some patches see their runs in another order.
  const auto turned = test::scrambled(test::box("hexahedron", 8), 5).refined(2);
  for (const auto& mesh : {turned, mesh::make_box({.cells = {30, 30, 30}, .shape = "hexahedron"})})
    for (const int degree : {1, 2})
      expect_equal_spaces(mesh, degree, degree == 1 ? 2 : 0,
                          {.cells_per_batch = 16, .batches_per_chunk = 8, .patch_width = 2});
}

INSTANTIATE_TEST_SUITE_P(Shapes, SetUp,
                         testing::Values("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism",
                                         "pyramid", "mixed"),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter
