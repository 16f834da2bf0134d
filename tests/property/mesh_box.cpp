// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tests/support/mesh_laws.hpp>

using namespace rafter;
using mesh_laws::BoxCase;

class EveryBox : public ::testing::TestWithParam<BoxCase> {};

INSTANTIATE_TEST_SUITE_P(shapes, EveryBox, ::testing::ValuesIn(mesh_laws::box_cases()),
                         [](const auto& box) { return box.param.shape + std::to_string(box.param.dim) + "d"; });

TEST_P(EveryBox, cells_fill_the_box) {
  const double expected = std::array{2.0, 3.0, 1.5}[GetParam().dim - 1];
  for (const int degree : {1, 2, 3}) {
    const auto box = mesh_laws::make_case(GetParam(), 2, degree);
    EXPECT_NEAR(mesh_laws::volume(box), expected, 1e-13) << degree;
    EXPECT_GT(mesh_laws::smallest_det_j(box), 1e-3) << degree;
  }
}

TEST_P(EveryBox, is_a_ball) { EXPECT_EQ(mesh_laws::euler_characteristic(mesh_laws::make_case(GetParam(), 3)), 1); }

TEST_P(EveryBox, every_exterior_facet_is_tagged_and_each_side_has_its_area) {
  const int dim = GetParam().dim;
  const std::array<double, 3> size{2, 1.5, 0.5};
  double product = 1;
  for (int d = 0; d < dim; ++d) product *= size[d];
  for (const int degree : {1, 3}) {
    const auto box = mesh_laws::make_case(GetParam(), 2, degree);
    const auto& topology = box.topology();
    EXPECT_EQ(topology.exterior_facets.size(), box.tagged_facets.size());
    for (const auto tag : topology.exterior_tags) EXPECT_NE(tag, 0);
    for (int side = 0; side < 2 * dim; ++side)
      EXPECT_NEAR(mesh_laws::tagged_area(box, side + 1), dim == 1 ? 1.0 : product / size[side / 2], 1e-13) << side;
  }
}

TEST_P(EveryBox, facets_with_a_tag_lie_on_their_side) {
  const auto box = mesh_laws::make_case(GetParam(), 2);
  const std::array<double, 3> size{2, 1.5, 0.5};
  for (const auto& facet : box.tagged_facets)
    for (const auto v : facet.vertices) {
      if (v < 0) continue;
      const int axis = (facet.tag - 1) / 2;
      EXPECT_EQ(mesh_laws::node(box, v)[axis], facet.tag % 2 == 1 ? 0.0 : size[axis]);
    }
}

TEST_P(EveryBox, raising_the_degree_leaves_the_maps_alone) {
  const auto straight = mesh_laws::make_case(GetParam(), 1);
  const auto raised = mesh_laws::make_case(GetParam(), 1, 4);
  for (std::size_t g = 0; g < straight.groups.size(); ++g) {
    const auto& a = straight.groups[g];
    const auto& b = raised.groups[g];
    const auto points = element::make_quadrature_with_points(a.shape, 3).points;
    const auto table_a = mesh::geometry_element(a)->tabulate(points),
               table_b = mesh::geometry_element(b)->tabulate(points);
    for (std::int32_t c = 0; c < a.num_cells(); ++c)
      for (int q = 0; q < table_a.num_points; ++q)
        for (int d = 0; d < straight.gdim; ++d)
          EXPECT_NEAR(mesh_laws::mapped(straight, a, c, table_a, q).x[d],
                      mesh_laws::mapped(raised, b, c, table_b, q).x[d], 1e-13);
  }
}
