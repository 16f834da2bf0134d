// SPDX-License-Identifier: BSD-3-Clause
// Tensor programs mean what the form says: interpreted on random cells, they agree with point-by-point evaluation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/kernel/cell_matrices.hpp>
#include <rafter/kernel/cut.hpp>
#include <rafter/kernel/tensor_program.hpp>

#include "../support/cell_reference.hpp"

namespace {

using namespace rafter;
using element::Shape;
using kernel::Contraction;
using kernel::FactorStorage;
using mesh::MapKind;

struct FormCase {
  const char* name;
  const char* text;
  bool is_vector;
};
const std::vector<FormCase> forms{
    {"mass", "u*v*dx", false},
    {"laplace", "inner(grad(u), grad(v))*dx", false},
    {"helmholtz", "(exp(x[0])*inner(grad(u), grad(v)) + (1 + x[0]*x[0])*kappa*u*v)*dx", false},
    {"convection", "(0.1*inner(grad(u), grad(v)) + (1 + x[0])*u.dx(0)*v + kappa*u*v)*dx", false},
    {"elasticity", "inner(kappa*div(u)*Identity(len(u)) + 2*sym(grad(u)), sym(grad(v)))*dx", true},
    {"component", "u[0]*v[0]*dx", true},
};

std::shared_ptr<form::FieldSpace> space_of(Shape shape, int degree, bool is_vector) {
  auto space = std::make_shared<form::FieldSpace>();
  space->degree = degree;
  space->gdim = element::dimension(shape);
  space->components = is_vector ? space->gdim : 0;
  return space;
}

std::string with_dimension(std::string text, int dim) {
  const auto at = text.find("len(u)");
  return at == std::string::npos ? text : text.replace(at, 6, std::to_string(dim));
}

form::LoweredForm lower(const std::string& text, const std::shared_ptr<form::FieldSpace>& space) {
  form::Scope scope(space->gdim);
  const std::shared_ptr<const form::FieldSpace> constant_space = space;
  scope.add_arguments({&constant_space, 1});
  scope.add("kappa", form::constant("kappa", 0.7));
  return form::lower(form::parse_form(with_dimension(text, space->gdim), scope));
}

std::vector<double> random_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(n);
  for (double& value : values) value = uniform(random);
  return values;
}

void expect_close(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double scale = 0;
  for (const double value : expected) scale = std::max(scale, std::fabs(value));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance * scale) << "entry " << i;
}

struct Setup {
  test::TestCell cell;
  form::LoweredForm form;
  std::shared_ptr<const element::Element> element;
  int components = 1;
  kernel::ProgramInput input;
  kernel::CellData data;
  test::CellValues values;
};

Setup make_setup(const FormCase& form_case, Shape shape, int degree, MapKind map, Contraction contraction,
                 element::QuadratureKind kind = element::QuadratureKind::gauss) {
  Setup s;
  const auto space = space_of(shape, degree, form_case.is_vector);
  s.form = lower(form_case.text, space);
  s.cell = test::random_cell(shape, map, map == MapKind::isoparametric ? 2 : 1, 17U + static_cast<unsigned>(degree));
  s.element = element::make_element(element::Family::lagrange, shape, degree);
  s.components = space->num_components();
  s.values.parameters.assign(s.form.parameters.size(), 0.7);
  s.values.u = random_values(static_cast<std::size_t>(s.components * s.element->num_dofs()), 5);
  s.input.fields.quadrature = element::is_tensor(shape) ? element::make_quadrature_with_points(shape, degree + 1, kind)
                                                        : element::make_quadrature(shape, 2 * degree);
  kernel::FieldUse use{kernel::AtomKind::reference_trial, 0, s.components, s.element};
  s.input.fields.inputs = {use};
  use.kind = kernel::AtomKind::reference_test;
  s.input.fields.outputs = {use};
  s.input.fields.geometry = s.cell.geometry;
  s.input.contraction = contraction;
  s.data.parameters = s.values.parameters;
  s.data.inputs = {s.values.u};
  s.data.nodes = s.cell.nodes;
  if (map != MapKind::isoparametric) s.data.map = test::map_data(s.cell);
  return s;
}

/// Rounding is larger than that of one operation by a few digits, from the basis at degree p and from chains of sums.
double tolerance(int degree) { return 1e-13 * (degree + 1) * (degree + 1); }

class TensorProgram : public ::testing::TestWithParam<Shape> {};

TEST_P(TensorProgram, agrees_with_the_form_for_every_contraction_map_and_recipe) {
  const Shape shape = GetParam();
  for (const auto& form_case : forms)
    for (const int degree : {1, 2, 3})
      for (const auto map : mesh::map_kinds_in_order) {
        const bool is_of_grids = map == MapKind::multilinear || map == MapKind::cartesian;
        if (is_of_grids && (!element::is_tensor(shape) || shape == Shape::interval)) continue;
        for (const auto contraction : {Contraction::dense, Contraction::per_derivative, Contraction::collocated,
                                       Contraction::separable, Contraction::slice_wise}) {
          if (contraction != Contraction::dense && !element::is_tensor(shape)) continue;
          auto s = make_setup(form_case, shape, degree, map, contraction);
          const auto expected =
              test::reference_action(s.form.integrals[0], s.cell, *s.element, s.components,
                                     s.input.fields.quadrature.points, s.input.fields.quadrature.weights, -1, s.values);
          const kernel::IntegralPart part{&s.form.integrals[0], -1};
          const auto function = kernel::pull_back({&part, 1}, shape, map, false);
          for (const auto& choice :
               kernel::factor_storages(function, kernel::point_loops(function, s.input.fields.quadrature), {})) {
            SCOPED_TRACE(std::string(form_case.name) + " degree " + std::to_string(degree) + " " +
                         std::string(mesh::name(map)) + " " + std::string(kernel::name(contraction)) + " " +
                         kernel::name(choice.factors));
            if (!choice.functions.setup.outputs.empty()) {
              auto setup_input = s.input;
              setup_input.function = choice.functions.setup;
              setup_input.fields.inputs.clear();
              setup_input.fields.outputs.clear();
              const auto stored = kernel::interpret(kernel::build_program(setup_input), s.data);
              s.data.stored_point = stored.stored_point;
              s.data.stored_cell = stored.stored_cell;
            }
            for (const auto* main : {&choice.functions.main, &choice.on_grid}) {
              s.input.function = *main;
              const auto result = kernel::interpret(kernel::build_program(s.input), s.data);
              expect_close(result.outputs[0], expected, tolerance(degree));
            }
          }
        }
      }
}

TEST_P(TensorProgram, collocates_on_gauss_lobatto_points) {
  const Shape shape = GetParam();
  if (!element::is_tensor(shape)) GTEST_SKIP() << "tensor shapes only";
  for (const int degree : {1, 3}) {
    auto s =
        make_setup(forms[2], shape, degree, MapKind::affine, Contraction::collocated, element::QuadratureKind::gll);
    const kernel::IntegralPart part{&s.form.integrals[0], -1};
    s.input.function = kernel::pull_back({&part, 1}, shape, MapKind::affine, false);
    const auto program = kernel::build_program(s.input);
    for (const auto& step : program.steps) { // only derivatives are left
      if (!program.contracts(step)) continue;
      EXPECT_EQ(program.matrix_of(step).rows, degree + 1);
    }
    const auto expected =
        test::reference_action(s.form.integrals[0], s.cell, *s.element, s.components, s.input.fields.quadrature.points,
                               s.input.fields.quadrature.weights, -1, s.values);
    expect_close(kernel::interpret(program, s.data).outputs[0], expected, tolerance(degree));
  }
}

/// Degrees and rules of their own along each axis: all contractions along axes give what dense tables do.
TEST(AnisotropicPrograms, AgreeWithDenseTables) {
  constexpr std::array degrees{1, 3, 2}, num_points{3, 4, 3};
  for (const Shape shape : {Shape::quadrilateral, Shape::hexahedron})
    for (const auto kind : {element::QuadratureKind::gauss, element::QuadratureKind::gll})
      for (const auto& [map, form_case] :
           {std::pair{MapKind::affine, forms[1]}, std::pair{MapKind::affine, forms[3]},
            std::pair{MapKind::isoparametric, forms[2]}, std::pair{MapKind::multilinear, forms[4]}}) {
        const auto dim = static_cast<std::size_t>(element::dimension(shape));
        auto s = make_setup(form_case, shape, 2, map, Contraction::dense);
        const auto element = element::make_tensor_element(shape, std::span(degrees).first(dim));
        std::vector<element::Rule1D> lines;
        for (std::size_t axis = 0; axis < dim; ++axis) {
          const auto on_line = element::make_quadrature_with_points(Shape::interval, num_points[axis], kind);
          lines.push_back({on_line.points, on_line.weights});
        }
        s.input.fields.quadrature = element::product_quadrature(shape, 3, lines);
        for (auto* uses : {&s.input.fields.inputs, &s.input.fields.outputs})
          for (auto& use : *uses) use.element = element;
        for (auto& values : s.data.inputs) {
          values.resize(static_cast<std::size_t>(s.components * element->num_dofs()));
          for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(3.0 * static_cast<double>(i));
        }
        const kernel::IntegralPart part{&s.form.integrals[0], -1};
        s.input.function = kernel::pull_back({&part, 1}, shape, map, false);
        const auto expected = kernel::interpret(kernel::build_program(s.input), s.data).outputs[0];
        for (const auto contraction :
             {Contraction::per_derivative, Contraction::collocated, Contraction::separable, Contraction::slice_wise}) {
          SCOPED_TRACE(fmt::format("{} {} {}", form_case.name, element::name(shape), kernel::name(contraction)));
          s.input.contraction = contraction;
          const auto program = kernel::build_program(s.input);
          EXPECT_TRUE(program.is_grid());
          expect_close(kernel::interpret(program, s.data).outputs[0], expected, tolerance(3));
        }
      }
}

TEST_P(TensorProgram, contracts_nothing_for_values_at_nodes) {
  const Shape shape = GetParam();
  if (!element::is_tensor(shape)) GTEST_SKIP() << "tensor shapes only";
  for (const auto contraction :
       {Contraction::dense, Contraction::per_derivative, Contraction::collocated, Contraction::slice_wise}) {
    auto s = make_setup(forms[0], shape, 3, MapKind::affine, contraction, element::QuadratureKind::gll);
    const kernel::IntegralPart part{&s.form.integrals[0], -1};
    s.input.function = kernel::pull_back({&part, 1}, shape, MapKind::affine, false);
    const auto program = kernel::build_program(s.input);
    EXPECT_TRUE(std::ranges::none_of(program.steps, [&](const kernel::Step& step) { return program.contracts(step); }));
    const auto expected =
        test::reference_action(s.form.integrals[0], s.cell, *s.element, s.components, s.input.fields.quadrature.points,
                               s.input.fields.quadrature.weights, -1, s.values);
    expect_close(kernel::interpret(program, s.data).outputs[0], expected, tolerance(3));
  }
}

TEST_P(TensorProgram, diagonal_equals_the_action_on_unit_vectors) {
  const Shape shape = GetParam();
  for (const auto& form_case : {forms[2], forms[4]}) {
    for (const auto map : {MapKind::affine, MapKind::isoparametric}) {
      auto s = make_setup(form_case, shape, 2, map, Contraction::collocated);
      const kernel::IntegralPart part{&s.form.integrals[0], -1};
      const auto function = kernel::pull_back({&part, 1}, shape, map, false);
      s.input.function = kernel::diagonal(function);
      auto input = s.input;
      input.fields.inputs.clear();
      const auto found = kernel::interpret(kernel::build_program(input), s.data).outputs[0];
      std::vector<double> expected;
      for (std::size_t i = 0; i < s.values.u.size(); ++i) {
        std::fill(s.values.u.begin(), s.values.u.end(), 0.0);
        s.values.u[i] = 1;
        expected.push_back(test::reference_action(s.form.integrals[0], s.cell, *s.element, s.components,
                                                  s.input.fields.quadrature.points, s.input.fields.quadrature.weights,
                                                  -1, s.values)[i]);
      }
      SCOPED_TRACE(form_case.name);
      expect_close(found, expected, tolerance(2));
    }
  }
}

/// Local facets of a shape that the cell has.
std::vector<int> facets_of_shape(Shape shape, Shape facet_shape) {
  std::vector<int> result;
  for (int facet = 0; facet < element::num_facets(shape); ++facet)
    if (element::facet_shape(shape, facet) == facet_shape) result.push_back(facet);
  return result;
}

/// The setup with these facets and data for one of them.
void set_facets(Setup& s, std::vector<int> facets, int position, int degree) {
  const Shape shape = s.cell.shape();
  const int facet = facets[static_cast<std::size_t>(position)];
  const auto facet_shape = element::facet_shape(shape, facet);
  const auto normal = element::reference_normal(shape, facet);
  s.input.fields.quadrature = element::make_quadrature(facet_shape, facet_shape == Shape::point ? 0 : degree);
  s.input.fields.local_facets = std::move(facets);
  s.data.facet = position;
  s.data.reference_normal.assign(normal.begin(), normal.end());
}

/// The part of one facet of numbers that are given for all.
std::vector<double> of_facet(const std::vector<double>& numbers, const kernel::TensorProgram& program, int facet) {
  const auto size = static_cast<std::ptrdiff_t>(numbers.size()) / program.num_facets();
  return {numbers.begin() + facet * size, numbers.begin() + (facet + 1) * size};
}

TEST_P(TensorProgram, facet_integrals_see_area_and_normal) {
  const Shape shape = GetParam();
  const auto space = space_of(shape, 2, false);
  const auto form = lower("(kappa*u*v + dot(n, grad(u))*v*x[0])*ds", space);
  for (const auto facet_shape : {Shape::point, Shape::interval, Shape::triangle, Shape::quadrilateral}) {
    const auto facets = facets_of_shape(shape, facet_shape);
    for (int position = 0; position < static_cast<int>(facets.size()); ++position)
      for (const auto map : {MapKind::affine, MapKind::isoparametric}) {
        auto s = make_setup(forms[0], shape, 2, map, Contraction::collocated);
        s.values.parameters = s.data.parameters = {0.7};
        set_facets(s, facets, position, 5);
        const kernel::IntegralPart part{&form.integrals[0], -1};
        s.input.function = kernel::pull_back({&part, 1}, shape, map, true);
        const auto program = kernel::build_program(s.input);
        const int facet = facets[static_cast<std::size_t>(position)];
        const auto expected = test::reference_action(form.integrals[0], s.cell, *s.element, 1,
                                                     of_facet(program.points, program, position),
                                                     of_facet(program.weights, program, position), facet, s.values);
        SCOPED_TRACE(facet);
        expect_close(kernel::interpret(program, s.data).outputs[0], expected, tolerance(2));
      }
  }
}

TEST_P(TensorProgram, facets_as_data_are_those_of_programs_of_one_facet) {
  const Shape shape = GetParam();
  const auto space = space_of(shape, 2, false);
  const auto bilinear =
      lower("((1 + x[0])*u*v + dot(n, grad(u))*v + kappa*dot(n, n)*inner(grad(u), grad(v)))*ds", space);
  const auto constant = lower("(u*v + dot(n, grad(u))*v)*ds", space);
  const auto functional = lower("(x[0]*n[0] + 1)*ds", space);
  // Results of the program of these facets for one of them: of the action, cell matrices and the functional.
  const auto results = [&](const std::vector<int>& facets, int position, MapKind map) {
    std::vector<double> result;
    for (const auto* form : {&bilinear, &constant, &functional})
      for (const bool is_matrix : {false, true}) {
        if (form == &functional && is_matrix) continue;
        auto s = make_setup(forms[0], shape, 2, map, Contraction::collocated);
        s.data.parameters = {0.7};
        set_facets(s, facets, position, 5);
        const kernel::IntegralPart part{&form->integrals[0], -1};
        s.input.function = kernel::pull_back({&part, 1}, shape, map, true);
        if (is_matrix) {
          s.input.function = kernel::pair_coefficients(s.input.function, std::array{1});
          s.input.fields.inputs.clear();
          s.input.fields.outputs[0].trial_element = s.element;
        }
        if (form == &functional) {
          s.input.fields.inputs.clear();
          s.input.fields.outputs.clear();
        }
        const auto program = kernel::build_program(s.input);
        EXPECT_EQ(program.num_facets(), static_cast<int>(facets.size()));
        const auto found = kernel::interpret(program, s.data);
        for (const auto& values : found.outputs) result.insert(result.end(), values.begin(), values.end());
        result.insert(result.end(), found.integrals.begin(), found.integrals.end());
      }
    return result;
  };
  for (const auto facet_shape : {Shape::point, Shape::interval, Shape::triangle, Shape::quadrilateral}) {
    const auto facets = facets_of_shape(shape, facet_shape);
    for (const auto map : {MapKind::affine, MapKind::isoparametric}) {
      std::vector<std::vector<double>> of_facets;
      for (int position = 0; position < static_cast<int>(facets.size()); ++position) {
        const auto found = results(facets, position, map);
        EXPECT_EQ(found, results({facets[static_cast<std::size_t>(position)]}, 0, map)) << position;
        for (const auto& other : of_facets) EXPECT_NE(found, other) << "two facets of a cell have the same integrals";
        of_facets.push_back(found);
      }
    }
  }
}

TEST(TensorProgramOfFacets, RefusesFacetsThatItHasNot) {
  auto s = make_setup(forms[0], Shape::prism, 1, MapKind::affine, Contraction::dense);
  const auto form = lower("u*v*ds", space_of(Shape::prism, 1, false));
  set_facets(s, facets_of_shape(Shape::prism, Shape::triangle), 1, 2);
  const kernel::IntegralPart part{&form.integrals[0], -1};
  s.input.function = kernel::pull_back({&part, 1}, Shape::prism, MapKind::affine, true);
  const auto program = kernel::build_program(s.input);
  EXPECT_EQ(program.num_facets(), 2);
  EXPECT_FALSE(program.has_dependent_axes()) << "kernels are made of it";
  EXPECT_NO_THROW(kernel::interpret(program, s.data));
  for (const int facet : {-1, 2}) {
    s.data.facet = facet;
    EXPECT_THROW(kernel::interpret(program, s.data), base::InternalError);
  }
}

TEST_P(TensorProgram, divergence_theorem_ties_facets_to_the_cell) {
  // The integral of div F over a cell is the sum over facets of that of F.n for polynomials F, which checks areas and
  // normals independently of the reference.
  const Shape shape = GetParam();
  const int dim = element::dimension(shape);
  const auto space = space_of(shape, 1, false);
  const std::vector<std::string> field{"x[0]*x[0]", "x[0]*x[1]", "x[2]*x[1]"};
  const std::vector<std::string> divergence{"2*x[0]", "3*x[0]", "3*x[0] + x[1]"};
  std::string flux = "(";
  for (int a = 0; a < dim; ++a)
    flux += (a > 0 ? " + " : "") + field[static_cast<std::size_t>(a)] + "*n[" + std::to_string(a) + "]";
  const auto facet_form = lower(flux + ")*ds", space);
  const auto cell_form = lower("(" + divergence[static_cast<std::size_t>(dim - 1)] + ")*dx", space);
  for (const auto map : {MapKind::affine, MapKind::isoparametric}) {
    auto s = make_setup(forms[0], shape, 1, map, Contraction::dense);
    s.input.fields.inputs.clear();
    s.input.fields.outputs.clear();
    s.input.fields.quadrature = element::make_quadrature(shape, 14);
    const kernel::IntegralPart cell_part{&cell_form.integrals[0], -1};
    s.input.function = kernel::pull_back({&cell_part, 1}, shape, map, false);
    const double volume_integral = kernel::interpret(kernel::build_program(s.input), s.data).integrals.at(0);
    double facet_integral = 0;
    for (int facet = 0; facet < element::num_facets(shape); ++facet) {
      set_facets(s, {facet}, 0, 14);
      const kernel::IntegralPart part{&facet_form.integrals[0], -1};
      s.input.function = kernel::pull_back({&part, 1}, shape, map, true);
      facet_integral += kernel::interpret(kernel::build_program(s.input), s.data).integrals.at(0);
    }
    EXPECT_NEAR(volume_integral, facet_integral, 1e-11 * std::fabs(volume_integral)) << mesh::name(map);
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, TensorProgram, ::testing::ValuesIn(element::all_cell_shapes),
                         [](const auto& shape) { return std::string(element::name(shape.param)); });

} // namespace
