// SPDX-License-Identifier: BSD-3-Clause
// Kernels of elements and rules that differ from axis to axis compute what their tensor programs mean.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/space/index_tables.hpp>
#include <rafter/space/layout.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::test {
namespace {

using element::Shape;
using kernel::Contraction;

constexpr int cells = 8;

/// A program of one batch of cells that share no unknown, and what it runs on.
struct Batch {
  kernel::TensorProgram program;
  space::ElementLayout layout;
  std::vector<double> input, output, map, parameters{0.7};
};

Batch make_batch(Shape shape, const std::string& text, int components, Contraction contraction) {
  constexpr std::array degrees{1, 3, 2}, num_points{3, 4, 3};
  const auto dim = static_cast<std::size_t>(element::dimension(shape));
  const auto element = element::make_tensor_element(shape, std::span(degrees).first(dim));
  std::vector<element::Rule1D> lines;
  for (std::size_t axis = 0; axis < dim; ++axis) {
    const auto line = element::make_quadrature_with_points(Shape::interval, num_points[axis]);
    lines.push_back({line.points, line.weights});
  }
  kernel::ProgramInput input;
  input.function = qfunction(text, shape, mesh::MapKind::affine, components);
  input.fields.quadrature = element::product_quadrature(shape, 5, lines);
  const int num_components = std::max(components, 1);
  input.fields.inputs = {{kernel::AtomKind::reference_trial, 0, num_components, element}};
  input.fields.outputs = {{kernel::AtomKind::reference_test, 0, num_components, element}};
  input.contraction = contraction;
  Batch result;
  result.program = kernel::build_program(input);
  result.layout = space::make_broken_layout(element);
  const auto size = static_cast<std::size_t>(num_components * element->num_dofs() * cells);
  for (std::size_t i = 0; i < size; ++i) result.input.push_back(std::sin(3.0 * static_cast<double>(i)));
  result.output.assign(size, 0.0);
  for (std::size_t i = 0; i < (dim + 1) * dim * cells; ++i)
    result.map.push_back(std::cos(static_cast<double>(i)) + (i / cells % (dim + 1) == 0 ? 2 : 0));
  return result;
}

/// Runs the kernel that a plan makes of the batch.
std::vector<double> run(Batch& batch, const std::string& text) {
  auto plan = schedule::parse_plan(text);
  batch.program.batches = {.cells_per_batch = cells, .patterns = {&batch.layout}};
  schedule::LoweringInput input;
  input.program = &batch.program;
  const auto loops = schedule::lower(input, plan);
  std::map<std::string, std::vector<std::int32_t>> integers{{schedule::role::mode, {0, 0}},
                                                            {schedule::role::num_active, {cells}},
                                                            {schedule::role::data_rows, {0}},
                                                            {space::role::interior_starts, {0}},
                                                            {space::role::first_touch, {0, 0}}};
  std::map<std::string, std::vector<double>*> reals{{schedule::role::input_vector, &batch.input},
                                                    {schedule::role::output_vector, &batch.output},
                                                    {schedule::role::map, &batch.map},
                                                    {schedule::role::parameters, &batch.parameters},
                                                    {schedule::role::points, &batch.program.points},
                                                    {schedule::role::weights, &batch.program.weights}};
  auto tables = schedule::packed_tables(batch.program, plan);
  std::vector<schedule::Argument> arguments;
  for (const auto& argument : loops.arguments()) {
    if (argument.role == schedule::role::matrix)
      arguments.push_back({.reals = tables[static_cast<std::size_t>(argument.index)], .integers = {}});
    else if (argument.type == schedule::Type::integer)
      arguments.push_back({.reals = {}, .integers = integers.at(argument.role)});
    else
      arguments.push_back({.reals = *reals.at(argument.role), .integers = {}});
  }
  schedule::interpret(loops, arguments, 0, 1);
  return batch.output;
}

TEST(AnisotropicKernels, AgreeWithDenseTables) {
  for (const Shape shape : {Shape::quadrilateral, Shape::hexahedron})
    for (const auto& [text, components] :
         {std::pair{laplace(), 0}, std::pair{variable_helmholtz(), 0},
          std::pair{elasticity(element::dimension(shape)), element::dimension(shape)}}) {
      auto dense = make_batch(shape, text, components, Contraction::dense);
      const auto expected = run(dense, "contraction=dense mapping=plain");
      double scale = 0;
      for (const double value : expected) scale = std::max(scale, std::fabs(value));
      EXPECT_GT(scale, 0);
      for (const auto contraction :
           {Contraction::per_derivative, Contraction::collocated, Contraction::separable, Contraction::slice_wise})
        for (const char* keys :
             {"mapping=plain", "mapping=simd_cells", "mapping=simd_cells vector_width=4 even_odd=2"}) {
          SCOPED_TRACE(fmt::format("{} {} {}", text, kernel::name(contraction), keys));
          auto batch = make_batch(shape, text, components, contraction);
          const auto found = run(batch, keys);
          for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12 * scale);
        }
    }
}

} // namespace
} // namespace rafter::test
