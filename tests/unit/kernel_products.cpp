// SPDX-License-Identifier: BSD-3-Clause
// Products of arrays: cell matrices by points are those of tables, stored matrices multiply as they are, and the
// verifier refuses malformed products.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include <rafter/base/error.hpp>
#include <rafter/kernel/cell_matrices.hpp>
#include <rafter/kernel/point_matrices.hpp>
#include <rafter/kernel/stored_matrices.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::kernel {
namespace {

using element::Shape;
using mesh::MapKind;

constexpr std::array one_trial_component{1};

/// Input for programs of cell matrices of a scalar form of degree 1.
ProgramInput pair_input(const std::string& text, Shape shape, MapKind map, Contraction contraction) {
  const auto form = test::lowered(text, shape, 1);
  const IntegralPart part{&form.integrals[0], -1};
  const bool keeps = contraction == Contraction::pointwise;
  const auto function = keeps ? keep_derivatives({&part, 1}, shape, map) : pull_back({&part, 1}, shape, map, false);
  ProgramInput input{
      .fields = {}, .function = pair_coefficients(function, one_trial_component), .contraction = contraction};
  input.fields.quadrature = element::make_quadrature(shape, 3);
  const auto element = element::make_element(element::Family::lagrange, shape, 1);
  FieldUse use{AtomKind::reference_test, 0, 1, element};
  use.trial_element = element;
  use.pattern = -1;
  input.fields.outputs = {use};
  input.fields.geometry = element;
  return input;
}

/// A cell that is not degenerate, whatever its map.
CellData bent_cell(Shape shape, MapKind map) {
  CellData data;
  const int dim = element::dimension(shape);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> small(-0.1, 0.1);
  for (const int mode : map_modes(map, dim))
    for (int a = 0; a < dim; ++a) data.map.push_back((mode == 1 << a ? 0.5 : 0) + small(random));
  const auto vertices = element::reference_vertices(shape);
  for (const double x : vertices) data.nodes.push_back(x + small(random));
  data.parameters = {0.7};
  return data;
}

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double result = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) result = std::max(result, std::fabs(a[i] - b[i]));
  return result;
}

TEST(Products, CellMatricesByPointsAreThoseOfTables) {
  for (const auto& [shape, map] :
       {std::pair{Shape::tetrahedron, MapKind::affine}, std::pair{Shape::prism, MapKind::isoparametric},
        std::pair{Shape::prism, MapKind::affine}, std::pair{Shape::pyramid, MapKind::isoparametric},
        std::pair{Shape::triangle, MapKind::affine}})
    for (const auto& text :
         {test::laplace(), test::helmholtz(), std::string("(inner(grad(u), grad(v)) + (1 + x[0])*u.dx(0)*v)*dx")})
      for (const bool shares : {true, false}) {
        SCOPED_TRACE(text + " " + std::string(element::name(shape)));
        auto input = pair_input(text, shape, map, Contraction::pointwise);
        ASSERT_TRUE(has_point_matrices(input.fields.outputs, input.fields.quadrature));
        input.shares_derivatives = shares;
        const auto by_points = build_program(input);
        const auto by_tables = build_program(pair_input(text, shape, map, Contraction::dense));
        const auto data = bent_cell(shape, map);
        const auto found = interpret(by_points, data).outputs.front();
        auto expected = interpret(by_tables, data).outputs.front();
        double scale = 0;
        for (const double value : expected) scale = std::max(scale, std::fabs(value));
        EXPECT_GT(scale, 0);
        EXPECT_LE(worst_difference(found, expected), 1e-13 * scale);
        EXPECT_GT(count_flops(by_points), 0);
      }
}

TEST(Products, StoredMatricesMultiplyTheDofs) {
  const auto form = test::lowered(test::helmholtz(), Shape::tetrahedron, 1);
  const IntegralPart part{&form.integrals[0], -1};
  const auto function = pull_back({&part, 1}, Shape::tetrahedron, MapKind::affine, false);
  const auto derivatives = keep_derivatives({&part, 1}, Shape::tetrahedron, MapKind::affine);
  auto input = pair_input(test::helmholtz(), Shape::tetrahedron, MapKind::affine, Contraction::dense);
  const auto element = input.fields.outputs.front().element;
  CellFields fields = input.fields;
  fields.inputs = {{AtomKind::reference_trial, 0, 1, element}};
  fields.outputs = {{AtomKind::reference_test, 0, 1, element}};
  const auto matrices = stored_matrices(function, derivatives, fields);
  EXPECT_EQ(matrices.num_stored, 4 * 5 / 2);
  EXPECT_EQ(num_matrix_entries(fields), 16);
  auto data = bent_cell(Shape::tetrahedron, MapKind::affine);
  const auto whole = interpret(build_program(input), data).outputs.front();
  for (const auto contraction : {Contraction::dense, Contraction::pointwise}) {
    input.contraction = contraction;
    const auto set_up = build_stored_matrices(matrices, input);
    data.stored_cell = interpret(set_up, data).stored_cell;
    ASSERT_EQ(data.stored_cell.size(), 10U);
    data.inputs = {{0.3, -1.2, 0.7, 2.1}};
    const auto product = build_stored_product(matrices, fields);
    EXPECT_EQ(count_flops(product), 2 * 16 - 4);
    const auto found = interpret(product, data).outputs.front();
    std::vector<double> expected(4, 0.0);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) expected[i] += whole[i * 4 + j] * data.inputs[0][j];
    EXPECT_LE(worst_difference(found, expected), 1e-13);
  }
}

std::string product_complaint(const TensorProgram& program) {
  try {
    program.verify();
  } catch (const base::InternalError& error) {
    return error.what();
  }
  return "";
}

struct ProductCase {
  const char* name;
  const char* message;
  std::function<void(TensorProgram&)> spoil;
};

/// The last product makes the matrix, from rows of test functions and the functions of the trial space.
Product& last_product(TensorProgram& p) { return p.products.back(); }
Step& last_product_step(TensorProgram& p) { return p.steps[p.steps.size() - 2]; }

const std::vector<ProductCase>& product_cases() {
  static const std::vector<ProductCase> list{
      {"unknown_product", "unknown product", [](auto& p) { last_product_step(p).product = 99; }},
      {"of_what_it_makes", "changes what it is made of",
       [](auto& p) {
         auto again = last_product_step(p);
         p.products.push_back(last_product(p));
         p.products.back().factor = again.target;
         again.product = static_cast<int>(p.products.size()) - 1;
         p.steps.insert(p.steps.end() - 1, again);
       }},
      {"too_few_axes", "another number of axes", [](auto& p) { last_product(p).source_axes.pop_back(); }},
      {"axis_of_another_extent", "an axis of a product does not fit",
       [](auto& p) {
         p.axes.push_back({"J", AxisKind::dof, 99});
         last_product(p).source_axes.front() = static_cast<int>(p.axes.size()) - 1;
       }},
      {"index_twice", "takes an index twice",
       [](auto& p) { last_product(p).source_axes.back() = last_product(p).source_axes.front(); }},
      {"component_too_many", "has an unknown component", [](auto& p) { last_product(p).terms.front().source = 9; }},
      {"table_that_is_made", "a step makes the table",
       [](auto& p) {
         const auto table = std::ranges::find_if(p.arrays, [](const TensorArray& array) { return array.table >= 0; });
         last_product_step(p).target = static_cast<int>(table - p.arrays.begin());
       }},
      {"table_of_another_size", "a table does not fit",
       [](auto& p) {
         for (auto& array : p.arrays)
           if (array.table >= 0) p.matrices[static_cast<std::size_t>(array.table)].values.pop_back();
       }},
      {"unknown_table", "is an unknown table",
       [](auto& p) {
         for (auto& array : p.arrays)
           if (array.table >= 0) array.table = 99;
       }},
      {"not_of_the_cell", "depends on the point",
       [](auto& p) {
         p.steps.insert(p.steps.begin(), {.kind = StepKind::evaluate_cell});
         for (auto& slot : p.output_slots) p.arrays[static_cast<std::size_t>(slot.array)].axes.resize(1);
       }},
      {"stored_nowhere", "a place of a stored number does not exist",
       [](auto& p) {
         p.accesses.back().kind = AccessKind::stored;
         p.accesses.back().places.assign(36, 0);
       }},
      {"stored_in_part", "one place per entry",
       [](auto& p) {
         p.num_stored = 4;
         p.accesses.back().kind = AccessKind::stored;
         p.accesses.back().places.assign(35, 0);
       }},
  };
  return list;
}

class MalformedProducts : public ::testing::TestWithParam<std::size_t> {};

TEST_P(MalformedProducts, AreRefused) {
  const auto& of = product_cases()[GetParam()];
  auto program =
      build_program(pair_input(test::laplace(), Shape::prism, MapKind::isoparametric, Contraction::pointwise));
  ASSERT_EQ(product_complaint(program), "");
  of.spoil(program);
  EXPECT_NE(product_complaint(program).find(of.message), std::string::npos) << product_complaint(program);
}

INSTANTIATE_TEST_SUITE_P(each, MalformedProducts, ::testing::Range<std::size_t>(0, product_cases().size()),
                         [](const auto& number) { return product_cases()[number.param].name; });

} // namespace
} // namespace rafter::kernel
