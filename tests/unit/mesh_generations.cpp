// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
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
        const auto x = mesh_laws::node(mesh, group.nodes()[cell * num_vertices + v]);
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

/// The vertices of all exterior facets by their coordinates, as above, behind the tag.
std::multiset<std::vector<long>> tagged_facets_of(const mesh::Mesh& mesh) {
  std::multiset<std::vector<long>> result;
  const auto& surface = mesh.surface();
  for (std::size_t i = 0; i < surface.exterior_facets.size(); ++i) {
    const auto& facet = surface.exterior_facets[i];
    const auto& group = mesh.groups[static_cast<std::size_t>(facet.group)];
    const auto num_nodes = group.nodes().size() / group.tags.size();
    std::vector<std::vector<long>> corners;
    for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, facet.facet)) {
      const auto x = mesh_laws::node(
          mesh, group.nodes()[static_cast<std::size_t>(facet.cell) * num_nodes + static_cast<std::size_t>(v)]);
      auto& corner = corners.emplace_back();
      for (int d = 0; d < mesh.gdim; ++d) corner.push_back(std::lround(x[static_cast<std::size_t>(d)] * 1e6));
    }
    std::ranges::sort(corners);
    std::vector<long> all{surface.exterior_tags[i]};
    for (const auto& corner : corners) all.insert(all.end(), corner.begin(), corner.end());
    result.insert(std::move(all));
  }
  return result;
}

} // namespace

TEST(generations, of_a_refined_mesh_are_all_that_it_came_from) {
  const auto coarsest = std::make_shared<const mesh::Mesh>(mesh::make_box({.cells = {2, 1, 1}, .shape = "pyramid"}));
  const auto generations = mesh::refined_generations(coarsest, 2);
  ASSERT_EQ(generations.meshes.size(), 3u);
  EXPECT_EQ(generations.meshes[0], coarsest);
  EXPECT_EQ(generations.meshes[1], generations.refinements[1].coarse);
  EXPECT_EQ(generations.finest()->num_cells(), coarsest->refined(2).num_cells());
  EXPECT_EQ(generations.finest()->points, coarsest->refined(2).points);
}

TEST(generations, give_every_cell_of_the_fine_mesh_to_one_parent) {
  for (const auto* shape : {"hexahedron", "tetrahedron", "prism", "pyramid", "mixed"}) {
    const auto generations = mesh::refined_generations(
        std::make_shared<const mesh::Mesh>(mesh::make_box({.cells = {4, 1, 1}, .shape = shape})), 1);
    const auto& fine = *generations.finest();
    const auto& refinement = generations.refinements[0];
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
          const mesh::Parents::Cell expected{static_cast<std::int32_t>(g), parent};
          EXPECT_EQ(children.parents.of(place.cell(parent)), expected);
          ++seen[static_cast<std::size_t>(place.group)][cell];
        }
      }
    for (const auto& of_group : seen) EXPECT_TRUE(std::ranges::all_of(of_group, [](int n) { return n == 1; })) << shape;
  }
}

TEST(generations, of_a_box_end_with_its_cells) {
  for (const auto* shape : {"interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism"}) {
    const auto dim = element::dimension(element::shape_from_name(shape));
    mesh::BoxOptions options{.cells = {8, 12, 4}, .size = {2, 1, 1}, .shape = shape};
    options.cells.resize(static_cast<std::size_t>(dim));
    options.size.resize(static_cast<std::size_t>(dim));
    const auto box = mesh::make_box(options);
    const auto generations = mesh::box_generations(options);
    // 12 cells have the shortest edges; where these are halved alone, 3 of them end beside halved neighbours.
    const bool is_halved_along_all = shape == std::string_view("triangle") || shape == std::string_view("tetrahedron");
    EXPECT_EQ(generations.meshes.size(), is_halved_along_all ? 3u : 4u) << shape;
    EXPECT_TRUE(cells_of(*generations.finest()) == cells_of(box)) << shape;
    EXPECT_EQ(generations.finest()->physical_groups, box.physical_groups);
    EXPECT_TRUE(tagged_facets_of(*generations.finest()) == tagged_facets_of(box)) << shape;
  }
}

TEST(generations, of_a_stretched_box_lose_the_stretch_first) {
  const auto cells = [](const mesh::BoxOptions& options, int times = 0) {
    std::vector<std::int64_t> result;
    for (const auto& mesh : mesh::box_generations(options, times).meshes) result.push_back(mesh->num_cells());
    return result;
  };
  using Counts = std::vector<std::int64_t>;
  const auto box = [](std::vector<double> size, const char* shape = "hexahedron") {
    return mesh::BoxOptions{.cells = {4, 4, 4}, .size = std::move(size), .shape = shape};
  };
  EXPECT_EQ(cells(box({1, 1, 1})), (Counts{1, 8, 64}));
  EXPECT_EQ(cells(box({1.9, 1, 1})), (Counts{1, 8, 64}));
  EXPECT_EQ(cells(box({2, 1, 1})), (Counts{1, 2, 16, 64})) << "2 x 2 x 2 cells would have edges 1, 1/2, 1/2";
  EXPECT_EQ(cells(box({100, 1, 1})), (Counts{4, 16, 64}));
  EXPECT_EQ(cells(box({100, 100, 1})), (Counts{16, 32, 64}));
  EXPECT_EQ(cells(box({4, 2, 1})), (Counts{2, 8, 32, 64}))
      << "z alone, then y and z, then x and y beside one cell along z";
  EXPECT_EQ(cells(box({100, 1, 1}, "tetrahedron")), (Counts{6, 48, 384})) << "along all axes";
  EXPECT_EQ(cells(box({1, 1, 100}, "prism")), (Counts{8, 32, 128})) << "triangles";
  EXPECT_EQ(cells(box({100, 1, 1}, "prism")), (Counts{2, 16, 128})) << "the triangles and z have edges of length 1/4";
  EXPECT_EQ(cells(box({100, 100, 1}, "prism")), (Counts{32, 64, 128})) << "z alone";
  EXPECT_EQ(cells({.cells = {3, 2, 1}, .size = {100, 1, 0.5}, .shape = ""}, 1), (Counts{6, 12, 48}))
      << "y and z, then y";
  EXPECT_EQ(cells({.cells = {8, 8, 2}, .size = {8, 8, 1}, .shape = "hexahedron"}), (Counts{16, 64, 128}))
      << "z, then x and y beside one cell along z, whose edges are short then";
  EXPECT_EQ(cells({.cells = {6, 6, 8}, .size = {6, 6, 4}, .shape = "prism"}), (Counts{18, 36, 288, 576}))
      << "z, all, then z again";
  EXPECT_EQ(mesh::box_generations(box({100, 1, 1}), 0, mesh::BoxCoarsening::all_axes).meshes[0]->num_cells(), 1);
}

TEST(generations, of_a_box_begin_with_the_axes_that_are_given) {
  const auto axes = [](std::vector<double> size, const char* shape, int cells = 4) {
    return mesh::num_halved_axes({.cells = {cells, cells, cells}, .size = std::move(size), .shape = shape});
  };
  EXPECT_EQ(axes({1, 1, 1}, "hexahedron"), 3);
  EXPECT_EQ(axes({100, 1, 1}, "hexahedron"), 2);
  EXPECT_EQ(axes({100, 100, 1}, "hexahedron"), 1);
  EXPECT_EQ(axes({100, 100, 1}, "tetrahedron"), 3);
  EXPECT_EQ(axes({1, 1, 1}, "hexahedron", 3), 0) << "three cells cannot be halved";
  EXPECT_EQ(axes({1, 1, 1}, "pyramid"), 0);
}

TEST(generations, of_a_stretched_box_end_with_its_cells) {
  for (const auto* shape : {"quadrilateral", "hexahedron", "prism"}) {
    const auto dim = static_cast<std::size_t>(element::dimension(element::shape_from_name(shape)));
    mesh::BoxOptions options{.cells = {3, 6, 8}, .size = {10, 1, 0.1}, .shape = shape};
    options.cells.resize(dim);
    options.size.resize(dim);
    const auto coarsened = mesh::box_generations(options);
    EXPECT_GT(mesh::num_halved_axes(options), 0);
    EXPECT_EQ(mesh::num_halved_axes(options, mesh::BoxCoarsening::all_axes), 0);
    EXPECT_TRUE(coarsened.refinements.back().is_partial()) << shape;
    const auto box = mesh::make_box(options);
    EXPECT_TRUE(cells_of(*coarsened.finest()) == cells_of(box)) << shape;
    EXPECT_TRUE(tagged_facets_of(*coarsened.finest()) == tagged_facets_of(box)) << shape;
    EXPECT_EQ(coarsened.finest()->physical_groups, box.physical_groups);
    auto twice = options;
    for (auto& n : twice.cells) n *= 2;
    EXPECT_EQ(mesh::box_generations(options, 1).finest()->points, mesh::box_generations(twice).finest()->points);
  }
}

TEST(generations, are_one_where_a_box_has_an_odd_number_of_cells_or_children_of_other_shapes) {
  for (const auto& options : {mesh::BoxOptions{.cells = {3, 4}, .shape = "triangle"},
                              mesh::BoxOptions{.cells = {4, 4, 4}, .shape = "pyramid"},
                              mesh::BoxOptions{.cells = {8, 4, 4}, .shape = "mixed"}})
    EXPECT_EQ(mesh::box_generations(options).meshes.size(), 1u) << options.shape;
}

TEST(generations, of_a_periodic_mesh_tell_what_is_wrong_with_the_pairs) {
  const auto boxes = mesh::box_generations({.cells = {8, 8}, .shape = ""});
  EXPECT_THROW(mesh::periodic_generations(boxes, {{.from = {"xmin"}, .to = {"left"}}}), base::InputError);
  auto spoilt = boxes; // the coarser mesh has no tag xmax, which is no reason to leave it out
  auto coarse = *spoilt.refinements.back().coarse;
  std::erase_if(coarse.physical_groups.names, [](const auto& group) { return group.name == "xmax"; });
  spoilt.refinements.back().coarse = std::make_shared<const mesh::Mesh>(coarse);
  EXPECT_THROW(mesh::periodic_generations(spoilt, {{.from = {"xmin"}, .to = {"xmax"}}}), base::InputError);
}

TEST(generations, are_periodic_down_to_the_last_with_several_cells_across) {
  const auto torus = mesh::periodic_generations(mesh::box_generations({.cells = {8, 8}, .shape = ""}),
                                                {{.from = {"xmin"}, .to = {"xmax"}}});
  ASSERT_EQ(torus.meshes.size(), 3u); // 2, 4 and 8 cells across
  for (std::size_t l = 0; l < 3; ++l) EXPECT_FALSE(torus.meshes[l]->surface().periodic_tags().empty());
  for (std::size_t l = 0; l < 2; ++l) EXPECT_EQ(torus.refinements[l].coarse, torus.meshes[l]);
  EXPECT_THROW(mesh::periodic_generations(mesh::box_generations({.cells = {1, 8}, .shape = ""}),
                                          {{.from = {"xmin"}, .to = {"xmax"}}}),
               base::InputError);
}
