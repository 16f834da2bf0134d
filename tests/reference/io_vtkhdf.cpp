// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rafter/form/language.hpp>
#include <rafter/io/vtkhdf.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/interpolate.hpp>
#include <unistd.h>

#include <tests/support/source_directory.hpp>

using namespace rafter;

namespace {

/// Returns a Python that has VTK, or "".
std::string python_with_vtk() {
  for (const std::string python : {"/usr/bin/python3", "python3"})
    if (std::system((python + " -c 'import vtkmodules.vtkIOHDF, vtkmodules.vtkFiltersVerdict' 2>/dev/null").c_str()) ==
        0)
      return python;
  return "";
}

struct Case {
  std::string shape;
  int dim = 3, degree = 1, geometry_degree = 1;
  std::int64_t cells_per_cell = 1; ///< number of cells in the file for one cell of the mesh
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.shape << " degree " << c.degree << " geometry " << c.geometry_degree;
}

double f(std::span<const double> x, int degree) {
  double sum = 1 + x[0] / 2;
  if (x.size() > 1) sum += x[1] / 4;
  if (x.size() > 2) sum -= x[2] / 8;
  return std::pow(sum, degree);
}

class VtkHdf : public testing::TestWithParam<Case> {};

TEST_P(VtkHdf, IsWhatTheReaderOfVtkFinds) {
  const std::string python = python_with_vtk();
  if (python.empty()) GTEST_SKIP() << "no Python with VTK (Debian: python3-vtk9)";
  const auto [shape, dim, degree, geometry_degree, cells_per_cell] = GetParam();
  const auto size = std::vector<double>{1.5, 0.75, 2}, n = std::vector<double>{2, 3, 2};
  mesh::BoxOptions box{.cells = {}, .size = {}, .shape = shape, .degree = geometry_degree};
  double volume = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    box.cells.push_back(static_cast<int>(n[axis]));
    box.size.push_back(size[axis]);
    volume *= size[axis];
  }
  const auto mesh = std::make_shared<const mesh::Mesh>(mesh::make_box(box));
  const auto discretisation = std::make_shared<const space::Discretisation>(mesh);
  const auto scalar = space::FunctionSpace::make(discretisation, {.degree = degree, .components = 0, .name = "p"});
  const auto vector = space::FunctionSpace::make(discretisation, {.degree = degree, .components = dim, .name = "w"});
  std::vector<double> p(static_cast<std::size_t>(scalar->num_local())),
      w(static_cast<std::size_t>(vector->num_local()));
  space::interpolate(
      *scalar, [&, degree = degree](auto x, auto values) { values[0] = f(x, degree); }, p);
  space::interpolate(
      *vector,
      [&, degree = degree](auto x, auto values) {
        values[0] = f(x, degree);
        for (std::size_t k = 1; k < values.size(); ++k) values[k] = x[k - 1];
      },
      w);
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("rafter_{}_{}_{}_{}.vtkhdf", ::getpid(), shape, degree, geometry_degree);
  const auto lowered = [](const form::Expr& e) {
    return std::make_shared<const form::LoweredExpression>(form::lower(e));
  };
  std::vector<io::DerivedField> derived{
      {.name = "x0", .expression = lowered(form::spatial_coordinate(dim)(0)), .is_per_cell = true}};
  if (dim > 1) derived.push_back({.name = "grad_w", .expression = lowered(form::grad(form::field(vector, "w")))});
  io::write_vtkhdf(path.string(), *mesh, std::vector<io::OutputField>{{"p", scalar, p}, {"w", vector, w}}, derived);
  const std::string command = fmt::format("{} {}/tests/python/check_vtkhdf.py {} {} {:.17g} {} {} {}", python,
                                          test::source_directory(), path.string(), mesh->num_cells() * cells_per_cell,
                                          volume, degree, dim, shape == "pyramid" && degree > 1 ? 0 : 1);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::filesystem::remove(path);
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const int degree : {1, 2, 3, 4, 5, 7}) {
    result.push_back({"interval", 1, degree});
    for (const auto* shape : {"triangle", "quadrilateral"}) result.push_back({shape, 2, degree});
    for (const auto* shape : {"tetrahedron", "hexahedron", "prism"}) result.push_back({shape, 3, degree});
  }
  // A pyramid becomes p(2p^2 + 1)/3 pyramids and 2p(p - 1)(p + 1)/3 tetrahedra.
  for (const int p : {1, 2, 3, 4})
    result.push_back({"pyramid", 3, p, 1, p * (2 * p * p + 1) / 3 + 2 * p * (p * p - 1) / 3});
  for (const auto* shape : {"tetrahedron", "hexahedron", "prism"})
    result.push_back({shape, 3, 1, 3}); // the geometry determines the order
  return result;
}

INSTANTIATE_TEST_SUITE_P(Shapes, VtkHdf, testing::ValuesIn(cases()));

} // namespace
