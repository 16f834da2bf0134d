// SPDX-License-Identifier: BSD-3-Clause
// Kernels of cell matrices compute the columns that the action gives for unit vectors: on every shape and map, for
// several fields and facets.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/matrix/cell_sum.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_laws.hpp>

namespace rafter::test {
namespace {

std::vector<double> entries_of(const op::GeneratedMatrix& built) {
  auto& device = *built.cells->options.device;
  const op::CellUnknowns unknowns(built.system, device, built.coupling.block_size());
  const op::SlicedPattern pattern(unknowns, built.coupling, built.system.size(), 4, device);
  const auto entries = op::CellSum(built, unknowns, pattern).run();
  return {entries.begin(), entries.end()};
}

/// Compares the entries by kernels of cell matrices with those by unit vectors.
void expect_equal_ways(const Problem& problem, const form::Form& form, const std::shared_ptr<device::Device>& device,
                       double bound, const op::QuadratureOptions& quadrature = {}) {
  const auto lowered = form::lower(form);
  const auto system = problem.system();
  const op::KernelOptions options{.device = device, .quadrature = quadrature, .planner = planner()};
  const auto built = op::build_matrix(lowered, system, options);
  ASSERT_EQ(built->cells->purpose, op::Purpose::matrix);
  auto by_units = *built;
  by_units.cells = op::build_cell_action(lowered, system, options);
  auto forms = std::vector{built->cells, by_units.cells};
  op::compile(forms);
  const auto expected = entries_of(by_units);
  EXPECT_GT(largest(expected), 0);
  EXPECT_LE(distance(entries_of(*built), expected), bound * largest(expected));
}

class CellMatrices : public ::testing::TestWithParam<std::string> {};

TEST_P(CellMatrices, AsTheirLoopProgramsMean) {
  const auto device = std::make_shared<InterpreterDevice>();
  for (auto& mesh : {box(GetParam(), 2), scrambled(curved_box(GetParam(), 1), 5)}) {
    Problem problem(mesh, 1);
    SCOPED_TRACE(problem.mesh().source);
    problem.with("kappa", 0.7);
    for (const char* text :
         {"inner(grad(u), grad(v))*dx", "((1 + x[0])*inner(grad(u), grad(v)) + u.dx(0)*v)*dx + kappa*u*v*ds((1, 2))"})
      expect_equal_ways(problem, problem.form(text), device, rounding(1));
  }
}

TEST_P(CellMatrices, OfFieldsOfDifferentDegreesAndComponents) {
  const auto device = device::make_device("host", 2);
  mesh::Mesh mesh = curved_box(GetParam(), 2);
  const int dim = mesh.gdim;
  Problem problem(mesh, {{.degree = 2, .components = dim, .name = "w"}, {.degree = 1, .name = "p"}});
  const std::string div = dim == 1 ? "[0].dx(0)" : "", head = dim == 1 ? "" : "div(", tail = dim == 1 ? "" : ")";
  const auto divergence = [&](const std::string& w) { return dim == 1 ? w + div : head + w + tail; };
  expect_equal_ways(problem,
                    problem.form("((2 + x[0])*inner(grad(w), grad(v_w)) - p*" + divergence("v_w") + " - 2*v_p*" +
                                 divergence("w") + ")*dx + p*v_p*ds(1) + w[0]*v_p*ds(2)"),
                    device, rounding(2), {.degree = 3});
  expect_equal_ways(problem, problem.form("v_p*" + divergence("w") + "*dx"), device, rounding(2), {.degree = 3});
}

TEST_P(CellMatrices, CompiledOnThreads) {
  Problem problem(scrambled(curved_box(GetParam(), 1, 5), 5), 2, 2);
  problem.with("kappa", 0.7);
  expect_equal_ways(problem,
                    problem.form("(inner(grad(u), grad(v)) + kappa*(u[0] + u[1])*(v[0] - v[1]))*dx + u[0]*v[1]*ds"),
                    device::make_device("host", 3), rounding(2));
}

INSTANTIATE_TEST_SUITE_P(every_shape, CellMatrices, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(CellMatricesOf, FormsOnTaggedCellsWithPointsInTheNodes) {
  Problem problem(two_material_box("hexahedron"), 2);
  problem.with("kappa", form::by_tag("kappa", {{"1", 2.0}, {"2", 0.25}}));
  expect_equal_ways(problem, problem.form("kappa*inner(grad(u), grad(v))*dx + 3*u*v*dx(2)"),
                    std::make_shared<InterpreterDevice>(), rounding(2),
                    {.kind = element::QuadratureKind::gll, .points = 3, .degree = {}});
}

TEST(CellMatricesOf, HighDegreesAreLeftToUnitVectors) {
  Problem problem(box("tetrahedron", 1), 7);
  const op::KernelOptions options{.device = std::make_shared<InterpreterDevice>(), .planner = planner()};
  const auto form = form::lower(problem.form("(1 + x[0])*inner(grad(u), grad(v))*dx"));
  EXPECT_EQ(op::build_matrix(form, problem.system(), options)->cells->purpose, op::Purpose::action);
  const auto constant = form::lower(problem.form("inner(grad(u), grad(v))*dx")); // the form has one table of integrals
  EXPECT_EQ(op::build_matrix(constant, problem.system(), options)->cells->purpose, op::Purpose::matrix);
}

} // namespace
} // namespace rafter::test
