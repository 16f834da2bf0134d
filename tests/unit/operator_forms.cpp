// SPDX-License-Identifier: BSD-3-Clause
// Gather, kernel and scatter of an operator together equal the sum of cell contributions that are computed point by
// point, on every shape, for every mapping, compiled and interpreted.
#include <gtest/gtest.h>

#include <set>

#include <rafter/base/error.hpp>
#include <rafter/device/host/host_device.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/coupling.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/space/function_space.hpp>

#include "../support/cell_reference.hpp"
#include "../support/device_folders.hpp"
#include "../support/interpreter_device.hpp"
#include "../support/operator_problems.hpp"

namespace {

using namespace rafter;

struct Stated {
  test::Problem problem;
  form::Form form;
};

Stated make_problem(mesh::Mesh mesh, int degree, int components, const std::string& text) {
  test::Problem problem(std::move(mesh), degree, components);
  problem.with("kappa", 0.7);
  auto form = problem.form(text);
  return {std::move(problem), std::move(form)};
}

/// Returns A x, summed over cells with the quadrature rules of the degrees that the kernels report.
std::vector<double> long_way(const Stated& stated, std::span<const double> x, const op::QuadratureOptions& quadrature) {
  const auto lowered = form::lower(stated.form);
  const auto& mesh = stated.problem.mesh();
  const auto& space = *stated.problem.space();
  std::vector<double> y(static_cast<std::size_t>(space.num_local()), 0.0);
  const int components = space.num_components();
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(mesh.groups.size()); ++g) {
    const auto& group = mesh.groups[static_cast<std::size_t>(g)];
    const auto element = space.element(group.shape);
    const auto rule = element::is_tensor(group.shape)
                          ? element::make_quadrature_with_points(group.shape, *quadrature.points, quadrature.kind)
                          : element::make_quadrature(group.shape, 2 * *quadrature.points - 1);
    for (std::int32_t c = 0; c < group.num_cells(); ++c) {
      test::TestCell cell{mesh::geometry_element(group), {}, mesh::MapKind::isoparametric};
      const int nodes = cell.geometry->num_dofs();
      for (int i = 0; i < nodes; ++i)
        for (int a = 0; a < mesh.gdim; ++a)
          cell.nodes.push_back(mesh.points[static_cast<std::size_t>(
              group.nodes()[static_cast<std::size_t>(c * nodes + i)] * mesh.gdim + a)]);
      std::vector<std::int32_t> entries(static_cast<std::size_t>(components * element->num_dofs()));
      const auto at = space.position(g, c);
      space.cell_dofs(at.block, at.batch, at.cell, entries);
      test::CellValues values;
      values.parameters.assign(lowered.parameters.size(), 0.7);
      for (const auto entry : entries) values.u.push_back(x[static_cast<std::size_t>(entry)]);
      const auto local = test::reference_action(lowered.integrals[0], cell, *element, components, rule.points,
                                                rule.weights, -1, values);
      for (std::size_t i = 0; i < entries.size(); ++i) y[static_cast<std::size_t>(entries[i])] += local[i];
    }
  }
  return y;
}

void expect_close(std::span<const double> found, std::span<const double> expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double scale = 0, worst = 0;
  for (const double value : expected) scale = std::max(scale, std::fabs(value));
  for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::fabs(found[i] - expected[i]));
  EXPECT_LE(worst, tolerance * scale);
}

const std::vector<std::string> plans{"mapping=plain",
                                     "mapping=simd_cells",
                                     "mapping=simd_cells contraction=per-derivative",
                                     "mapping=simd_cells contraction=slice-wise",
                                     "mapping=simd_cells even_odd=0 factors=store",
                                     "mapping=simd_cells contraction=dense",
                                     "mapping=simd_points"};

TEST(OperatorPlans, name_every_mapping_of_the_host) {
  for (const auto& name : schedule::mapping_names(schedule::Target()))
    EXPECT_TRUE(std::any_of(plans.begin(), plans.end(), [&](const std::string& plan) {
      return schedule::parse_plan(plan)[schedule::key::mapping].name == name;
    })) << name;
}

class OperatorOnShape : public ::testing::TestWithParam<std::string> {
protected:
  static void check(const Stated& stated, op::OperatorOptions options, double tolerance) {
    const op::Operator A(stated.form, test::planned(options));
    auto x = A.make_vector(), y = A.make_vector();
    test::fill_random(x, 3);
    test::fill_random(y, 4); // y is overwritten, so that its values must not matter
    A.apply(x, y);
    const auto expected = long_way(stated, x.host_read(), options.quadrature);
    expect_close(y.host_read(), expected, tolerance);
    A.apply_add(x, y);
    std::vector<double> twice(expected);
    for (double& value : twice) value *= 2;
    expect_close(y.host_read(), twice, tolerance);
  }
};

TEST_P(OperatorOnShape, compiled_kernels_equal_the_long_way) {
  const std::string& shape = GetParam();
  for (const int degree : {1, 2, 3})
    for (const auto& plan : plans) {
      SCOPED_TRACE(plan + " degree " + std::to_string(degree));
      op::OperatorOptions options = test::planned();
      options.threads = 2;
      options.plan = plan;
      options.quadrature.points = degree + 2;
      const double tolerance = 1e-13 * (degree + 1) * (degree + 1);
      check(make_problem(test::box(shape), degree, 0, "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + kappa*u*v)*dx"),
            options, tolerance);
    }
}

TEST_P(OperatorOnShape, curved_and_turned_cells_with_vector_fields) {
  const std::string& shape = GetParam();
  const int dim = test::box_dimension(shape);
  for (const int degree : {2, 3}) {
    op::OperatorOptions options = test::planned();
    options.threads = 2;
    options.quadrature.points = degree + 1;
    check(make_problem(test::curved_box(shape, 2), degree, dim, test::elasticity_form(dim)), options, 1e-12);
  }
}

TEST_P(OperatorOnShape, interpreted_programs_equal_the_long_way) {
  const std::string& shape = GetParam();
  const int dim = test::box_dimension(shape);
  for (const auto& plan : {plans[0], plans[1]}) {
    SCOPED_TRACE(plan);
    op::OperatorOptions options = test::planned();
    options.shared_device = std::make_shared<test::InterpreterDevice>();
    options.plan = plan;
    options.quadrature.points = 3;
    check(make_problem(test::box(shape), 2, dim, test::elasticity_form(dim)), options, 1e-12);
  }
}

TEST_P(OperatorOnShape, checked_device_finds_no_stale_or_foreign_access) {
  const std::string& shape = GetParam();
  const int dim = test::box_dimension(shape);
  op::OperatorOptions options = test::planned();
  options.device = "checked";
  options.quadrature.points = 3;
  check(make_problem(test::curved_box(shape, 2), 2, dim, test::elasticity_form(dim)), options, 1e-12);
}

TEST(CompiledTogether, FormsShareOneCompilationAndEqualKernels) {
  const test::Folder folder;
  op::OperatorOptions options = test::planned();
  options.shared_device = std::make_shared<device::HostDevice>(2, device::CacheDirectory(folder.path()));
  const auto [problem, stated] = make_problem(test::box("quadrilateral"), 2, 0, "kappa*u*v*dx + u*v*ds(1)");
  const auto system = problem.system();
  const std::vector<std::shared_ptr<op::GeneratedForm>> built{
      op::build(stated, 2, system, options), op::build(stated, 2, system, options),
      op::build(stated, 2, system, options, op::Purpose::diagonal)};
  EXPECT_EQ(folder.count(".so"), 0U);
  EXPECT_THROW(op::FormKernels{built[0]}, base::InternalError);
  op::compile(built);
  std::set<const device::Program*> programs;
  for (const auto& form : built)
    for (const auto& block : form->blocks) {
      programs.insert(block.program.get());
      if (block.setup_program != nullptr) programs.insert(block.setup_program.get());
    }
  EXPECT_EQ(folder.count(".so"), programs.size());
  EXPECT_EQ(built[0]->blocks[0].program, built[1]->blocks[0].program);

  const op::Operator together(built[0], space::Constraints{}, built[2]), alone(stated, system, options);
  device::Vector x = alone.make_vector(), y = alone.make_vector(), expected = alone.make_vector();
  test::fill_random(x, 1);
  alone.apply(x, expected);
  together.apply(x, y);
  EXPECT_TRUE(std::ranges::equal(y.host_read(), expected.host_read()));
  alone.diagonal(expected);
  together.diagonal(y);
  EXPECT_TRUE(std::ranges::equal(y.host_read(), expected.host_read()));
  EXPECT_EQ(folder.count(".so"), programs.size()); // no kernel had to be compiled again
}

TEST(GeneratedForms, CopiesHaveIntegralsOfTheirOwn) {
  const auto stated =
      make_problem(test::box("quadrilateral"), 2, 0, "(inner(grad(u), grad(v)) + kappa*u*v)*dx + u*v*ds(1)");
  const auto options = test::planned({.shared_device = std::make_shared<test::InterpreterDevice>()});
  auto original = op::build(stated.form, 2, stated.problem.system(), options);
  const double expected = op::count_entries(original->system, op::Coupling(*original, original->system));
  const op::GeneratedForm copy = *original;
  original.reset();
  for (const auto& block : copy.blocks)
    for (const auto& part : op::integral_parts(copy.form, block)) {
      EXPECT_GE(part.integral, copy.form.integrals.data());
      EXPECT_LT(part.integral, copy.form.integrals.data() + copy.form.integrals.size());
    }
  EXPECT_EQ(op::count_entries(copy.system, op::Coupling(copy, copy.system)), expected);
}

INSTANTIATE_TEST_SUITE_P(every_shape, OperatorOnShape, ::testing::ValuesIn(test::box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
