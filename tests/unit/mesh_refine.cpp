// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/generations.hpp>
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

/// All ways of dividing cells of a shape.
std::vector<mesh::Halving> halvings(Shape shape) {
  std::vector<mesh::Halving> result;
  for (std::uint8_t axes = 1; axes < 1 << element::dimension(shape); ++axes)
    for (int diagonal = 0; diagonal < (shape == Shape::tetrahedron ? 3 : 1); ++diagonal)
      if (mesh::can_be_halved(shape, {axes})) result.push_back({{axes}, diagonal});
  return result;
}

TEST(subdivision, along_some_axes_has_the_known_children) {
  const auto count = [](Shape shape, std::uint8_t axes) { return mesh::subdivision(shape, {{axes}}).children.size(); };
  EXPECT_EQ(halvings(Shape::quadrilateral).size(), 3u);
  EXPECT_EQ(halvings(Shape::hexahedron).size(), 7u);
  EXPECT_EQ(halvings(Shape::prism).size(), 3u);
  for (const auto shape : {Shape::interval, Shape::triangle, Shape::pyramid}) EXPECT_EQ(halvings(shape).size(), 1u);
  EXPECT_EQ(halvings(Shape::tetrahedron).size(), 3u);
  EXPECT_EQ(count(Shape::quadrilateral, 2), 2u);
  EXPECT_EQ(count(Shape::hexahedron, 1), 2u);
  EXPECT_EQ(count(Shape::hexahedron, 5), 4u);
  EXPECT_EQ(count(Shape::prism, 3), 4u);
  EXPECT_EQ(count(Shape::prism, 4), 2u);
  EXPECT_THROW((void)count(Shape::prism, 1), base::InternalError);
  EXPECT_THROW((void)count(Shape::triangle, 2), base::InternalError);
}

TEST(subdivision, along_some_axes_keeps_the_length_along_the_others) {
  for (const auto shape : element::all_cell_shapes)
    for (const auto& halving : halvings(shape)) {
      if (shape == Shape::tetrahedron || shape == Shape::pyramid) continue; // children between have other shapes
      const auto& split = mesh::subdivision(shape, halving);
      const int dim = element::dimension(shape);
      for (const auto& child : split.children) {
        const auto x = mesh::map_to_parent(shape, split, child, element::reference_vertices(shape));
        for (int d = 0; d < dim; ++d) {
          double low = 1, high = -1;
          for (std::size_t i = static_cast<std::size_t>(d); i < x.size(); i += static_cast<std::size_t>(dim)) {
            low = std::min(low, x[i]);
            high = std::max(high, x[i]);
          }
          EXPECT_DOUBLE_EQ(high - low, halving.axes.has(d) ? 1 : 2) << element::name(shape);
        }
      }
    }
}

TEST(subdivision, children_of_facets_lie_on_them_and_fill_them) {
  for (const auto shape : element::all_cell_shapes)
    for (const auto& halving : halvings(shape)) {
      const int dim = element::dimension(shape);
      const auto& split = mesh::subdivision(shape, halving);
      for (int f = 0; f < element::num_facets(shape) && dim > 1; ++f) {
        const auto vertices = element::entity_vertices(shape, dim - 1, f);
        const auto& children = mesh::facet_children(shape, f, halving.axes);
        std::size_t found = 0; // facets of children whose vertices all lie on the facet
        for (const auto& child : split.children)
          for (int g = 0; g < element::num_facets(child.shape); ++g) {
            const auto of_child = element::entity_vertices(child.shape, dim - 1, g);
            const auto lies_on_facet = [&](int v) {
              const auto& centre =
                  split.vertices[static_cast<std::size_t>(child.vertices[static_cast<std::size_t>(v)])];
              return std::ranges::all_of(element::entity_vertices(shape, centre.dim, centre.entity),
                                         [&](int w) { return std::ranges::find(vertices, w) != vertices.end(); });
            };
            if (!std::ranges::all_of(of_child, lies_on_facet)) continue;
            ++found;
            std::vector<int> numbers;
            for (const int v : of_child) numbers.push_back(child.vertices[static_cast<std::size_t>(v)]);
            std::ranges::sort(numbers);
            EXPECT_EQ(std::ranges::count_if(children,
                                            [&](const mesh::Child& of_facet) {
                                              auto others = of_facet.vertices;
                                              std::ranges::sort(others);
                                              return others == numbers;
                                            }),
                      1);
          }
        EXPECT_EQ(found, children.size()) << element::name(shape) << " facet " << f;
      }
    }
}

TEST(subdivision, children_fill_the_reference_cell_and_keep_its_orientation) {
  for (const auto shape : element::all_cell_shapes)
    for (const auto& halving : halvings(shape)) {
      const auto& split = mesh::subdivision(shape, halving);
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
  sliver.groups[0].vertices = {0, 1, 3, 2};
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
    EXPECT_EQ(fine.groups[0].tags[c], fine.groups[0].parents.of(c).cell == 0 ? 7 : 9);
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
  ring.groups[0].own_nodes = ring.groups[0].vertices; // points stay apart
  for (auto& v : ring.groups[0].vertices) v = merged[v];
  ring.num_vertices = 6;
  const auto fine = ring.refined();
  EXPECT_EQ(fine.num_vertices, 6 * 3);
  EXPECT_EQ(mesh_laws::euler_characteristic(fine), 0);
  EXPECT_NEAR(mesh_laws::volume(fine), 3.0, 1e-14);
  EXPECT_GT(mesh_laws::smallest_det_j(fine), 0.05);
}

TEST(refined, along_some_axes_a_box_is_the_box_with_twice_the_cells_along_them) {
  for (const auto* shape : {"quadrilateral", "hexahedron", "prism"}) {
    const auto dim = static_cast<std::size_t>(element::dimension(element::shape_from_name(shape)));
    for (const auto& halving : halvings(element::shape_from_name(shape))) {
      mesh::BoxOptions options{.cells = {2, 1, 3}, .size = {1, 2, 1}, .shape = shape, .degree = 2};
      options.cells.resize(dim);
      options.size.resize(dim);
      const std::vector steps{halving.axes};
      const auto generations =
          mesh::refined_generations(std::make_shared<const mesh::Mesh>(mesh::make_box(options)), steps);
      const auto& fine = *generations.finest();
      for (std::size_t d = 0; d < dim; ++d)
        if (halving.axes.has(static_cast<int>(d))) options.cells[d] *= 2;
      const auto direct = mesh::make_box(options);
      EXPECT_EQ(fine.num_vertices, direct.num_vertices);
      EXPECT_EQ(fine.num_cells(), direct.num_cells());
      EXPECT_EQ(fine.points.size(), direct.points.size());
      EXPECT_EQ(fine.tagged_facets.size(), direct.tagged_facets.size());
      EXPECT_EQ(mesh_laws::euler_characteristic(fine), 1);
      EXPECT_NEAR(mesh_laws::volume(fine), mesh_laws::volume(direct), 1e-14);
      for (int side = 1; side <= 2 * static_cast<int>(dim); ++side)
        EXPECT_NEAR(mesh_laws::tagged_area(fine, side), mesh_laws::tagged_area(direct, side), 1e-14) << side;
      EXPECT_EQ(generations.refinements[0].is_partial(), !halving.axes.has_all(static_cast<int>(dim)));
    }
  }
}

TEST(refined, along_some_axes_bent_cells_stay_as_they_are) {
  auto box = mesh_laws::make_case({3, "hexahedron"}, 1, 3);
  mesh_laws::bend(box);
  const auto volume = mesh_laws::volume(box);
  const std::vector<mesh::Axes> steps{{2}, {5}};
  const auto generations = mesh::refined_generations(std::make_shared<const mesh::Mesh>(std::move(box)), steps);
  EXPECT_NEAR(mesh_laws::volume(*generations.finest()), volume, 1e-12);
  EXPECT_GT(mesh_laws::smallest_det_j(*generations.finest()), 0);
  EXPECT_EQ(generations.finest()->num_cells(), 8 * generations.meshes[0]->num_cells());
  const auto& children = generations.finest()->groups[0];
  for (std::int32_t child = 0; child < children.num_cells(); ++child)
    EXPECT_LT(children.parents.of(child).cell, generations.meshes[0]->num_cells());
}

TEST(refined, along_some_axes_refuses_what_does_not_fit) {
  const auto message = [](mesh::Mesh mesh, mesh::Axes axes) -> std::string {
    const std::vector steps{axes};
    try {
      (void)mesh::refined_generations(std::make_shared<const mesh::Mesh>(std::move(mesh)), steps);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(mesh::make_box({.cells = {2, 2}, .shape = "triangle"}), {1}).find("a triangle is not refined"),
            std::string::npos);
  EXPECT_NE(message(mesh::make_box({.cells = {4, 1, 1}, .shape = "mixed"}), {4}).find("is not refined"),
            std::string::npos);
  auto turned = mesh::make_box({.cells = {2, 1}, .shape = "quadrilateral"});
  auto& vertices = turned.groups[0].vertices;
  const std::vector<std::int32_t> second(vertices.begin() + 4, vertices.end());
  for (std::size_t v = 0; v < 4; ++v) vertices[4 + v] = second[std::array{1, 3, 0, 2}[v]];
  EXPECT_EQ(message(turned, {}), "");
  EXPECT_NE(message(turned, {1}).find("refined along different axes"), std::string::npos);
}

/// Batches of cells that see their edges in the same directions gather whole runs.
TEST(refined, children_of_boxes_see_edges_in_the_directions_of_their_parents) {
  for (const auto* shape : {"quadrilateral", "hexahedron"}) {
    SCOPED_TRACE(shape);
    const bool is_plane = std::string(shape) == "quadrilateral";
    const std::vector<int> cells = is_plane ? std::vector{3, 2} : std::vector{3, 2, 2};
    auto box = mesh::make_box({.cells = cells, .size = std::vector<double>(cells.size(), 1.0), .shape = shape});
    const auto fine = box.refined(2);
    const auto& group = fine.groups.front();
    const auto num_vertices = static_cast<std::size_t>(element::num_vertices(group.shape));
    ASSERT_EQ(group.num_cells(), is_plane ? 6 * 16 : 12 * 64);
    for (std::size_t first = 0; first < group.vertices.size(); first += num_vertices)
      for (std::size_t axis = 1; axis < num_vertices; axis *= 2)
        for (std::size_t v = 0; v < num_vertices; ++v)
          if ((v & axis) == 0) {
            EXPECT_LT(group.vertices[first + v], group.vertices[first + v + axis]);
          }
  }
}
