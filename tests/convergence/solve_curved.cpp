// SPDX-License-Identifier: BSD-3-Clause
// Errors converge with the optimal orders on curved cells, and on refined meshes that other programs wrote.
#include "../support/orders.hpp"

#include <tests/support/source_directory.hpp>

namespace {

using namespace rafter;
using test::OrderCase;

class CurvedOrder : public ::testing::TestWithParam<OrderCase> {};

TEST_P(CurvedOrder, is_optimal_on_refined_curved_boxes) {
  const auto& [shape, degree, geometry_degree] = GetParam();
  const int dim = test::box_dimension(shape);
  const auto coarse = test::moved_box(shape, test::coarse_cells(dim, degree), geometry_degree);
  test::expect_orders(test::observed_orders(test::poisson(dim), coarse, coarse.refined(), degree), degree);
}

std::vector<OrderCase> curved_cases() {
  std::vector<OrderCase> all;
  for (const auto& shape : test::box_shapes())
    if (test::box_dimension(shape) > 1) all.insert(all.end(), {{shape, 2, 2}, {shape, 3, 3}});
  all.push_back({"quadrilateral", 3, 2});
  all.push_back({"hexahedron", 2, 3});
  return all;
}

INSTANTIATE_TEST_SUITE_P(shapes, CurvedOrder, ::testing::ValuesIn(curved_cases()), test::name_of);

TEST(CurvedElasticityOrder, is_optimal_on_refined_curved_boxes) {
  for (const std::string shape : {"triangle", "hexahedron"}) {
    SCOPED_TRACE(shape);
    const int dim = test::box_dimension(shape);
    const auto coarse = test::moved_box(shape, test::coarse_cells(dim, 2), 2);
    test::expect_orders(test::observed_orders(test::elasticity(dim), coarse, coarse.refined(), 2), 2);
  }
}

/// The mesh is read once, refined `refine` times for the coarser mesh and once more for the finer one.
struct MeshCase {
  std::string file;
  int degree = 1, refine = 0;
};

void PrintTo(const MeshCase& c, std::ostream* out) { *out << c.file << ", degree " << c.degree; }

std::string name_of_mesh_case(const ::testing::TestParamInfo<MeshCase>& info) {
  std::string name = info.param.file.substr(0, info.param.file.find('.')) + "_p" + std::to_string(info.param.degree);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

mesh::Mesh sample(const MeshCase& c) {
  const auto mesh = mesh::read_mesh(test::source_directory() + "/tests/data/meshes/" + c.file);
  return c.refine > 0 ? mesh.refined(c.refine) : mesh;
}

class SampleMeshOrder : public ::testing::TestWithParam<MeshCase> {};

TEST_P(SampleMeshOrder, is_optimal_on_refined_samples) {
  const auto coarse = sample(GetParam());
  test::expect_orders(test::observed_orders(test::poisson(coarse.gdim), coarse, coarse.refined(), GetParam().degree),
                      GetParam().degree);
}

INSTANTIATE_TEST_SUITE_P(files, SampleMeshOrder,
                         ::testing::Values(MeshCase{"annulus-hex-order2.msh", 2}, MeshCase{"annulus-hex-order3.msh", 3},
                                           MeshCase{"disc-quad-order2.msh", 3}, MeshCase{"disc-tri-order3.msh", 4},
                                           MeshCase{"fichera-mixed.mesh", 2, 1}, MeshCase{"star-mixed.mesh", 3, 1},
                                           MeshCase{"mixed-four-shapes.msh", 2, 1}, MeshCase{"toroid-hex.mesh", 2, 1},
                                           MeshCase{"tinyzoo-3d.mesh", 3, 1}, MeshCase{"nested_cubes.msh", 1, 1}),
                         name_of_mesh_case);

/// Robin conditions on the whole curved boundary need facet integrals with normals in both forms.
TEST(RobinOrder, is_optimal_on_curved_boundaries) {
  test::Manufactured robin = test::poisson(3);
  robin.bilinear += " + 2*u*v*ds";
  robin.boundary_of_w = "dot(grad(w), n) + 2*w";
  const auto coarse = sample({.file = "annulus-hex-order2.msh"});
  test::expect_orders(test::observed_orders(robin, coarse, coarse.refined(), 2), 2);

  test::Manufactured plane = test::poisson(2);
  plane.bilinear = robin.bilinear;
  plane.boundary_of_w = robin.boundary_of_w;
  const auto disc = sample({.file = "disc-tri-order3.msh", .refine = 1});
  test::expect_orders(test::observed_orders(plane, disc, disc.refined(), 3), 3);
}

} // namespace
