// SPDX-License-Identifier: BSD-3-Clause
// These tests show which forms have programs of products of one-dimensional matrices, how many products there are, and
// that they agree with collocated programs, which kernel_tensor_program compares with the form.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include <rafter/kernel/separable.hpp>

#include "../support/cell_reference.hpp"
#include "../support/kernel_forms.hpp"

namespace {

using namespace rafter;
using element::QuadratureKind;
using element::Shape;
using kernel::Contraction;
using mesh::MapKind;

struct Wanted {
  std::string text;
  Shape shape = Shape::hexahedron;
  MapKind map = MapKind::cartesian;
  int degree = 2, points = 3, components = 0; ///< components = 0 is a scalar
  QuadratureKind kind = QuadratureKind::gauss;
};

kernel::ProgramInput input_of(const Wanted& wanted, Contraction contraction = Contraction::separable) {
  kernel::ProgramInput input;
  input.function = test::qfunction(wanted.text, wanted.shape, wanted.map, wanted.components);
  input.fields.quadrature = element::make_quadrature_with_points(wanted.shape, wanted.points, wanted.kind);
  kernel::FieldUse use{kernel::AtomKind::reference_trial, 0, std::max(wanted.components, 1),
                       element::make_element(element::Family::lagrange, wanted.shape, wanted.degree)};
  input.fields.inputs = {use};
  use.kind = kernel::AtomKind::reference_test;
  input.fields.outputs = {use};
  input.contraction = contraction;
  return input;
}

std::string elasticity(int dim) {
  return "inner(3*div(u)*Identity(" + std::to_string(dim) + ") + 2*sym(grad(u)), sym(grad(v)))*dx";
}
const std::string convection = "(0.1*inner(grad(u), grad(v)) + 2*u.dx(0)*v + 3*u*v)*dx";

void expect_like_collocation(const Wanted& wanted) {
  SCOPED_TRACE(wanted.text + " " + std::string(element::name(wanted.shape)) + " " +
               std::string(mesh::name(wanted.map)) + " degree " + std::to_string(wanted.degree) + " points " +
               std::to_string(wanted.points));
  const auto cell = test::random_cell(wanted.shape, wanted.map, 1, 7);
  kernel::CellData data;
  data.map = test::map_data(cell);
  const auto input = input_of(wanted);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  auto& u = data.inputs.emplace_back(
      static_cast<std::size_t>(input.fields.inputs[0].components * input.fields.inputs[0].element->num_dofs()));
  for (double& value : u) value = uniform(random);
  const auto program = kernel::build_program(input);
  ASSERT_EQ(program.contraction, Contraction::separable);
  const auto found = kernel::interpret(program, data).outputs.at(0);
  const auto expected =
      kernel::interpret(kernel::build_program(input_of(wanted, Contraction::collocated)), data).outputs.at(0);
  ASSERT_EQ(found.size(), expected.size());
  double scale = 0;
  for (const double value : expected) scale = std::max(scale, std::fabs(value));
  const double tolerance = 1e-13 * (wanted.degree + 1) * (wanted.degree + 1) * scale;
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

TEST(kernel_separable, means_what_collocation_means) {
  for (const auto shape : {Shape::interval, Shape::quadrilateral, Shape::hexahedron})
    for (const auto map : {MapKind::cartesian, MapKind::affine}) {
      if (shape == Shape::interval && map == MapKind::cartesian) continue;
      const int dim = element::dimension(shape);
      for (int degree = 1; degree <= (dim == 3 ? 5 : 10); ++degree) {
        // There are more points than nodes, as many at the nodes, and fewer.
        for (const auto& [points, kind] :
             {std::pair{degree + 2, QuadratureKind::gauss}, std::pair{degree + 1, QuadratureKind::gll}}) {
          for (const auto& text : {test::mass(), test::laplace(), convection})
            expect_like_collocation({text, shape, map, degree, points, 0, kind});
          expect_like_collocation({elasticity(dim), shape, map, degree, points, dim, kind});
        }
        if (degree == 2) // the middle node is between the points
          expect_like_collocation({convection, shape, map, degree, 2, 0, QuadratureKind::gll});
        if (degree > 1) expect_like_collocation({test::mass(), shape, map, degree, degree, 0, QuadratureKind::gauss});
      }
    }
}

TEST(kernel_separable, serves_constant_coefficients_on_tensor_cells_alone) {
  const auto serves = [](const Wanted& wanted) { return kernel::separable_form(input_of(wanted)).has_value(); };
  EXPECT_TRUE(serves({test::laplace()}));
  EXPECT_TRUE(serves({test::mass(), Shape::hexahedron, MapKind::affine}));
  EXPECT_FALSE(serves({test::laplace(), Shape::hexahedron, MapKind::multilinear}));
  EXPECT_FALSE(serves({test::laplace(), Shape::hexahedron, MapKind::isoparametric}));
  EXPECT_FALSE(serves({"(1 + x[0])*u*v*dx"}));
  EXPECT_FALSE(serves({test::laplace(), Shape::tetrahedron, MapKind::affine}));
  auto uneven = input_of({test::mass()});
  uneven.fields.outputs[0].element = element::make_element(element::Family::lagrange, Shape::hexahedron, 3);
  EXPECT_FALSE(kernel::separable_form(uneven).has_value());
  auto diagonal = input_of({test::laplace()});
  diagonal.function = kernel::diagonal(diagonal.function);
  EXPECT_FALSE(kernel::separable_form(diagonal).has_value());
}

TEST(kernel_separable, gives_way_to_collocation) {
  const auto program = kernel::build_program(input_of({"(1 + x[0])*u*v*dx"}));
  EXPECT_EQ(program.contraction, Contraction::collocated);
}

int num_contractions(const Wanted& wanted) {
  const auto program = kernel::build_program(input_of(wanted));
  return static_cast<int>(
      std::ranges::count_if(program.steps, [&](const kernel::Step& step) { return program.contracts(step); }));
}

TEST(kernel_separable, takes_no_more_products_than_the_form_needs) {
  const auto gll = QuadratureKind::gll;
  EXPECT_EQ(num_contractions({test::mass()}), 3); // the product M (x) M (x) M
  EXPECT_EQ(num_contractions({test::mass(), Shape::quadrilateral}), 2);
  // The contractions are K, M; then M K, K M, M M; then the coefficients; then M, K.
  EXPECT_EQ(num_contractions({test::laplace()}), 7);
  EXPECT_EQ(num_contractions({test::laplace(), Shape::quadrilateral}), 4);
  EXPECT_EQ(num_contractions({test::laplace(), Shape::hexahedron, MapKind::affine}), 17);
  // There is one derivative per axis if the nodes are points.
  EXPECT_EQ(num_contractions({test::laplace(), Shape::hexahedron, MapKind::cartesian, 3, 4, 0, gll}), 3);
  EXPECT_EQ(num_contractions({test::mass(), Shape::hexahedron, MapKind::cartesian, 3, 4, 0, gll}), 0);
}

} // namespace
