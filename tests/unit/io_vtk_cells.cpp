// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/io/output_points.hpp>
#include <rafter/io/vtk_cells.hpp>

using namespace rafter;
using element::Shape;

namespace {

int lattice_size(Shape shape, int p) {
  switch (shape) {
  case Shape::interval:
    return p + 1;
  case Shape::triangle:
    return (p + 1) * (p + 2) / 2;
  case Shape::quadrilateral:
    return (p + 1) * (p + 1);
  case Shape::tetrahedron:
    return (p + 1) * (p + 2) * (p + 3) / 6;
  case Shape::prism:
    return (p + 1) * (p + 1) * (p + 2) / 2;
  case Shape::hexahedron:
    return (p + 1) * (p + 1) * (p + 1);
  case Shape::pyramid:
    return (p + 1) * (p + 2) * (2 * p + 3) / 6;
  case Shape::point:
    break;
  }
  return 0;
}

/// Returns six times the volume of a tetrahedron or pyramid of lattice points, by dividing it into tetrahedra.
int volume6(const io::VtkCells& cells, const std::vector<int>& list) {
  const auto tetrahedron = [&](int a, int b, int c, int d) {
    std::array<std::array<int, 3>, 3> e{};
    const auto point = [&](int i) { return cells.points[static_cast<std::size_t>(list[static_cast<std::size_t>(i)])]; };
    for (std::size_t k = 0; k < 3; ++k)
      e[0][k] = point(b)[k] - point(a)[k], e[1][k] = point(c)[k] - point(a)[k], e[2][k] = point(d)[k] - point(a)[k];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  };
  if (list.size() == 4) return tetrahedron(0, 1, 2, 3);
  EXPECT_GT(tetrahedron(0, 1, 3, 4), 0);
  return tetrahedron(0, 1, 2, 4) + tetrahedron(0, 2, 3, 4);
}

TEST(VtkCells, EveryLatticePointOccursOnce) {
  for (const Shape shape : element::all_cell_shapes)
    for (int p = 1; p <= io::max_vtk_order; ++p) {
      const auto points = io::make_vtk_cells(shape, p).points;
      EXPECT_EQ(points.size(), static_cast<std::size_t>(lattice_size(shape, p)));
      EXPECT_EQ(std::set(points.begin(), points.end()).size(), points.size()) << element::name(shape) << " " << p;
    }
}

TEST(VtkCells, VerticesComeFirst) {
  for (const Shape shape : element::all_cell_shapes) {
    if (shape == Shape::pyramid) continue;
    const auto points = io::lagrange_lattice(shape, 5);
    for (int v = 0; v < element::num_vertices(shape); ++v)
      for (const int coordinate : points[static_cast<std::size_t>(v)]) EXPECT_TRUE(coordinate == 0 || coordinate == 5);
  }
}

TEST(VtkCells, PartsOfAPyramidFillIt) {
  for (int p = 1; p <= io::max_vtk_order; ++p) {
    const auto cells = io::make_vtk_cells(Shape::pyramid, p);
    int volume = 0, num_pyramids = 0;
    for (std::size_t i = 0; i < cells.types.size(); ++i) {
      const int part = volume6(cells, cells.connectivity[i]);
      EXPECT_EQ(part, cells.types[i] == 14 ? 2 : 1);
      volume += part;
      num_pyramids += cells.types[i] == 14;
    }
    EXPECT_EQ(volume, 2 * p * p * p); // the volume of the pyramid is p^3 / 3
    EXPECT_EQ(num_pyramids, p * (2 * p * p + 1) / 3);
  }
}

TEST(VtkCells, PointsOnTheSidesOfBoxesHaveExactlyTheirCoordinates) {
  const std::vector<double> size{0.1, 1.0 / 3, 0.7};
  for (const Shape shape : element::all_cell_shapes)
    for (const int geometry_degree : {1, 3}) {
      const auto dim = static_cast<std::size_t>(element::dimension(shape));
      const auto box = mesh::make_box({.cells = std::vector<int>(dim, 2),
                                       .size = {size.begin(), size.begin() + static_cast<std::ptrdiff_t>(dim)},
                                       .shape = std::string(element::name(shape)),
                                       .degree = geometry_degree});
      for (int order = 1; order <= io::max_vtk_order; ++order) {
        const std::vector<std::vector<io::LatticePoint>> lattices{io::make_vtk_cells(shape, order).points};
        const auto points = io::make_output_points(box, lattices, order, false);
        for (std::size_t i = 0; i < points.coordinates.size(); ++i) { // points in the interior are far from all sides
          const double x = points.coordinates[i];
          if (i % 3 >= dim) continue;
          EXPECT_TRUE(x == 0 || x > 1e-3) << element::name(shape) << order;
          EXPECT_TRUE(x == size[i % 3] || x < size[i % 3] - 1e-3) << element::name(shape) << order;
        }
      }
    }
}

TEST(VtkCells, OrdersOutOfRangeAreInternalErrors) {
  EXPECT_THROW(io::lagrange_lattice(Shape::triangle, 0), base::InternalError);
  EXPECT_THROW(io::lagrange_lattice(Shape::triangle, 11), base::InternalError);
  EXPECT_THROW(io::lagrange_lattice(Shape::pyramid, 2), base::InternalError);
}

} // namespace
