// SPDX-License-Identifier: BSD-3-Clause
// The orthonormal basis of a triangle by two families of 1D matrices, of which the second depends on the index of the
// first, gives the values and gradients of the dense table, in as many operations as are published.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include <rafter/base/error.hpp>
#include <rafter/element/basis.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/kernel/collapsed.hpp>
#include <rafter/kernel/program_steps.hpp>

namespace rafter::kernel {
namespace {

using element::Shape;

struct Collapsed {
  TensorProgram program;
  std::vector<double> points; ///< in the reference triangle, shape (point, axis)
};

/// Adds the axes p and q < degree + 1 - p of modes.
std::pair<int, int> add_modes(TensorProgram& program, int degree) {
  const int p = static_cast<int>(program.axes.size());
  program.axes.push_back({.name = "p", .kind = AxisKind::dof, .extent = degree + 1});
  Axis dependent{.name = "q", .kind = AxisKind::dof, .extent = degree + 1, .outer = {p}};
  for (int i = 0; i <= degree; ++i) dependent.extents.push_back(degree + 1 - i);
  program.axes.push_back(dependent);
  return {p, p + 1};
}

/// Points (eta_0, eta_1) with these coordinates along both axes, and weights of 1.
void add_collapsed_points(Collapsed& to, std::span<const double> line) {
  for (const double x : line)
    for (const double y : line) {
      to.program.points.insert(to.program.points.end(), {x, y});
      to.points.insert(to.points.end(), {(1 + x) * (1 - y) / 2 - 1, y});
    }
  to.program.weights.assign(line.size() * line.size(), 1.0);
}

/// A field whose dofs are the modes, in the order of element::tabulate_orthonormal.
FieldUse modes_of(int degree) {
  return {.kind = AtomKind::reference_trial,
          .element = element::make_element(element::Family::lagrange, Shape::triangle, degree)};
}
std::vector<int> places_of_modes(int degree) {
  std::vector<int> places(static_cast<std::size_t>((degree + 1) * (degree + 2) / 2));
  for (int p = 0; p <= degree; ++p)
    for (int q = 0; p + q <= degree; ++q)
      places[static_cast<std::size_t>(collapsed_triangle_function(p, q))] = p * (degree + 1) + q;
  return places;
}

/// Stores the value and the gradient, made of derivatives along eta, at every point. `arrays`: of the value and both
/// derivatives.
void add_outputs(TensorProgram& program, const std::array<int, 3>& arrays) {
  auto& graph = program.function.graph;
  std::array<NodeId, 3> values{};
  for (std::size_t slot = 0; slot < 3; ++slot) {
    const Atom atom{AtomKind::reference_trial, 0, 0, static_cast<int>(slot) - 1};
    program.input_slots.push_back({atom, {arrays[slot], 0, 0}});
    values[slot] = graph.atom(atom);
  }
  const NodeId one = graph.constant(1), x = graph.atom({AtomKind::reference_coordinate, 0, 0, 0});
  const NodeId rest = graph.sub(one, graph.atom({AtomKind::reference_coordinate, 1, 0, 0}));
  const NodeId along_0 = graph.div(values[1], rest);
  values[1] = graph.mul(graph.constant(2), along_0);
  values[2] = graph.add(values[2], graph.mul(graph.add(one, x), along_0));
  for (int slot = 0; slot < 3; ++slot) {
    program.function.outputs.push_back(
        {OutputKind::stored_point, 0, slot, -1, -1, values[static_cast<std::size_t>(slot)]});
    program.output_slots.emplace_back();
  }
}

Collapsed collapsed(int degree, int num_points) {
  Collapsed result;
  auto& program = result.program;
  const auto line = element::make_quadrature_with_points(Shape::interval, num_points).points;
  program.tdim = 2;
  program.contraction = Contraction::dense;
  program.function.shape = Shape::triangle;
  ProgramSteps steps(program);
  const auto [p, q] = add_modes(program, degree);
  const int i = steps.add_axis(AxisKind::point, num_points, 0), j = steps.add_axis(AxisKind::point, num_points, 1);
  program.point_axes = {i, j};
  add_collapsed_points(result, line);
  program.inputs = {modes_of(degree)};
  const int modes = steps.add_array("u", 1, {p, q});
  steps.read(steps.add_access({.places = places_of_modes(degree)}), modes);
  const auto tables = collapsed_triangle(degree, line, line);
  const auto second = [&, index = p, cols = q](std::size_t derivative, const char* name) {
    std::vector<int> members;
    for (const auto& matrix : tables.second[derivative]) members.push_back(steps.add_matrix(matrix));
    return steps.contract(modes, {.rows = {j}, .cols = {cols}, .members = members, .index = {index}}, name);
  };
  const auto first = [&, cols = p](std::size_t derivative, int source, const char* name) {
    const int matrix = steps.add_matrix(tables.first[derivative]);
    return steps.contract(source, {.rows = {i}, .cols = {cols}, .members = {matrix}}, name);
  };
  const int of_values = second(0, "f");
  const int value = first(0, of_values, "v"), along_0 = first(1, of_values, "v_0"),
            along_1 = first(0, second(1, "f_1"), "v_1");
  steps.evaluate();
  add_outputs(program, {value, along_0, along_1});
  program.verify();
  return result;
}

TEST(CollapsedTriangle, HasTheValuesAndGradientsOfTheDenseTable) {
  for (int degree = 1; degree <= 6; ++degree) {
    const auto [program, points] = collapsed(degree, degree + 2);
    const auto table = element::tabulate_orthonormal(Shape::triangle, degree, points);
    CellData data;
    auto& modes = data.inputs.emplace_back();
    for (int n = 0; n < table.num_dofs; ++n) modes.push_back(std::sin(2.0 * n + 1));
    const auto found = interpret(program, data).stored_point;
    ASSERT_EQ(std::ssize(found), 3 * table.num_points);
    for (int point = 0; point < table.num_points; ++point)
      for (int d = 0; d < 3; ++d) {
        double expected = 0;
        for (int n = 0; n < table.num_dofs; ++n) expected += table(d, point, n) * modes[static_cast<std::size_t>(n)];
        EXPECT_NEAR(found[static_cast<std::size_t>(3 * point + d)], expected, 1e-11 * (1 + std::fabs(expected)))
            << degree << " " << point << " " << d;
      }
  }
}

/// Operations of the interpolation alone, two per product: 54, 144, 300, .. for P + 2 points along each axis.
TEST(CollapsedTriangle, TakesThePublishedOperations) {
  constexpr std::array published{54, 144, 300, 540, 882, 1344};
  for (int degree = 1; degree <= 6; ++degree) {
    auto program = collapsed(degree, degree + 2).program;
    std::erase_if(program.steps, [&](const Step& step) {
      if (step.kind != StepKind::contract) return true;
      const auto& name = program.array(step.target).name;
      return name != "f" && name != "v";
    });
    EXPECT_EQ(count_contraction_flops(program), published[static_cast<std::size_t>(degree - 1)]) << degree;
  }
}

TEST(CollapsedTriangle, PrintsItsAxesAndFamilies) {
  const auto text = collapsed(2, 4).program.to_string();
  for (const char* line : {"axis q of p [3, 2, 1]", "contract f = B0_0(p)[j, q] . u", "[i, p] . f"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
}

TEST(CollapsedTriangle, IsRefusedWhereAxesOrFamiliesDoNotFit) {
  const auto expect = [](const char* message, const std::function<void(TensorProgram&)>& spoil) {
    auto program = collapsed(2, 4).program;
    spoil(program);
    std::string found;
    try {
      program.verify();
    } catch (const base::InternalError& error) {
      found = error.what();
    }
    EXPECT_NE(found.find(message), std::string::npos) << message << " / " << found;
  };
  expect("one extent for each outer index", [](auto& p) { p.axes[1].extents.pop_back(); });
  expect("another largest extent", [](auto& p) { p.axes[1].extents[0] = 2; });
  expect("stands before one that it depends on", [](auto& p) { std::swap(p.arrays[0].axes[1], p.arrays[0].axes[2]); });
  expect("one matrix for each value of its index", [](auto& p) { p.families[0].members.pop_back(); });
  expect("the index of a family is none of", [](auto& p) {
    p.axes.push_back({.name = "other", .kind = AxisKind::dof, .extent = 3});
    p.families[0].index = {static_cast<int>(p.axes.size()) - 1};
  });
}

} // namespace
} // namespace rafter::kernel
