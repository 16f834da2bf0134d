// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>

#include <rafter/base/error.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/patches.hpp>
#include <rafter/mesh/visiting_order.hpp>

#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

mesh::Mesh box_of(std::vector<int> cells) {
  return mesh::make_box({.cells = cells, .size = std::vector<double>(cells.size(), 1.0), .shape = ""});
}

std::vector<std::int32_t> patches_of(const mesh::Mesh& mesh, int width) {
  return mesh::find_patches(mesh, 0, mesh::visiting_order(mesh, 0), width);
}

/// Checks that the cells of a patch, in their order, agree about the vertices at the places of a lattice.
void expect_lattice(const mesh::Mesh& mesh, std::span<const std::int32_t> patch, int width) {
  const auto& group = mesh.groups[0];
  const int dim = mesh.tdim;
  std::map<std::array<int, 3>, std::int32_t> vertices;
  for (std::size_t child = 0; child < patch.size(); ++child)
    for (int v = 0; v < 1 << dim; ++v) {
      std::array<int, 3> place{};
      for (int a = 0, rest = static_cast<int>(child); a < dim; ++a, rest /= width)
        place[static_cast<std::size_t>(a)] = rest % width + (v >> a & 1);
      const auto vertex = group.vertices[static_cast<std::size_t>(patch[child] * (1 << dim) + v)];
      EXPECT_EQ(vertices.try_emplace(place, vertex).first->second, vertex);
    }
  std::set<std::int32_t> different;
  for (const auto& [place, vertex] : vertices) different.insert(vertex);
  EXPECT_EQ(different.size(), static_cast<std::size_t>(std::pow(width + 1, dim)));
}

/// Checks that every patch is a lattice of cells and shares none with others, and returns their number.
std::size_t expect_patches(const mesh::Mesh& mesh, int width) {
  const auto patches = patches_of(mesh, width);
  const auto size = static_cast<std::size_t>(std::pow(width, mesh.tdim));
  EXPECT_EQ(patches.size() % size, 0U);
  EXPECT_EQ(std::set<std::int32_t>(patches.begin(), patches.end()).size(), patches.size());
  for (std::size_t i = 0; i < patches.size(); i += size)
    expect_lattice(mesh, std::span(patches).subspan(i, size), width);
  return patches.size() / size;
}

TEST(patches, of_boxes_begin_at_the_lower_end) {
  EXPECT_EQ(expect_patches(box_of({4, 6, 2}), 2), 6U);
  EXPECT_EQ(expect_patches(box_of({5, 7, 3}), 2), 6U); // the last cells along an axis that fill no patch are in none
  EXPECT_EQ(expect_patches(box_of({8, 4, 5}), 4), 2U);
  EXPECT_EQ(expect_patches(box_of({7, 9}), 3), 6U);
  EXPECT_EQ(expect_patches(box_of({1, 8, 8}), 2), 0U);
}

TEST(patches, of_refined_cells_are_their_descendants) {
  const auto coarse = scrambled(box("hexahedron"), 3); // neighbouring cells are rotated relative to each other
  EXPECT_EQ(expect_patches(coarse.refined(1), 2), static_cast<std::size_t>(coarse.num_cells()));
  EXPECT_EQ(expect_patches(coarse.refined(2), 4), static_cast<std::size_t>(coarse.num_cells()));
  EXPECT_EQ(expect_patches(scrambled(box("quadrilateral"), 5).refined(1), 2), 6U);
}

TEST(patches, of_cells_that_are_turned_against_each_other_are_lattices_all_the_same) {
  for (const unsigned seed : {1U, 2U, 3U}) expect_patches(scrambled(box("hexahedron", 4), seed), 2);
}

TEST(patches, have_each_vertex_of_their_lattice_once) {
  const auto mesh = box_of({4, 4, 4});
  for (const int width : {2, 4}) {
    const auto patches = patches_of(mesh, width);
    const auto size = static_cast<std::size_t>(mesh::cells_per_patch(width, 3));
    const auto points = mesh::patch_points(3, width);
    for (std::size_t patch = 0; patch < patches.size(); patch += size) {
      std::set<std::int32_t> expected, found;
      for (std::size_t child = 0; child < size; ++child)
        for (std::size_t corner = 0; corner < 8; ++corner)
          expected.insert(mesh.groups[0].vertices[static_cast<std::size_t>(patches[patch + child]) * 8 + corner]);
      for (const auto& point : points) {
        const auto cell = static_cast<std::size_t>(patches[patch + static_cast<std::size_t>(point.child)]);
        found.insert(mesh.groups[0].vertices[cell * 8 + static_cast<std::size_t>(point.corner)]);
      }
      EXPECT_EQ(points.size(), expected.size());
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(patches, hold_given_cells_alone) {
  const auto mesh = box_of({4, 4, 4});
  auto order = mesh::visiting_order(mesh, 0);
  std::erase(order, 0);
  const auto patches = mesh::find_patches(mesh, 0, order, 2);
  EXPECT_EQ(patches.size(), 7U * 8U);
  EXPECT_EQ(std::ranges::count(patches, 0), 0);
}

TEST(patches, are_of_quadrilaterals_and_hexahedra) {
  for (const std::string shape : {"interval", "triangle", "tetrahedron", "prism", "pyramid"})
    EXPECT_TRUE(patches_of(box(shape, 4), 2).empty());
  EXPECT_TRUE(patches_of(box_of({4, 4, 4}), 1).empty());
}

TEST(patches, close_on_themselves) { // a ring of quadrilaterals has no lower end, and here an odd number of cells
  mesh::Mesh ring;
  ring.tdim = ring.gdim = 2;
  constexpr int around = 7, across = 2;
  ring.num_vertices = around * (across + 1);
  auto& group = ring.groups.emplace_back();
  group.shape = element::Shape::quadrilateral;
  const auto vertex = [](int i, int j) { return (i % around) * (across + 1) + j; };
  for (int i = 0; i < around; ++i)
    for (int j = 0; j <= across; ++j) {
      const double angle = -2 * 3.14159265358979 * i / around;
      ring.points.insert(ring.points.end(), {(1 + j) * std::cos(angle), (1 + j) * std::sin(angle)});
    }
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      for (const int v : {vertex(i, j), vertex(i + 1, j), vertex(i, j + 1), vertex(i + 1, j + 1)})
        group.vertices.push_back(v);
      group.tags.push_back(1);
    }
  EXPECT_EQ(expect_patches(ring, 2), 3U);
}

TEST(patches, fill_batches_and_the_rest_stands_apart) {
  const auto mesh = box_of({9, 8, 8});
  const auto batches = mesh::make_cell_batches(mesh, {.cells_per_batch = 16, .patch_width = 2});
  ASSERT_EQ(batches.blocks.size(), 1U);
  EXPECT_EQ(batches.patches_per_batch(3), 2);
  const auto& block = batches.blocks[0];
  ASSERT_EQ(block.are_patches.size(), static_cast<std::size_t>(block.num_batches));
  EXPECT_EQ(std::ranges::count(block.are_patches, 1), 4 * 4 * 4 / 2);
  for (std::size_t batch = 0; batch < block.are_patches.size(); ++batch) {
    if (block.are_patches[batch] == 0) continue;
    EXPECT_EQ(batches.num_active(0, static_cast<std::int32_t>(batch)), 16);
    for (std::size_t patch = 0; patch < 2; ++patch) {
      std::vector<std::int32_t> children;
      for (std::size_t child = 0; child < 8; ++child) children.push_back(block.cells[batch * 16 + child * 2 + patch]);
      expect_lattice(mesh, children, 2);
    }
  }
}

TEST(patches, batches_that_hold_no_whole_patch_have_none) {
  const auto batches = mesh::make_cell_batches(box_of({4, 4, 4}), {.cells_per_batch = 4, .patch_width = 2});
  EXPECT_TRUE(batches.blocks[0].are_patches.empty());
  EXPECT_EQ(batches.patch_width, 1);
  for (const int width : {0, -1, 9})
    EXPECT_THROW(mesh::make_cell_batches(box_of({4, 4, 4}), {.patch_width = width}), base::InputError);
}

} // namespace
} // namespace rafter::test
