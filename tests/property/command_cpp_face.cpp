// SPDX-License-Identifier: BSD-3-Clause
// A problem file and the same form in C++ get the same batches, plans and kernels.
#include <gtest/gtest.h>

#include <rafter/discretisation.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/problem_data.hpp>
#include <rafter/problem_forms.hpp>
#include <rafter/rafter.hpp>
#include <rafter/schedule/plan.hpp>

#include <tests/support/planner.hpp>

namespace rafter::test {
namespace {

/// Returns the kernels for the bilinear form of a problem file, as the command generates them.
std::shared_ptr<op::GeneratedForm> by_command(const std::string& text) {
  const auto problem = io::parse_problem(text, "problem.toml");
  const auto mesh = app::make_mesh(problem);
  const auto system = app::make_system(problem, mesh, op::cells_per_batch(""));
  app::ProblemData data(problem, system, system.discretisation->device("host", 1));
  const app::ProblemForms forms(problem, *mesh, {system.spaces.begin(), system.spaces.end()}, data);
  return op::build(forms.bilinear(), 2, system, planned());
}

/// Returns the kernels of a form in C++, as the constructor of Operator generates them.
std::shared_ptr<op::GeneratedForm> by_cpp(const Form& form) {
  return op::build(form, 2, op::systems_of(form), planned());
}

void expect_equal(const op::GeneratedForm& command, const op::GeneratedForm& cpp) {
  EXPECT_EQ(command.system.batches->cells_per_batch, cpp.system.batches->cells_per_batch);
  EXPECT_EQ(command.system.batches->patch_width, cpp.system.batches->patch_width);
  ASSERT_EQ(command.blocks.size(), cpp.blocks.size());
  for (std::size_t p = 0; p < command.blocks.size(); ++p) {
    const auto &a = command.blocks[p], &b = cpp.blocks[p];
    SCOPED_TRACE(a.kernel.info.name);
    EXPECT_EQ(a.kernel.info.name, b.kernel.info.name);
    EXPECT_EQ(schedule::to_string(a.kernel.info.plan), schedule::to_string(b.kernel.info.plan));
    EXPECT_EQ(a.kernel.info.source, b.kernel.info.source);
    EXPECT_EQ(a.kernel.programs.setup.source, b.kernel.programs.setup.source);
    EXPECT_TRUE(std::ranges::equal(a.cells.cells, b.cells.cells)) << "the order of the cells";
  }
}

TEST(Faces, PatchesOfLowDegree) {
  for (const int degree : {1, 2}) {
    const auto command =
        by_command("[mesh]\nbox = { cells = [16, 16, 16] }\n[fields.u]\ndegree = " + std::to_string(degree) +
                   "\n[forms]\na = \"inner(grad(u), grad(v))*dx + u*v*ds(1)\"\n");
    const FunctionSpace V(make_box({.cells = {16, 16, 16}}), {.degree = degree});
    const auto [u, v] = arguments(V);
    const auto cpp = by_cpp(inner(grad(u), grad(v)) * dx + u * v * ds(1));
    EXPECT_EQ(cpp->system.batches->patch_width, 2);
    expect_equal(*command, *cpp);
  }
}

TEST(Faces, WideBatchesOfHighDegree) {
  const auto command = by_command("[mesh]\nbox = { cells = [3, 3, 3], shape = \"tetrahedron\" }\n[fields.u]\n"
                                  "degree = 5\n[forms]\na = \"inner(grad(u), grad(v))*dx\"\n");
  const FunctionSpace V(make_box({.cells = {3, 3, 3}, .shape = "tetrahedron"}), {.degree = 5});
  const auto [u, v] = arguments(V);
  const auto cpp = by_cpp(inner(grad(u), grad(v)) * dx);
  EXPECT_EQ(cpp->system.batches->cells_per_batch, 16);
  expect_equal(*command, *cpp);
}

TEST(Faces, FieldsOfSeveralDegreesInAnyOrder) {
  const auto command = by_command("[mesh]\nbox = { cells = [24, 24] }\n[fields.w]\ndegree = 2\ncomponents = 2\n"
                                  "[fields.p]\ndegree = 1\n[forms]\n"
                                  "a = \"(inner(grad(w), grad(v_w)) - p*div(v_w) - div(w)*v_p)*dx\"\n");
  const Discretisation on(make_box({.cells = {24, 24}, .size = {1, 1}, .shape = "quadrilateral"}), {.degree = 2});
  const FunctionSpace Q(on, {.degree = 1, .name = "p"}), V(Q, {.degree = 2, .components = 2, .name = "w"});
  const auto [w, v] = arguments(V);
  const auto [p, q] = arguments(Q);
  const auto cpp = by_cpp((inner(grad(w), grad(v)) - p * div(v) - div(w) * q) * dx);
  expect_equal(*command, *cpp);
}

TEST(Faces, SpacesOfTwoDiscretisationsAreRefused) {
  const auto mesh = make_box({.cells = {2, 2}, .size = {1, 1}, .shape = "quadrilateral"});
  const FunctionSpace V(mesh, {.degree = 2}), Q(mesh, {.degree = 1, .name = "q"});
  const auto [u, v] = arguments(V);
  const auto [p, q] = arguments(Q);
  try {
    by_cpp((u * v + p * q) * dx);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'q'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("discretisation"), std::string::npos) << error.what();
  }
}

TEST(Faces, BoxesAreUnitBoxesOfTheShapeOfTheirDimension) {
  const std::array shapes{Shape::interval, Shape::quadrilateral, Shape::hexahedron};
  for (int dim = 1; dim <= 3; ++dim) {
    const auto mesh = make_box({.cells = std::vector<int>(static_cast<std::size_t>(dim), 4)});
    ASSERT_EQ(mesh.groups.size(), 1u);
    EXPECT_EQ(mesh.groups[0].shape, shapes[static_cast<std::size_t>(dim) - 1]);
    EXPECT_NEAR(mesh::check_validity(mesh).volume, 1, 1e-14);
  }
  EXPECT_EQ(make_box({.cells = {4, 4}}).num_cells(), 16);
  EXPECT_EQ(make_box({}).num_cells(), 512);
}

TEST(Faces, TagsAndValuesStandInBraces) {
  const auto mesh = make_box({.cells = {4, 4}});
  const FunctionSpace V(mesh, {.degree = 2}), W(V, {.components = 2, .name = "w"});
  const auto left = mesh.tags_of("xmin", 1), right = mesh.tags_of("xmax", 1);
  const auto value = [](const FieldCondition& condition, std::size_t components) {
    std::vector<double> result(components, -1);
    condition.condition.value(std::array{0.25, 0.5}, result);
    return result;
  };
  using Values = std::vector<double>;
  EXPECT_EQ(V.fixed({1}, {0}).condition.tags, std::vector<std::int32_t>{1});
  EXPECT_EQ(V.fixed({0}, {0}).condition.tags, std::vector<std::int32_t>{0});
  EXPECT_EQ(V.fixed({3, 1}, {0}).condition.tags, (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(V.fixed({"xmin"}, 0).condition.tags, left);
  EXPECT_EQ(V.fixed({"xmax", "xmin"}, 0).condition.tags, (std::vector{right[0], left[0]}));
  EXPECT_EQ(V.fixed(left, 0).condition.tags, left);
  EXPECT_TRUE(V.fixed({}, {0}).condition.tags.empty());
  EXPECT_THROW(V.fixed({"nowhere"}, 0), InputError);
  EXPECT_EQ(value(V.fixed({1}, {0}), 1), Values{0});
  EXPECT_EQ(value(V.fixed({1}, {2.5}), 1), Values{2.5});
  EXPECT_EQ(value(V.fixed({1}, 3), 1), Values{3});
  EXPECT_EQ(value(W.fixed({1}, {0, 4}), 2), (Values{0, 4}));
  EXPECT_EQ(value(W.fixed({1}, {0, 0.5}), 2), (Values{0, 0.5}));
  EXPECT_THROW(W.fixed({1}, {0}), InputError);
  EXPECT_THROW(W.fixed({1}, 0), InputError);
  const auto x = spatial_coordinate(2);
  const auto of_point = [](std::span<const double> at, std::span<double> values) { values[0] = at[0]; };
  EXPECT_EQ(value(V.fixed({1}, of_point), 1), Values{0.25});
  EXPECT_EQ(value(V.fixed({1}, SpatialFunction(of_point)), 1), Values{0.25});
  EXPECT_EQ(value(V.fixed({1}, x(1) * x(1)), 1), Values{0.25});
  const auto tags = [](const form::MeasureSum& measure) { return measure.measures().at(0).tags; };
  using Names = std::vector<std::string>;
  EXPECT_EQ(tags(ds({1})), Names{"1"});
  EXPECT_EQ(tags(ds({0})), Names{"0"});
  EXPECT_EQ(tags(dx({"steel"})), Names{"steel"});
  EXPECT_EQ(tags(ds({"a", "b"})), (Names{"a", "b"}));
  EXPECT_EQ(tags(ds({1, 2})), (Names{"1", "2"}));
  EXPECT_EQ(tags(ds(0)), Names{"0"});
  Vector values(op::device_of({}, *V->discretisation()), 3);
  values.host_overwrite()[0] = 7;
  const NonlinearOptions options{.data = {{"k", std::move(values)}}};
  EXPECT_EQ(options.data.at(0).name, "k");
  EXPECT_EQ(options.data.at(0).values->host_read()[0], 7);
}

TEST(Faces, LevelsOfMultigrid) {
  auto problem = io::parse_problem("[mesh]\nbox = { cells = [8, 8], shape = \"triangle\" }\n[fields.u]\ndegree = 4\n"
                                   "[forms]\na = \"inner(grad(u), grad(v))*dx\"\n"
                                   "[[dirichlet]]\ntags = \"all\"\nvalue = 0.0\n"
                                   "[solver]\npreconditioner = \"multigrid\"\n",
                                   "problem.toml");
  const auto of_command = app::make_meshes(problem);
  const auto meshes = box_generations({.cells = {8, 8}, .shape = "triangle"});
  ASSERT_EQ(of_command.meshes.size(), meshes.meshes.size());
  EXPECT_EQ(of_command.finest()->points, meshes.finest()->points);
  const FunctionSpace V(meshes, {.degree = 4});
  const auto [u, v] = arguments(V);
  const Operator A(inner(grad(u), grad(v)) * dx, planned({.dirichlet = {V.fixed({}, {0.0})}}));
  const auto hierarchy = make_hierarchy(A, {.meshes = meshes});
  ASSERT_EQ(hierarchy->coarser.size(), 1u); // the 289 unknowns of degree 2 are few
  EXPECT_EQ(hierarchy->finest_name, "degree 4 on 128 cells");
  const auto b = assemble(v * dx, A);
  const auto by_multigrid = solve(A, b, {.preconditioner = multigrid({.meshes = meshes}), .rtol = 1e-10});
  EXPECT_THROW(solve(A, b, {.preconditioner = multigrid({})}), InputError) << "there are no meshes";
  const auto by_jacobi = solve(A, b, {.rtol = 1e-12});
  ASSERT_TRUE(by_multigrid.is_converged()) << by_multigrid.info.message;
  EXPECT_LE(by_multigrid.info.iterations, 15);
  for (std::size_t i = 0; i < by_jacobi.solution.size(); ++i)
    EXPECT_NEAR(by_multigrid.solution.host_read()[i], by_jacobi.solution.host_read()[i], 1e-9);
}

} // namespace
} // namespace rafter::test
