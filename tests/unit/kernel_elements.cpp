// SPDX-License-Identifier: BSD-3-Clause
// What tensor programs ask of elements: whether functions are products along axes, and that their values are scalars.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/kernel/separable.hpp>

#include <tests/support/cell_reference.hpp>
#include <tests/support/custom_elements.hpp>
#include <tests/support/kernel_forms.hpp>

namespace {

using namespace rafter;
using kernel::Contraction;

kernel::ProgramInput input_of(std::shared_ptr<const element::Element> element, Contraction contraction) {
  kernel::ProgramInput input;
  input.function = test::qfunction(test::laplace(), element->shape(), mesh::MapKind::affine);
  input.fields.quadrature = element::make_quadrature_with_points(element->shape(), 4);
  input.fields.inputs = {{kernel::AtomKind::reference_trial, 0, 1, element}};
  input.fields.outputs = {{kernel::AtomKind::reference_test, 0, 1, element}};
  input.contraction = contraction;
  return input;
}

TEST(ElementsOfPrograms, HaveDenseTablesWithoutTensorFactors) {
  for (const auto shape : {element::Shape::quadrilateral, element::Shape::hexahedron}) {
    const auto lagrange = element::make_element(element::Family::lagrange, shape, 2);
    const auto other = element::make_element(test::without_factors(*lagrange));
    kernel::CellData data;
    data.map = test::map_data(test::random_cell(shape, mesh::MapKind::affine, 1, 7));
    auto& u = data.inputs.emplace_back();
    for (int i = 0; i < lagrange->num_dofs(); ++i) u.push_back(std::sin(3.0 * i));
    const auto expected =
        kernel::interpret(kernel::build_program(input_of(lagrange, Contraction::collocated)), data).outputs.at(0);
    for (const auto contraction : {Contraction::collocated, Contraction::separable}) {
      const auto input = input_of(other, contraction);
      EXPECT_FALSE(kernel::has_tensor_factors(shape, input.fields));
      EXPECT_FALSE(kernel::separable_form(input).has_value());
      const auto program = kernel::build_program(input);
      EXPECT_EQ(program.contraction, Contraction::dense);
      const auto found = kernel::interpret(program, data).outputs.at(0);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-11);
    }
  }
}

TEST(ElementsOfPrograms, DoWithoutNodes) {
  const auto moments = element::make_element(test::discontinuous(element::Shape::quadrilateral, 2));
  const auto program = kernel::build_program(input_of(moments, Contraction::collocated));
  EXPECT_EQ(program.contraction, Contraction::dense);
}

TEST(ElementsOfPrograms, AreScalar) {
  const auto fluxes = element::make_element(test::raviart_thomas(element::Shape::triangle));
  EXPECT_THROW(kernel::build_program(input_of(fluxes, Contraction::dense)), base::InternalError);
}

} // namespace
