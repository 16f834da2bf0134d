// SPDX-License-Identifier: BSD-3-Clause
// Solves on identified meshes keep the means and rigid motions that the periods leave, on any number of threads.
#include <gtest/gtest.h>

#include <array>
#include <numbers>

#include <rafter/mesh/connected_components.hpp>
#include <rafter/operator/generate/form_compiler.hpp>
#include <rafter/operator/generate/unknowns.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/solve/rigid_modes.hpp>
#include <rafter/solve/solver.hpp>

#include <tests/support/operator_problems.hpp>
#include <tests/support/periodic_meshes.hpp>

namespace rafter::test {
namespace {

using Kind = solvers::NullSpaceCondition::Kind;

class PeriodicSolve : public ::testing::TestWithParam<std::string> {};

TEST_P(PeriodicSolve, OfAPoissonProblemFindsTheSolutionOfTheMeanOnAnyNumberOfThreads) {
  const auto axes = periodic_axes(GetParam());
  Problem problem(periodic_box(GetParam(), 4, axes, 1, 3), 3, 0, {.cells_per_batch = 2, .batches_per_chunk = 1});
  const auto size = box_size(problem.dim());
  const auto axis = static_cast<std::size_t>(axes.back());
  problem.with("omega", 2 * std::numbers::pi / size[axis]);
  const std::string wave = "sin(omega*x[" + std::to_string(axis) + "])";
  std::vector<double> expected;
  for (const int threads : {1, 3}) {
    const auto options = planned({.threads = threads, .plan = "vector_width=2"});
    const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), options);
    Vector b = A.make_vector(), x = A.make_vector();
    op::LinearForm(problem.form("omega*omega*" + wave + "*v*dx"), problem.system(), {.shared_device = A.device()})
        .assemble(b);
    const std::vector<solvers::NullSpaceCondition> conditions{
        {.space = problem.space(), .kind = Kind::mean, .values = {0.25}}};
    const auto null_space = solvers::make_null_space(A, conditions);
    EXPECT_LT(null_space.balance(b), 1e-3) << "the load has next to no part in the constants";
    solvers::SolverOptions solver{.preconditioner = "chebyshev", .control = {.rtol = 1e-11}};
    solver.null_space = null_space.null_space();
    solvers::VectorOps(A.device()).fill(0, x);
    const auto result = solvers::solve(A, b, x, solver);
    EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
    null_space.constrain(x);
    if (expected.empty()) expected = values_of(x);
    EXPECT_EQ(values_of(x), expected) << threads << " threads";
    const op::Functional error(problem.functional("(u - 0.25 - " + wave + ")**2*dx"), problem.system(),
                               {.shared_device = A.device()});
    EXPECT_LT(std::sqrt(std::abs(error(x))), 5e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, PeriodicSolve, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

std::vector<std::string> rigid_modes_of(const mesh::Mesh& mesh) {
  Problem problem(mesh, 2, mesh.gdim);
  problem.with("kappa", 0.7);
  const op::Operator A(problem.form(elasticity_form(mesh.gdim)), planned());
  const auto mass = solvers::build_mass({.space = problem.space(), .kind = Kind::rigid_modes}, planned());
  op::compile(std::array{mass});
  return solvers::ConstrainedOperator(A).modes({.space = problem.space(), .kind = Kind::rigid_modes}, mass).names;
}

TEST(PeriodicRigidModes, AreTranslationsAndTheRotationAboutTheOnlyPeriod) {
  EXPECT_EQ(rigid_modes_of(box("hexahedron", 2)).size(), 6U);
  for (const int axis : {0, 1, 2}) {
    const auto modes = rigid_modes_of(periodic_box("hexahedron", 2, std::array{axis}, 1, 3));
    EXPECT_EQ(modes.size(), 4U) << "axis " << axis;
    EXPECT_EQ(std::ranges::count(modes, "rotations of u"), 1) << "axis " << axis;
  }
  EXPECT_EQ(rigid_modes_of(periodic_box("tetrahedron", 2, std::array{0, 2})).size(), 3U);
  EXPECT_EQ(rigid_modes_of(periodic_box("triangle", 2, std::array{0})).size(), 2U);
}

TEST(PeriodicRigidModes, RotationAboutAPeriodThatIsNoAxis) {
  auto mesh = box("hexahedron", 2);
  // The mesh is sheared along z.
  for (std::size_t i = 0; i < mesh.points.size(); i += 3) mesh.points[i] += 0.4 * mesh.points[i + 2];
  EXPECT_EQ(rigid_modes_of(identified(mesh, std::array{2})).size(), 4U);
}

TEST(PeriodicConnectedComponents, HangTogetherAcrossIdentifiedFacets) {
  auto mesh = box("quadrilateral", 4);
  const auto components_of = [&](const mesh::Mesh& of) {
    auto mask = mesh::make_cell_mask(of, true);
    for (std::int32_t c = 0; c < of.groups[0].num_cells(); ++c)
      // The two columns in the middle are left out.
      if (c % 4 == 1 || c % 4 == 2) mask[0][static_cast<std::size_t>(c)] = 0;
    return mesh::connected_components(of, mask);
  };
  EXPECT_EQ(components_of(mesh).count, 2);
  const auto connected_components = components_of(identified(mesh, std::array{0}));
  EXPECT_EQ(connected_components.count, 1);
  ASSERT_EQ(connected_components.translations.size(), 1U);
  ASSERT_EQ(connected_components.translations[0].size(), 1U);
  EXPECT_NEAR(connected_components.translations[0][0][0], 1, 1e-15);
}

} // namespace
} // namespace rafter::test
