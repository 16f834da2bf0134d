// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <rafter/mesh/generations.hpp>
#include <tests/support/mesh_laws.hpp>

using namespace rafter;

namespace {

/// The vertices of all cells by their coordinates, rounded to a grid that is finer than any cell.
std::multiset<std::vector<long>> cells_of(const mesh::Mesh& mesh) {
  std::multiset<std::vector<long>> result;
  for (const auto& group : mesh.groups) {
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell) {
      std::vector<std::vector<long>> corners;
      for (std::size_t v = 0; v < num_vertices; ++v) {
        const auto x = mesh_laws::node(mesh, group.nodes[cell * num_vertices + v]);
        auto& corner = corners.emplace_back();
        for (int d = 0; d < mesh.gdim; ++d) corner.push_back(std::lround(x[static_cast<std::size_t>(d)] * 1e6));
      }
      std::ranges::sort(corners);
      auto& all = corners.front();
      for (std::size_t v = 1; v < corners.size(); ++v) all.insert(all.end(), corners[v].begin(), corners[v].end());
      result.insert(all);
    }
  }
  return result;
}

} // namespace

TEST(generations, of_a_refined_mesh_are_all_that_it_came_from) {
  const auto fine =
      std::make_shared<const mesh::Mesh>(mesh::make_box({.cells = {2, 1, 1}, .shape = "pyramid"}).refined(2));
  const auto meshes = mesh::generations(fine);
  ASSERT_EQ(meshes.size(), 3u);
  EXPECT_EQ(meshes[2], fine);
  EXPECT_EQ(meshes[0]->num_cells(), 12);
  EXPECT_EQ(meshes[1]->num_cells(), 12 * 10);
  EXPECT_EQ(meshes[0]->refinement, nullptr);
}

TEST(generations, give_every_cell_of_the_fine_mesh_to_one_parent) {
  for (const auto* shape : {"hexahedron", "tetrahedron", "prism", "pyramid", "mixed"}) {
    const auto fine = mesh::make_box({.cells = {4, 1, 1}, .shape = shape}).refined();
    const auto& refinement = *fine.refinement;
    std::vector<std::vector<int>> seen;
    for (const auto& group : fine.groups) seen.emplace_back(group.tags.size(), 0);
    for (std::size_t g = 0; g < refinement.coarse->groups.size(); ++g)
      for (std::int32_t parent = 0; parent < refinement.coarse->groups[g].num_cells(); ++parent) {
        const auto& division = refinement.of_cell(static_cast<int>(g), parent);
        ASSERT_EQ(division.children.size(), refinement.places[g].size());
        for (std::size_t k = 0; k < division.children.size(); ++k) {
          const auto& place = refinement.places[g][k];
          const auto& children = fine.groups[static_cast<std::size_t>(place.group)];
          const auto cell = static_cast<std::size_t>(place.cell(parent));
          EXPECT_EQ(children.shape, division.children[k].shape);
          EXPECT_EQ(children.parents[cell], parent);
          EXPECT_EQ(children.parent_groups[cell], static_cast<std::int8_t>(g));
          ++seen[static_cast<std::size_t>(place.group)][cell];
        }
      }
    for (const auto& of_group : seen) EXPECT_TRUE(std::ranges::all_of(of_group, [](int n) { return n == 1; })) << shape;
  }
}

TEST(generations, of_a_box_are_boxes_with_the_same_cells_at_the_end) {
  for (const auto* shape : {"interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism"}) {
    const auto dim = element::dimension(element::shape_from_name(shape));
    mesh::BoxOptions options{.cells = {8, 12, 4}, .size = {2, 1, 1}, .shape = shape};
    options.cells.resize(static_cast<std::size_t>(dim));
    options.size.resize(static_cast<std::size_t>(dim));
    const auto plain = mesh::make_box(options);
    options.has_coarser = true;
    const auto nested = std::make_shared<const mesh::Mesh>(mesh::make_box(options));
    EXPECT_EQ(mesh::generations(nested).size(), dim == 1 ? 4u : 3u) << shape;
    EXPECT_TRUE(cells_of(*nested) == cells_of(plain)) << shape;
    EXPECT_EQ(nested->tag_names, plain.tag_names);
  }
}

TEST(generations, end_where_a_box_has_an_odd_number_of_cells_or_children_of_other_shapes) {
  for (const auto& options : {mesh::BoxOptions{.cells = {3, 4}, .shape = "triangle", .has_coarser = true},
                              mesh::BoxOptions{.cells = {4, 4, 4}, .shape = "pyramid", .has_coarser = true},
                              mesh::BoxOptions{.cells = {8, 4, 4}, .shape = "mixed", .has_coarser = true}})
    EXPECT_EQ(mesh::make_box(options).refinement, nullptr) << options.shape;
}

TEST(generations, of_a_periodic_mesh_are_periodic_down_to_the_first_with_one_cell_across) {
  const auto torus =
      std::make_shared<const mesh::Mesh>(mesh::make_box({.cells = {8, 8}, .shape = "", .has_coarser = true})
                                             .periodic({{.from = {"xmin"}, .to = {"xmax"}}}));
  const auto meshes = mesh::generations(torus);
  ASSERT_EQ(meshes.size(), 3u); // 2, 4 and 8 cells across
  for (const auto& one : meshes) EXPECT_FALSE(one->surface().periodic_tags.empty());
}
