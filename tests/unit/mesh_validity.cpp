// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include <rafter/base/error.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/readers.hpp>

#include <tests/support/sample_meshes.hpp>

namespace {

using namespace rafter;

/// Returns a mesh of linear cells of one shape whose points are its vertices.
mesh::Mesh make_mesh(int dim, std::vector<double> points, element::Shape shape, std::vector<std::int32_t> vertices) {
  mesh::Mesh mesh;
  mesh.tdim = mesh.gdim = dim;
  mesh.num_vertices = static_cast<std::int32_t>(points.size()) / dim;
  mesh.points = std::move(points);
  mesh::CellGroup group{.shape = shape, .degree = 1};
  group.tags.assign(vertices.size() / static_cast<std::size_t>(element::num_vertices(shape)), 1);
  group.vertices = std::move(vertices);
  mesh.groups.push_back(std::move(group));
  return mesh;
}

bool mentions(const mesh::ValidityReport& report, const std::string& words) {
  for (const auto& line : report.problems)
    if (line.find(words) != std::string::npos) return true;
  return false;
}

TEST(Validity, AffineCellsScoreOne) {
  for (const auto* shape : {"interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism", "pyramid"}) {
    const auto dim = static_cast<std::size_t>(element::dimension(element::shape_from_name(shape)));
    const auto mesh =
        mesh::make_box({.cells = std::vector<int>(dim, 2), .size = std::vector<double>(dim, 3), .shape = shape});
    const auto report = mesh::check_validity(mesh);
    EXPECT_NEAR(report.volume, std::pow(3, dim), 1e-12) << shape;
    EXPECT_NEAR(report.worst_det_j, 1, 1e-12) << shape;
    EXPECT_TRUE(report.problems.empty()) << shape;
  }
}

/// All nodes of a cell decide whether it counts as affine.
TEST(Validity, OneNodeOffMakesACellScoreLess) {
  for (const auto* shape : {"quadrilateral", "hexahedron", "prism"})
    for (const int degree : {1, 2}) {
      const auto dim = static_cast<std::size_t>(element::dimension(element::shape_from_name(shape)));
      auto mesh = mesh::make_box({.cells = std::vector<int>(dim, 1), .shape = shape, .degree = degree});
      for (double& x : mesh.points) {
        const double kept = std::exchange(x, x + 1e-4);
        EXPECT_LT(mesh::check_validity(mesh).worst_det_j, 1 - 1e-5) << shape << ' ' << degree;
        x = kept;
      }
    }
}

TEST(Validity, WorstJacobianOfATaperedQuadrilateral) {
  // Bases 2 and 1 and the height 1 give det J / mean from 2/3 to 4/3.
  const auto mesh = make_mesh(2, {0, 0, 2, 0, 0, 1, 1, 1}, element::Shape::quadrilateral, {0, 1, 2, 3});
  const auto report = mesh::check_validity(mesh);
  EXPECT_NEAR(report.volume, 1.5, 1e-14);
  EXPECT_NEAR(report.worst_det_j, 2.0 / 3, 1e-14);
}

TEST(Validity, FindsInvertedCells) {
  const auto mesh = make_mesh(2, {0, 0, 1, 0, 0, 1, 1, 1}, element::Shape::triangle, {0, 1, 2, 1, 2, 3});
  const auto report = mesh::check_validity(mesh);
  ASSERT_EQ(report.inverted_cells.size(), 1U);
  EXPECT_EQ(report.inverted_cells[0].cell, 1);
  EXPECT_EQ(report.worst_cell.cell, 1);
  EXPECT_TRUE(mentions(report, "triangle 1"));
  EXPECT_THROW(mesh::require_valid(mesh), base::InputError);
}

TEST(Validity, FindsPartlyInvertedAndFlatCells) {
  // The cell is a dart, with det J < 0 only near the reflex corner.
  const auto dart = make_mesh(2, {0, 0, 1, 0, 0, 1, 0.2, 0.2}, element::Shape::quadrilateral, {0, 1, 2, 3});
  EXPECT_EQ(mesh::check_validity(dart).inverted_cells.size(), 1U);
  const auto flat = make_mesh(3, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.3, 0.3, 0}, element::Shape::tetrahedron, {0, 1, 2, 3});
  EXPECT_EQ(mesh::check_validity(flat).inverted_cells.size(), 1U);
  const auto point = make_mesh(2, {0, 0, 0, 0, 0, 0}, element::Shape::triangle, {0, 1, 2});
  EXPECT_TRUE(mentions(mesh::check_validity(point), "its volume is 0"));
  const auto rounding = make_mesh(2, {0, 0, 1, 0, 0.5, 1e-14}, element::Shape::triangle, {0, 1, 2});
  EXPECT_TRUE(mentions(mesh::check_validity(rounding), "flat to rounding"));
  const auto thin =
      make_mesh(3, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.3, 0.3, 1e-6}, element::Shape::tetrahedron, {0, 1, 2, 3});
  EXPECT_TRUE(mesh::check_validity(thin).inverted_cells.empty());
}

TEST(Validity, FindsCellsWithWhichNothingCanBeComputed) {
  const auto of_size = [](double x, double y) {
    return mesh::check_validity(make_mesh(2, {0, 0, x, 0, 0, y, x, y}, element::Shape::quadrilateral, {0, 1, 2, 3}));
  };
  EXPECT_TRUE(mentions(of_size(1e-300, 1), "is so small that computing with it underflows: one of its edges is about "
                                           "1e-300 long"));
  EXPECT_TRUE(mentions(of_size(1e-160, 1e-160), "underflows")); // the squares of its edges are 0
  EXPECT_TRUE(
      mentions(of_size(1, 1e200), "is so large that computing with it overflows: one of its edges is about 1e+200"));
  EXPECT_TRUE(mentions(of_size(0, 1), "its volume is 0"));
  for (const double x : {1e-100, 1e-12, 1e12, 1e100}) EXPECT_TRUE(of_size(x, 1).problems.empty()) << x;
  const auto simplex =
      make_mesh(3, {0, 0, 0, 1e-90, 0, 0, 0, 1e-90, 0, 0, 0, 1e-90}, element::Shape::tetrahedron, {0, 1, 2, 3});
  EXPECT_TRUE(mentions(mesh::check_validity(simplex), "underflows"));
  EXPECT_THROW(mesh::require_valid(simplex), base::InputError);
}

TEST(Validity, FindsAQuadrilateralThatFacesTwoTriangles) {
  // A cube has two tetrahedra instead of a pyramid on its side x = 1.
  auto mesh = make_mesh(3, {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 2, 0.5, 0.5},
                        element::Shape::hexahedron, {0, 1, 2, 3, 4, 5, 6, 7});
  mesh::CellGroup tets{.shape = element::Shape::tetrahedron, .degree = 1};
  tets.vertices = {1, 8, 3, 5, 3, 8, 7, 5};
  tets.tags = {1, 1};
  mesh.groups.push_back(tets);
  const auto report = mesh::check_validity(mesh);
  EXPECT_TRUE(report.inverted_cells.empty());
  EXPECT_TRUE(mentions(report, "faces a quadrilateral facet of hexahedron 0"));
}

TEST(Validity, PlaneCellsOfMfemFilesMayAllBeListedClockwise) {
  const auto mesh =
      mesh::read_mfem("m", "MFEM mesh v1.0\n\ndimension\n2\nelements\n2\n1 2 0 3 1\n1 2 1 3 2\nboundary\n0\n"
                           "vertices\n4\n2\n0 0\n1 0\n1 1\n0 1\n");
  const auto report = mesh::check_validity(mesh);
  EXPECT_TRUE(report.problems.empty());
  EXPECT_NEAR(report.volume, 1, 1e-15);
}

TEST(Validity, FindsSquaresThatAreHalvedAlongDifferentDiagonals) {
  // Two tetrahedra on each side of the square x = 0, whose vertices are 0 to 3.
  const std::vector<double> points{0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, -1, 0.5, 0.5, 1, 0.5, 0.5};
  const auto with_right = [&points](const std::vector<std::int32_t>& right) {
    std::vector<std::int32_t> cells{4, 0, 1, 2, 4, 0, 2, 3};
    cells.insert(cells.end(), right.begin(), right.end());
    return mesh::check_validity(make_mesh(3, points, element::Shape::tetrahedron, cells));
  };
  EXPECT_TRUE(with_right({5, 0, 2, 1, 5, 0, 3, 2}).problems.empty());
  const auto crossed = with_right({5, 0, 3, 1, 5, 1, 3, 2});
  EXPECT_TRUE(crossed.inverted_cells.empty());
  EXPECT_TRUE(mentions(crossed, "halve one quadrilateral along different diagonals"));
  // The facets of one tetrahedron halve no quadrilateral, though they have four vertices in pairs.
  EXPECT_TRUE(mesh::check_validity(
                  make_mesh(3, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, element::Shape::tetrahedron, {0, 1, 2, 3}))
                  .problems.empty());
}

TEST(Validity, FindsHangingVertices) {
  // One square is beside two squares of half its height.
  const std::vector<double> points{0, 0, 1, 0, 0, 1, 1, 1, 1.5, 0, 1, 0.5, 1.5, 0.5, 1.5, 1};
  const auto plane = make_mesh(2, points, element::Shape::quadrilateral, {0, 1, 2, 3, 1, 4, 5, 6, 5, 6, 3, 7});
  const auto report = mesh::check_validity(plane);
  EXPECT_EQ(report.problems.size(), 1U);
  EXPECT_TRUE(mentions(report, "(1, 0.5) lies inside a facet of quadrilateral 0"));
}

TEST(Validity, FindsHangingVerticesOnFaces) {
  // The face x = 1 of a unit cube is met by four quarter faces.
  auto coarse = mesh::make_box({.cells = {1, 1, 1}, .size = {1, 1, 1}, .shape = "hexahedron"});
  const auto fine = mesh::make_box({.cells = {2, 2, 2}, .size = {1, 1, 1}, .shape = "hexahedron"});
  const auto shift = coarse.num_vertices;
  for (std::size_t i = 0; i < fine.points.size(); ++i) coarse.points.push_back(fine.points[i] + (i % 3 == 0 ? 1 : 0));
  for (const auto v : fine.groups[0].vertices) coarse.groups[0].vertices.push_back(v + shift);
  coarse.groups[0].tags.assign(9, 1);
  coarse.num_vertices += fine.num_vertices;
  mesh::Mesh mesh;
  mesh.num_vertices = coarse.num_vertices;
  mesh.points = coarse.points;
  mesh.groups = coarse.groups;
  EXPECT_TRUE(mesh::check_validity(mesh).inverted_cells.empty());
  EXPECT_TRUE(mentions(mesh::check_validity(mesh), "(1, 0.5, 0.5) lies inside a facet of hexahedron 0"));
}

TEST(Validity, AcceptsCracksAndReentrantCorners) {
  // Two squares touch along a side whose vertices are doubled, which is a crack.
  const std::vector<double> points{0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 2, 0, 1, 1, 2, 1};
  EXPECT_TRUE(mesh::check_validity(make_mesh(2, points, element::Shape::quadrilateral, {0, 1, 2, 3, 4, 5, 6, 7}))
                  .problems.empty());
  for (const auto* name : {"l-shape.mesh", "fichera-mixed.mesh", "escher.mesh"})
    EXPECT_TRUE(mesh::check_validity(test::sample_mesh(name)).problems.empty());
}

TEST(Validity, RefusesWhatIsNotFinite) {
  auto mesh = mesh::make_box({.cells = {2, 2}, .size = {1, 1}, .shape = "triangle"});
  mesh.points[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(mesh::check_validity(mesh), base::InputError);
  EXPECT_THROW(mesh::require_valid(mesh::Mesh{}), base::InputError);
}

} // namespace
