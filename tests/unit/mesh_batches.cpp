// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/colouring.hpp>
#include <rafter/mesh/hilbert.hpp>
#include <rafter/mesh/visiting_order.hpp>
#include <tests/support/mesh_laws.hpp>
#include <tests/support/space_meshes.hpp>

using namespace rafter;
using element::Shape;
using mesh::MapKind;

namespace {

/// Returns the number of cells of each map kind.
using Kinds = std::array<int, mesh::map_kinds_in_order.size()>;
Kinds kinds(const mesh::Mesh& mesh, const mesh::BatchOptions& options = {}) {
  Kinds counts{};
  for (const auto& block : mesh::make_cell_batches(mesh, options).blocks)
    counts[static_cast<std::size_t>(block.map)] += block.num_cells;
  return counts;
}

/// Returns the vertices of the cells of a full batch.
std::set<std::int32_t> batch_vertices(const mesh::Mesh& mesh, const mesh::CellBlock& block, int batch,
                                      int cells_per_batch) {
  const auto& group = mesh.groups[block.group];
  const int n = element::num_vertices(group.shape);
  std::set<std::int32_t> vertices;
  for (int cell = 0; cell < cells_per_batch; ++cell)
    for (int v = 0; v < n; ++v) vertices.insert(group.vertices[block.cells[batch * cells_per_batch + cell] * n + v]);
  return vertices;
}

} // namespace

TEST(hilbert, is_a_bijection_and_steps_to_neighbours) {
  constexpr int bits = 4;
  for (const int dim : {1, 2, 3}) {
    std::vector<std::array<int, 3>> at(std::size_t{1} << (dim * bits), {-1, -1, -1});
    for (std::uint32_t i = 0; i < at.size(); ++i) {
      const std::array<std::uint32_t, 3> p{i & 15, i >> 4 & 15, i >> 8 & 15};
      auto& place = at.at(mesh::hilbert_index(std::span(p).first(dim), bits));
      EXPECT_EQ(place[0], -1);
      for (int d = 0; d < 3; ++d) place[d] = static_cast<int>(p[d]);
    }
    for (std::size_t i = 1; i < at.size(); ++i) {
      int distance = 0;
      for (int d = 0; d < 3; ++d) distance += std::abs(at[i][d] - at[i - 1][d]);
      EXPECT_EQ(distance, 1);
    }
  }
}

TEST(colouring, of_a_cycle_and_of_a_clique) {
  // The sets {i, i+1 mod n} are a cycle; with one more member that all share they are a clique.
  auto cycle = [](std::int32_t n) {
    mesh::IntersectionGraph sets(n);
    for (std::int32_t i = 0; i < n; ++i) {
      sets.begin_set();
      for (const auto member : {i, (i + 1) % n, i}) sets.add(member);
    }
    return std::move(sets).finish();
  };
  auto count = [](const std::vector<std::int32_t>& colours) {
    return *std::max_element(colours.begin(), colours.end()) + 1;
  };
  EXPECT_EQ(cycle(8).neighbours(0).size(), 2u);
  EXPECT_EQ(count(mesh::coloured(cycle(8), std::vector<std::int32_t>(8, 1))), 2);
  EXPECT_EQ(count(mesh::coloured(cycle(9), std::vector<std::int32_t>(9, 1))), 3);
  mesh::IntersectionGraph sets(1);
  for (int i = 0; i < 100; ++i) {
    sets.begin_set();
    sets.add(0);
  }
  const auto clique = std::move(sets).finish();
  EXPECT_EQ(count(mesh::coloured(clique, std::vector<std::int32_t>(100, 1))), 100);
}

TEST(cell_batches, of_a_structured_mesh_are_clusters_of_2_by_2_by_2) {
  // Eight cubes have 27 vertices only as a cluster of 2 x 2 x 2; other sets have more.
  for (const int n : {8, 12}) {
    const auto box = mesh::make_box({.cells = {n, n, n}, .size = {3, 1, 0.2}, .shape = "hexahedron"});
    const auto batches = mesh::make_cell_batches(box);
    for (int b = 0; b < batches.blocks[0].num_batches; ++b)
      EXPECT_EQ(batch_vertices(box, batches.blocks[0], b, 8).size(), 27u) << n;
  }
  const auto square = mesh::make_box({.cells = {6, 10}, .shape = "quadrilateral"});
  const auto batches = mesh::make_cell_batches(square, {.cells_per_batch = 4});
  for (int b = 0; b < batches.blocks[0].num_batches; ++b)
    EXPECT_EQ(batch_vertices(square, batches.blocks[0], b, 4).size(), 9u);
}

TEST(cell_batches, hold_the_children_of_one_parent) {
  // The Hilbert curve alone would not keep the children of a cell together on an irregular coarse mesh.
  for (const auto* shape : {"hexahedron", "tetrahedron", "prism"}) {
    auto coarse = mesh::make_box({.cells = {3, 5, 2}, .shape = shape});
    mesh_laws::bend(coarse);
    const auto fine = coarse.refined(2);
    const auto batches = mesh::make_cell_batches(fine, {.has_orientation_buckets = false});
    const auto& block = batches.blocks[0];
    const auto& group = fine.groups[0];
    for (std::size_t i = 0; i < block.cells.size(); ++i) {
      // Refinement numbers the children of a cell consecutively.
      EXPECT_EQ(block.cells[i] / 8, block.cells[i / 8 * 8] / 8) << shape;
      EXPECT_EQ(group.parents.of(block.cells[i]), group.parents.of(block.cells[i / 8 * 8])) << shape;
    }
  }
}

namespace {

/// Returns whether the global vertex numbers of all cells of a batch ascend in the same order.
bool are_alike(const mesh::CellGroup& group, std::span<const std::int32_t> cells) {
  const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
  const auto vertex = [&](std::int32_t cell, std::size_t v) {
    return group.vertices[static_cast<std::size_t>(cell) * n + v];
  };
  for (const auto cell : cells)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if ((vertex(cell, j) < vertex(cell, i)) != (vertex(cells[0], j) < vertex(cells[0], i))) return false;
  return true;
}

} // namespace

TEST(cell_batches, of_simplices_are_alike) {
  for (const auto* shape : {"triangle", "tetrahedron"})
    for (const bool is_scrambled : {false, true}) {
      auto box =
          mesh::make_box(std::string(shape) == "triangle" ? mesh::BoxOptions{.cells = {60, 60}, .shape = shape}
                                                          : mesh::BoxOptions{.cells = {12, 12, 12}, .shape = shape});
      if (is_scrambled) box = test::scrambled(box, 3);
      const auto batches = mesh::make_cell_batches(box);
      const auto& block = batches.blocks[0];
      int alike = 0;
      for (std::int32_t batch = 0; batch < block.num_batches; ++batch)
        alike +=
            are_alike(box.groups[0], std::span(block.cells).subspan(static_cast<std::size_t>(batch) * 8, 8)) ? 1 : 0;
      // Each order of vertices leaves at most one incomplete batch at the end if all orders occur all the time.
      EXPECT_GE(alike, is_scrambled ? 0.9 * block.num_batches : block.num_batches - 6) << shape << is_scrambled;
    }
}

TEST(cell_batches, of_simplices_stay_where_their_cells_are) {
  const auto box = test::scrambled(mesh::make_box({.cells = {12, 12, 12}, .shape = "tetrahedron"}), 3);
  const auto batches = mesh::make_cell_batches(box);
  const auto order = mesh::visiting_order(box, 0);
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
  const auto& cells = batches.blocks[0].cells;
  for (std::size_t i = 0; i + 8 < order.size(); ++i) {
    const auto before = static_cast<double>(place[static_cast<std::size_t>(cells[i])]);
    EXPECT_LE(std::abs(before - static_cast<double>(i)), 2 * 64 * 8) << i;
  }
}

TEST(cell_batches, padding_repeats_the_last_cell) {
  const auto line = mesh::make_box({.cells = {11}, .shape = "interval"});
  const auto batches = mesh::make_cell_batches(line);
  const auto& block = batches.blocks[0];
  EXPECT_EQ(block.num_batches, 2);
  EXPECT_EQ(batches.num_active(0, 0), 8);
  EXPECT_EQ(batches.num_active(0, 1), 3);
  EXPECT_EQ(block.cells, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10, 10}));
}

TEST(map_kind, of_boxes_is_the_simplest_of_every_shape_and_degree) {
  for (const auto& box_case : mesh_laws::box_cases())
    for (const int degree : {1, 2, 4}) {
      const auto box = mesh_laws::make_case(box_case, 2, degree);
      int num_cartesian = 0;
      for (const auto& group : box.groups)
        if (box.tdim > 1 && element::is_tensor(group.shape)) num_cartesian += group.num_cells();
      const int num_affine = static_cast<int>(box.num_cells()) - num_cartesian;
      EXPECT_EQ(kinds(box), (Kinds{num_cartesian, num_affine, 0, 0})) << box_case.shape << degree;
    }
}

TEST(map_kind, of_bent_meshes_follows_the_shape) {
  auto bent_kinds = [](const mesh_laws::BoxCase& box_case, int degree) {
    auto box = mesh_laws::make_case(box_case, 2, degree);
    mesh_laws::bend(box);
    const auto counts = kinds(box);
    const int all = static_cast<int>(box.num_cells());
    for (const auto kind : mesh::map_kinds_in_order)
      if (counts[static_cast<std::size_t>(kind)] == all) return kind;
    ADD_FAILURE() << "several kinds";
    return MapKind::affine;
  };
  EXPECT_EQ(bent_kinds({1, "interval"}, 1), MapKind::affine);
  EXPECT_EQ(bent_kinds({2, "triangle"}, 1), MapKind::affine);
  EXPECT_EQ(bent_kinds({3, "tetrahedron"}, 1), MapKind::affine);
  EXPECT_EQ(bent_kinds({2, "quadrilateral"}, 1), MapKind::multilinear);
  EXPECT_EQ(bent_kinds({3, "hexahedron"}, 1), MapKind::multilinear);
  EXPECT_EQ(bent_kinds({3, "prism"}, 1), MapKind::isoparametric);
  EXPECT_EQ(bent_kinds({3, "pyramid"}, 1), MapKind::isoparametric);
  for (const auto& box_case : mesh_laws::box_cases())
    if (box_case.shape != "mixed") {
      EXPECT_EQ(bent_kinds(box_case, 2), MapKind::isoparametric) << box_case.shape;
    }
}

TEST(map_kind, is_found_cell_by_cell_and_by_the_tolerance) {
  auto box = mesh::make_box({.cells = {3, 1}, .shape = "quadrilateral"});
  box.points[0] -= 1e-6; // moves a corner of cell 0
  EXPECT_EQ(kinds(box), (Kinds{2, 0, 1, 0}));
  EXPECT_EQ(kinds(box, {.affine_tolerance = 1e-5}), (Kinds{3, 0, 0, 0}));
  auto curved = mesh::make_box({.cells = {3, 1}, .shape = "quadrilateral", .degree = 2});
  curved.points[curved.groups[0].nodes()[4] * 2] += 1e-6; // moves the node in the middle of cell 0
  EXPECT_EQ(kinds(curved), (Kinds{2, 0, 0, 1}));
}

TEST(map_kind, of_a_straight_quadrilateral_of_high_degree_is_multilinear) {
  auto box = mesh::make_box({.cells = {2, 2}, .shape = "quadrilateral", .degree = 3});
  for (std::size_t i = 0; i < box.points.size(); i += 2) box.points[i] += 0.3 * box.points[i] * box.points[i + 1];
  EXPECT_EQ(kinds(box), (Kinds{0, 0, 4, 0}));
}

TEST(map_kind, survives_a_mesh_far_from_the_origin) {
  auto box = mesh::make_box({.cells = {4, 4, 4}, .size = {1e-3, 1e-3, 1e-3}, .shape = "hexahedron"});
  for (auto& x : box.points) x += 1000.1;
  EXPECT_EQ(kinds(box), (Kinds{64, 0, 0, 0}));
}

TEST(map_kind, of_boxes_off_their_axes_is_affine) {
  auto sheared = mesh::make_box({.cells = {2, 3, 2}, .shape = "hexahedron"});
  for (std::size_t i = 0; i < sheared.points.size(); i += 3) sheared.points[i] += 1e-9 * sheared.points[i + 2];
  EXPECT_EQ(kinds(sheared), (Kinds{0, 12, 0, 0}));
  auto turned = mesh::make_box({.cells = {2, 3}, .shape = "quadrilateral"});
  for (std::size_t i = 0; i < turned.points.size(); i += 2) { // rotates by a right angle, which exchanges the axes
    const double x = turned.points[i];
    turned.points[i] = -turned.points[i + 1];
    turned.points[i + 1] = x;
  }
  EXPECT_EQ(kinds(turned), (Kinds{0, 6, 0, 0}));
  auto reversed = mesh::make_box({.cells = {2, 3}, .shape = "quadrilateral"});
  for (double& x : reversed.points) x = -x;
  EXPECT_EQ(kinds(reversed), (Kinds{6, 0, 0, 0}));
}

TEST(map_kind, of_a_flat_cell_is_found_by_its_height) {
  auto flat = mesh::make_box({.cells = {1, 1}, .size = {1, 1e-8}, .shape = "quadrilateral"});
  flat.points[3] += 1e-13, flat.points[7] += 1e-13; // moves the right edge by 1e-5 of the height
  EXPECT_EQ(kinds(flat), (Kinds{0, 1, 0, 0}));
}

TEST(map_kind, has_names) {
  EXPECT_EQ(mesh::name(MapKind::cartesian), "cartesian");
  EXPECT_EQ(mesh::name(MapKind::affine), "affine");
  EXPECT_EQ(mesh::name(MapKind::multilinear), "multilinear");
  EXPECT_EQ(mesh::name(MapKind::isoparametric), "isoparametric");
}

TEST(facet_batches, of_one_tag_are_its_facets) {
  const auto box = mesh::make_box({.cells = {4, 3, 5}, .shape = "hexahedron"});
  const std::array<std::int32_t, 1> xmax{2};
  const auto batches = mesh::make_facet_batches(box, xmax);
  ASSERT_EQ(batches.blocks.size(), 1u);
  const auto& block = batches.blocks[0];
  EXPECT_EQ(block.num_facets, 15);
  EXPECT_EQ(block.map, MapKind::cartesian);
  EXPECT_EQ(block.local_facets, (std::vector{0, 1, 2, 3, 4, 5})) << "whichever of them the mesh has";
  EXPECT_EQ(block.facets, (std::vector{3, 3}));
  EXPECT_EQ(block.num_active, (std::vector{8, 7}));
  for (const auto cell : block.cells) EXPECT_EQ(cell % 4, 3);
  const std::array<std::int32_t, 1> none{77};
  EXPECT_TRUE(mesh::make_facet_batches(box, none).blocks.empty());
}

/// A block has facets of one shape, a batch facets of one number: those of a mesh with all shapes of cells.
TEST(facet_batches, of_mixed_cells_have_one_number_each) {
  const auto box = mesh::make_box({.cells = {5, 4, 6}, .shape = "mixed"});
  for (const int cells_per_batch : {1, 4, 8}) {
    const auto batches = mesh::make_facet_batches(box, {}, {.cells_per_batch = cells_per_batch});
    std::set<std::tuple<int, element::Shape, MapKind>> blocks;
    std::set<element::Shape> shapes;
    std::vector<mesh::FacetRef> found;
    bool has_padding_inside = false;
    for (const auto& block : batches.blocks) {
      const auto facet_shape = element::facet_shape(block.shape, block.local_facets.front());
      EXPECT_TRUE(blocks.emplace(block.group, facet_shape, block.map).second) << "two blocks of one kind";
      shapes.insert(block.shape);
      std::vector<int> of_shape;
      for (int facet = 0; facet < element::num_facets(block.shape); ++facet)
        if (element::facet_shape(block.shape, facet) == facet_shape) of_shape.push_back(facet);
      EXPECT_EQ(block.local_facets, of_shape);
      ASSERT_EQ(std::ssize(block.facets), block.num_batches);
      ASSERT_EQ(std::ssize(block.num_active), block.num_batches);
      ASSERT_EQ(std::ssize(block.cells), block.num_batches * cells_per_batch);
      EXPECT_TRUE(std::ranges::is_sorted(block.facets));
      std::int32_t num_facets = 0;
      for (std::int32_t batch = 0; batch < block.num_batches; ++batch) {
        const auto b = static_cast<std::size_t>(batch);
        const int active = block.num_active[b], facet = block.local_facets[static_cast<std::size_t>(block.facets[b])];
        EXPECT_TRUE(active > 0 && active <= cells_per_batch);
        const bool is_last_of_number = batch + 1 == block.num_batches || block.facets[b + 1] != block.facets[b];
        EXPECT_TRUE(active == cells_per_batch || is_last_of_number) << "a batch is padded before the last one";
        has_padding_inside |= active < cells_per_batch && batch + 1 < block.num_batches;
        num_facets += active;
        for (int cell = 0; cell < cells_per_batch; ++cell) {
          const auto own = block.cells[b * static_cast<std::size_t>(cells_per_batch) + static_cast<std::size_t>(cell)];
          if (cell < active)
            found.push_back({block.group, own, facet});
          else
            EXPECT_EQ(own, found.back().cell) << "padding repeats the last cell";
        }
      }
      EXPECT_EQ(block.num_facets, num_facets);
    }
    EXPECT_EQ(has_padding_inside, cells_per_batch > 1);
    EXPECT_EQ(shapes.size(), 4u) << "a mixed mesh has other shapes of cells at its boundary";
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, box.topology().exterior_facets);
  }
}
