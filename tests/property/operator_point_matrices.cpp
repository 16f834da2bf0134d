// SPDX-License-Identifier: BSD-3-Clause
// Cell matrices by loops over points and functions, in every order and with derivatives in either place, are those of
// tables of products, on every shape and kind of map.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include <rafter/form/parser.hpp>
#include <rafter/form/scope.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/point_loops.hpp>
#include <rafter/space/function_space.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// Numbers of all cells, group by group, and how many kernels have loops over points and functions.
struct PointwiseResult {
  std::vector<double> values;
  int num_pointwise = 0, num_kernels = 0;
  std::string texts, plans; ///< schedules, plans
};

PointwiseResult pointwise_result(const op::Operator& A) {
  PointwiseResult result;
  const auto& groups = A.system().mesh->groups;
  std::vector<std::vector<double>> values;
  for (int g = 0; g < static_cast<int>(groups.size()); ++g)
    values.emplace_back(static_cast<std::size_t>(groups[static_cast<std::size_t>(g)].num_cells()) *
                            static_cast<std::size_t>(op::num_local_unknowns(A.system(), g)) *
                            static_cast<std::size_t>(op::num_local_unknowns(A.trial_system(), g)),
                        7e77);
  std::vector<op::CellArray<double>> arrays;
  for (int g = 0; g < static_cast<int>(groups.size()); ++g)
    arrays.push_back({.group = g, .values = values[static_cast<std::size_t>(g)]});
  A.cell_matrices(arrays);
  for (const auto& of_group : values) result.values.insert(result.values.end(), of_group.begin(), of_group.end());
  const auto kernels = op::cell_matrix_kernels(A.built());
  for (const auto& block : kernels->blocks) {
    const auto& info = block.kernel.info;
    ++result.num_kernels;
    result.num_pointwise +=
        info.plan[schedule::key::contraction] == kernel::Contraction::pointwise && info.block >= 0 ? 1 : 0;
    result.texts += info.schedule_text;
    result.plans += schedule::to_string(info.plan) + fmt::format(" of {}; ", info.name);
  }
  return result;
}

std::vector<std::string> pointwise_plans() {
  std::vector<std::string> result;
  for (const char* order : {"qss", "sqs", "ssq"})
    for (const char* place : {"ahead", "inside"})
      result.push_back(fmt::format("contraction=pointwise order={} derivatives={} vector_width=4", order, place));
  return result;
}

class PointMatrices : public ::testing::TestWithParam<std::string> {
protected:
  static op::OperatorOptions options_of(const std::string& plan) {
    return planned({.shared_device = std::make_shared<InterpreterDevice>(), .quadrature = {.degree = 3}, .plan = plan});
  }
  static void expect_equal(const Problem& problem, const std::string& text) {
    SCOPED_TRACE(text);
    const auto form = problem.form(text);
    const auto expected = pointwise_result(op::Operator(form, options_of("order=tables")));
    EXPECT_EQ(expected.num_pointwise, 0);
    ASSERT_GT(largest(expected.values), 0);
    for (const auto& plan : pointwise_plans()) {
      SCOPED_TRACE(plan);
      const auto found = pointwise_result(op::Operator(form, options_of(plan)));
      EXPECT_EQ(found.num_pointwise, found.num_kernels) << found.plans;
      EXPECT_LE(distance(found.values, expected.values), 1e-12 * largest(expected.values));
    }
  }
};

TEST_P(PointMatrices, AreThoseOfTablesOfProducts) {
  for (const auto& mesh : {box(GetParam(), 1), scrambled(curved_box(GetParam(), 1), 5)}) {
    const Problem problem(mesh, 1);
    for (const char* text : {"u*v*dx", "inner(grad(u), grad(v))*dx", "(1 + x[0])*inner(grad(u), grad(v))*dx",
                             "((2 + x[0])*inner(grad(u), grad(v)) + u.dx(0)*v + (1 + x[0])*u*v.dx(0) + 3*u*v)*dx"})
      expect_equal(problem, text);
  }
  expect_equal(Problem(scrambled(curved_box(GetParam(), 1), 5), 2), "inner(grad(u), grad(v))*dx");
}

TEST_P(PointMatrices, OfSeveralFieldsAndPairsOfComponents) {
  mesh::Mesh mesh = scrambled(curved_box(GetParam(), 1), 4);
  const int dim = mesh.gdim;
  const Problem problem(mesh, {{.degree = 2, .components = dim, .name = "w"}, {.degree = 1, .name = "p"}});
  const std::string div_w = dim == 1 ? "w[0].dx(0)" : "div(w)", div_v = dim == 1 ? "v_w[0].dx(0)" : "div(v_w)";
  expect_equal(problem, "((2 + x[0])*inner(grad(w), grad(v_w)) - p*" + div_v + " - 2*v_p*" + div_w + ")*dx");
  expect_equal(problem, "(p*" + div_v + " + p.dx(0)*v_w[0])*dx");
}

INSTANTIATE_TEST_SUITE_P(every_shape, PointMatrices,
                         ::testing::Values("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron",
                                           "prism", "pyramid"),
                         [](const auto& shape) { return shape.param; });

/// Values of data fields are interpolated at the points before.
TEST(PointMatricesOf, FormsWithDataFields) {
  const Problem problem(scrambled(curved_box("prism", 1), 3), {{.degree = 1}, {.degree = 2, .name = "c"}});
  const std::shared_ptr<const form::FieldSpace> unknown = problem.space(0);
  form::Scope scope(problem.dim());
  scope.add_arguments({&unknown, 1});
  scope.add_field(problem.space(1));
  const auto form = form::parse_form("(1 + c*c)*inner(grad(u), grad(v))*dx", scope);
  const auto matrices = [&](const std::string& plan) {
    op::Operator A(form, planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan}));
    Vector c(A.device(), static_cast<std::size_t>(problem.space(1)->num_local()));
    fill_random(c, 5);
    A.set("c", c);
    return pointwise_result(A);
  };
  const auto expected = matrices("order=tables");
  ASSERT_GT(largest(expected.values), 0);
  for (const auto& plan : pointwise_plans()) {
    const auto found = matrices(plan);
    EXPECT_EQ(found.num_pointwise, 1) << plan;
    EXPECT_LE(distance(found.values, expected.values), 1e-12 * largest(expected.values)) << plan;
  }
}

/// The loops stand in the order of the plan.
TEST(PointMatricesOf, LoopsHaveTheOrderOfThePlan) {
  const Problem problem(scrambled(box("prism", 1), 5), 1);
  const auto schedule = [&](const std::string& plan) {
    const auto options = planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan});
    return pointwise_result(op::Operator(problem.form("inner(grad(u), grad(v))*dx"), options)).texts;
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(schedule("contraction=pointwise order=qss"), "\nq\n"));
  EXPECT_TRUE(has(schedule("contraction=pointwise order=sqs"), "\nI\n"));
  EXPECT_TRUE(has(schedule("contraction=pointwise order=sqs"), "\n  q\n"));
  EXPECT_TRUE(has(schedule("contraction=pointwise order=ssq"), "\n  I1\n"));
  EXPECT_TRUE(has(schedule("contraction=pointwise order=ssq"), "\n    q\n"));
}

} // namespace
} // namespace rafter::test
