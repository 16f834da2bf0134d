// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include <rafter/mesh/generations.hpp>
#include <rafter/mesh/subdivision.hpp>
#include <tests/support/mesh_laws.hpp>

using namespace rafter;
using mesh_laws::BoxCase;

namespace {

/// Returns the sum of the volumes of the children for each parent, shape (group of the parent)(cell).
std::vector<std::vector<double>> volumes_by_parent(const mesh::Mesh& coarse, const mesh::Mesh& fine) {
  std::vector<std::vector<double>> sums;
  for (const auto& group : coarse.groups) sums.emplace_back(group.tags.size(), 0.0);
  for (const auto& group : fine.groups) {
    const auto v = mesh_laws::volumes(fine, group).cells;
    for (std::size_t c = 0; c < v.size(); ++c) {
      const auto parent = group.parents.of(static_cast<std::int32_t>(c));
      sums[parent.group][parent.cell] += v[c];
    }
  }
  return sums;
}

/// Returns the reference coordinates of a point in an affine cell.
std::vector<double> pulled_back(const mesh::Mesh& mesh, const mesh::CellGroup& group, std::int32_t cell,
                                const mesh_laws::Point& x) {
  const int dim = mesh.tdim;
  const std::vector<double> origin(dim, -1.0);
  const auto m = mesh_laws::mapped(mesh, group, cell, mesh::geometry_element(group)->tabulate(origin), 0);
  const double det = mesh_laws::determinant(m.columns, dim);
  std::vector<double> xi;
  for (int axis = 0; axis < dim; ++axis) { // solved by Cramer's rule
    auto replaced = m.columns;
    for (int d = 0; d < 3; ++d) replaced[axis][d] = x[d] - m.x[d];
    xi.push_back(mesh_laws::determinant(replaced, dim) / det - 1);
  }
  return xi;
}

bool is_inside(element::Shape shape, const std::vector<double>& xi) {
  const int dim = element::dimension(shape);
  const auto corners = element::reference_vertices(shape);
  for (int f = 0; f < element::num_facets(shape); ++f) {
    const auto normal = element::reference_normal(shape, f);
    const int on_facet = element::entity_vertices(shape, dim - 1, f)[0];
    double distance = 0;
    for (int d = 0; d < dim; ++d) distance += normal[d] * (xi[d] - corners[on_facet * dim + d]);
    if (!(distance < -1e-3)) return false;
  }
  return true;
}

mesh_laws::Point centroid(const mesh::Mesh& mesh, const mesh::CellGroup& group, std::int32_t cell) {
  const int n = element::num_vertices(group.shape);
  mesh_laws::Point x{};
  for (int v = 0; v < n; ++v)
    for (int d = 0; d < 3; ++d) x[d] += mesh_laws::node(mesh, group.nodes()[cell * n + v])[d] / n;
  return x;
}

} // namespace

class EveryRefinement : public ::testing::TestWithParam<BoxCase> {};

INSTANTIATE_TEST_SUITE_P(shapes, EveryRefinement, ::testing::ValuesIn(mesh_laws::box_cases()),
                         [](const auto& box) { return box.param.shape + std::to_string(box.param.dim) + "d"; });

TEST_P(EveryRefinement, keeps_the_volume_of_straight_and_of_curved_meshes) {
  for (const int degree : {1, 2, 3}) {
    auto box = mesh_laws::make_case(GetParam(), 1, degree);
    mesh_laws::bend(box);
    ASSERT_GT(mesh_laws::smallest_det_j(box), 0);
    const auto fine = box.refined();
    EXPECT_NEAR(mesh_laws::volume(fine), mesh_laws::volume(box), 1e-12) << degree;
    EXPECT_GT(mesh_laws::smallest_det_j(fine), 0) << degree;
    EXPECT_EQ(fine.groups[0].degree, degree);
  }
}

TEST_P(EveryRefinement, children_fill_their_parent) {
  auto box = mesh_laws::make_case(GetParam(), 1);
  const auto fine = box.refined();
  const auto sums = volumes_by_parent(box, fine);
  for (std::size_t g = 0; g < box.groups.size(); ++g) {
    const auto v = mesh_laws::volumes(box, box.groups[g]).cells;
    for (std::size_t c = 0; c < v.size(); ++c) EXPECT_NEAR(sums[g][c], v[c], 1e-14);
  }
}

TEST_P(EveryRefinement, children_lie_inside_their_parent_twice_refined_too) {
  const auto box = mesh_laws::make_case(GetParam(), 1);
  for (const int times : {1, 2}) {
    const auto fine = box.refined(times);
    for (const auto& group : fine.groups)
      for (std::int32_t c = 0; c < group.num_cells(); ++c) {
        const auto in = group.parents.of(c);
        const auto& parent = box.groups[in.group];
        const auto xi = pulled_back(box, parent, in.cell, centroid(fine, group, c));
        EXPECT_TRUE(is_inside(parent.shape, xi)) << element::name(group.shape) << " " << c;
      }
  }
}

TEST_P(EveryRefinement, children_of_a_parent_are_consecutive) {
  const auto fine = mesh_laws::make_case(GetParam(), 1).refined();
  for (const auto& group : fine.groups) {
    std::map<mesh::Parents::Cell, std::pair<std::int32_t, std::int32_t>> first_and_count;
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      auto [entry, is_new] = first_and_count.try_emplace(group.parents.of(c), c, 0);
      EXPECT_EQ(c, entry->second.first + entry->second.second++);
    }
  }
}

TEST_P(EveryRefinement, is_conforming_and_closes_the_same_surface) {
  const int dim = GetParam().dim;
  for (const int degree : {1, 2}) {
    auto box = mesh_laws::make_case(GetParam(), 1, degree);
    mesh_laws::bend(box);
    const auto fine = box.refined();
    EXPECT_EQ(mesh_laws::euler_characteristic(fine), 1);
    const std::size_t factor = std::size_t{1} << (dim - 1);
    EXPECT_EQ(fine.tagged_facets.size(), factor * box.tagged_facets.size());
    EXPECT_EQ(fine.topology().exterior_facets.size(), factor * box.topology().exterior_facets.size());
    for (const auto tag : fine.topology().exterior_tags) EXPECT_NE(tag, 0);
    // The area element of a bent facet is no polynomial, so that areas agree only as far as quadrature is accurate.
    for (int side = 1; side <= 2 * dim; ++side)
      EXPECT_NEAR(mesh_laws::tagged_area(fine, side), mesh_laws::tagged_area(box, side), 1e-8) << side;
    EXPECT_EQ(fine.physical_groups, box.physical_groups);
  }
}

TEST_P(EveryRefinement, twice_is_once_and_once_again) {
  const auto box = mesh_laws::make_case(GetParam(), 1, 2);
  const auto twice = box.refined(2), again = box.refined().refined();
  ASSERT_EQ(twice.groups.size(), again.groups.size());
  EXPECT_EQ(twice.points, again.points);
  for (std::size_t g = 0; g < twice.groups.size(); ++g) {
    EXPECT_EQ(twice.groups[g].vertices, again.groups[g].vertices);
    EXPECT_TRUE(std::ranges::equal(twice.groups[g].nodes(), again.groups[g].nodes()));
  }
}

TEST_P(EveryRefinement, map_of_a_child_is_the_map_of_its_parent) {
  for (const int degree : {1, 3}) {
    auto box = mesh_laws::make_case(GetParam(), 1, degree);
    // Bent pyramids have rational maps, and only their surface is kept (tested above).
    const bool has_pyramids = GetParam().shape == "pyramid" || (GetParam().shape == "mixed" && GetParam().dim == 3);
    if (!has_pyramids) mesh_laws::bend(box);
    const auto fine = box.refined();
    for (const auto& group : fine.groups) {
      const auto points = element::make_quadrature_with_points(group.shape, 3).points;
      const auto table = mesh::geometry_element(group)->tabulate(points);
      // The order of the children depends on the diagonal; their volumes are tested instead.
      if (group.shape == element::Shape::tetrahedron) continue;
      const auto& children = mesh::subdivision(group.shape).children;
      const auto num_children = static_cast<std::int32_t>(std::count_if(
          children.begin(), children.end(), [&](const mesh::Child& child) { return child.shape == group.shape; }));
      for (std::int32_t c = 0; c < group.num_cells(); ++c) {
        const auto in = group.parents.of(c);
        const auto& parent = box.groups[in.group];
        const auto& split = mesh::subdivision(parent.shape);
        const auto in_parent = mesh::map_to_parent(parent.shape, split, split.children[c % num_children], points);
        const auto parent_table = mesh::geometry_element(parent)->tabulate(in_parent);
        for (int q = 0; q < table.num_points; ++q) {
          const auto a = mesh_laws::mapped(fine, group, c, table, q).x;
          const auto b = mesh_laws::mapped(box, parent, in.cell, parent_table, q).x;
          for (int d = 0; d < 3; ++d) EXPECT_NEAR(a[d], b[d], 1e-13);
        }
      }
    }
  }
}

TEST_P(EveryRefinement, geometry_is_continuous_between_children) {
  // Each node number has one place, and nodes of neighbouring cells at the same place have the same number.
  const auto fine = mesh_laws::make_case(GetParam(), 1, 3).refined();
  std::vector<mesh_laws::Point> points;
  for (std::size_t i = 0; i * fine.gdim < fine.points.size(); ++i)
    points.push_back(mesh_laws::node(fine, static_cast<std::int32_t>(i)));
  std::vector<std::array<long, 3>> rounded;
  for (const auto& x : points)
    rounded.push_back({std::lround(x[0] * 1e9), std::lround(x[1] * 1e9), std::lround(x[2] * 1e9)});
  std::sort(rounded.begin(), rounded.end());
  EXPECT_EQ(std::adjacent_find(rounded.begin(), rounded.end()), rounded.end());
}
