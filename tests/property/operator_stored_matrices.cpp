// SPDX-License-Identifier: BSD-3-Clause
// Products with stored matrices of cells are the action of the form: of every shape, several fields and pairs of
// components, with facets and conditions, symmetric or not, and after data change.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include <rafter/form/language.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/scope.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/schedule/common_keys.hpp>
#include <rafter/space/function_space.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

constexpr const char* stored_plans[] = {"contraction=cell-matrices vector_width=4",
                                        "contraction=cell-matrices mapping=plain",
                                        "contraction=cell-matrices order=sqs derivatives=inside vector_width=4",
                                        "contraction=cell-matrices order=tables vector_width=2"};

op::OperatorOptions stored_options(const std::string& plan) {
  return planned({.shared_device = std::make_shared<InterpreterDevice>(), .quadrature = {.degree = 4}, .plan = plan});
}

/// Numbers that set-up stores for a cell of the first kernel; 0: it multiplies by no stored matrices.
int num_stored_numbers(const op::Operator& A) {
  const auto& kernel = A.built().blocks.front().kernel;
  return kernel.info.plan[schedule::key::contraction] == kernel::Contraction::cell_matrices
             ? kernel.programs.stored_cell_slots
             : 0;
}

std::vector<double> action_of(const op::Operator& A, const Vector& x) {
  Vector y = A.make_row_vector();
  A.apply(x, y);
  return values_of(y);
}

void expect_stored_action(const form::Form& form, const std::vector<op::FieldCondition>& conditions) {
  const auto with = [&](const std::string& plan) {
    auto options = stored_options(plan);
    options.dirichlet = conditions;
    return op::Operator(form, options);
  };
  const auto expected_operator = with("default");
  Vector x = expected_operator.make_column_vector();
  fill_random(x, 3);
  const auto expected = action_of(expected_operator, x);
  ASSERT_GT(largest(expected), 0);
  for (const char* plan : stored_plans) {
    SCOPED_TRACE(plan);
    const auto A = with(plan);
    EXPECT_GT(num_stored_numbers(A), 0);
    Vector own = A.make_column_vector();
    std::ranges::copy(x.host_read(), own.host_write().begin());
    EXPECT_LE(distance(action_of(A, own), expected), 1e-12 * largest(expected));
  }
}

class StoredMatrices : public ::testing::TestWithParam<std::string> {};

TEST_P(StoredMatrices, MultiplyAsTheFormDoes) {
  for (const int degree : {1, 2}) {
    const Problem problem(degree == 1 ? box(GetParam(), 1) : scrambled(curved_box(GetParam(), 1), 5), degree);
    SCOPED_TRACE(fmt::format("{} degree {}", problem.mesh().source, degree));
    const auto zero = dirichlet(problem.space(), [](auto, auto) { return 0.0; }, {1});
    expect_stored_action(problem.form("((1 + x[0])*inner(grad(u), grad(v)) + u*v)*dx"), {zero});
    expect_stored_action(problem.form("((1 + x[0])*inner(grad(u), grad(v)) + u.dx(0)*v)*dx + u*v*ds(2)"), {});
  }
}

TEST_P(StoredMatrices, OfSeveralFieldsAndPairsOfComponents) {
  mesh::Mesh mesh = scrambled(curved_box(GetParam(), 1), 4);
  const int dim = mesh.gdim;
  const std::string div_w = dim == 1 ? "w[0].dx(0)" : "div(w)", div_v = dim == 1 ? "v_w[0].dx(0)" : "div(v_w)";
  const Problem problem(mesh,
                        {{.degree = dim == 3 ? 1 : 2, .components = dim, .name = "w"}, {.degree = 1, .name = "p"}});
  expect_stored_action(problem.form("(inner(grad(w), grad(v_w)) - p*" + div_v + " - v_p*" + div_w + ")*dx"), {});
  if (dim == 1) return;
  const Problem elasticity(mesh, 1, dim);
  expect_stored_action(elasticity.form("(inner(sym(grad(u)), sym(grad(v))) + (1 + x[0])*div(u)*div(v))*dx"), {});
}

INSTANTIATE_TEST_SUITE_P(every_shape, StoredMatrices,
                         ::testing::Values("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron",
                                           "prism", "pyramid", "mixed"),
                         [](const auto& shape) { return shape.param; });

TEST(StoredMatricesOf, SymmetricFormsHoldOneHalf) {
  const Problem problem(scrambled(box("hexahedron", 1), 5), 1);
  const auto count = [&](const char* text) {
    return num_stored_numbers(op::Operator(problem.form(text), stored_options("contraction=cell-matrices")));
  };
  EXPECT_EQ(count("inner(grad(u), grad(v))*dx"), 8 * 9 / 2);
  EXPECT_EQ(count("(inner(grad(u), grad(v)) + u.dx(0)*v)*dx"), 8 * 8);
  const Problem vectors(scrambled(box("tetrahedron", 1), 5), 1, 3);
  const auto of_vectors = [&](const char* text) {
    return num_stored_numbers(op::Operator(vectors.form(text), stored_options("contraction=cell-matrices")));
  };
  EXPECT_EQ(of_vectors("inner(grad(u), grad(v))*dx"), 3 * 4 * 5 / 2) << "components that are not coupled are left out";
  EXPECT_EQ(of_vectors("inner(sym(grad(u)), sym(grad(v)))*dx"), 12 * 13 / 2);
}

TEST(StoredMatricesOf, RectangularForms) {
  mesh::Mesh mesh = scrambled(curved_box("triangle", 1), 4);
  const Problem problem(mesh, {{.degree = 2, .components = 2, .name = "w"}, {.degree = 1, .name = "p"}});
  expect_stored_action(problem.form("v_p*div(w)*dx"), {});
  expect_stored_action(problem.form("(p*div(v_w) + p.dx(0)*v_w[0])*dx"), {});
}

TEST(StoredMatricesOf, IntegralsOverPartsOfTheMesh) {
  const Problem problem(two_material_box("hexahedron"), 1);
  expect_stored_action(problem.form("u*v*dx(2) + inner(grad(u), grad(v))*dx"), {});
}

TEST(StoredMatricesOf, FormsFollowTheirData) {
  const Problem problem(scrambled(curved_box("prism", 1), 3), {{.degree = 1}, {.degree = 2, .name = "c"}});
  const std::shared_ptr<const form::FieldSpace> unknown = problem.space(0);
  form::Scope scope(problem.dim());
  scope.add_arguments({&unknown, 1});
  scope.add_field(problem.space(1));
  scope.add("k", form::parameter("k"));
  const auto form = form::parse_form("(k + c*c)*inner(grad(u), grad(v))*dx", scope);
  op::Operator A(form, stored_options("contraction=cell-matrices")), B(form, stored_options("default"));
  for (const double k : {1.0, 2.0, 3.0, 4.0}) {
    for (auto* each : {&A, &B}) {
      Vector c(each->device(), static_cast<std::size_t>(problem.space(1)->num_local()));
      fill_random(c, k > 2 ? 7 : 5);
      each->set("c", c);
      if (k != 3) each->set("k", k); // the third time c alone changes
    }
    Vector x = A.make_vector(), y = B.make_vector();
    fill_random(x, 3);
    fill_random(y, 3);
    const auto expected = values_of(applied(B, y));
    EXPECT_LE(distance(values_of(applied(A, x)), expected), 1e-12 * largest(expected)) << k;
  }
  EXPECT_EQ(A.num_setups(), 4);
}

/// Lanes of floats are more than those of the set-up, which computes in double.
TEST(StoredMatricesOf, FloatsRoundWhatIsStored) {
  const Problem problem(scrambled(box("tetrahedron", 2), 5), 1);
  const auto form = problem.form("inner(grad(u), grad(v))*dx");
  op::Operator B(form, stored_options("default"));
  Vector x = B.make_vector();
  fill_random(x, 3);
  const auto expected = values_of(applied(B, x));
  for (const char* plan : {"storage=float", "storage=float compute=float vector_width=8",
                           "compute=float vector_width=8", "storage=float compute=float vector_width=4"}) {
    const op::Operator A(form, stored_options(std::string("contraction=cell-matrices ") + plan));
    EXPECT_GT(num_stored_numbers(A), 0);
    Vector own = A.make_vector();
    std::ranges::copy(x.host_read(), own.host_write().begin());
    const double error = distance(values_of(applied(A, own)), expected) / largest(expected);
    EXPECT_LE(error, 1e-6) << plan;
    EXPECT_GT(error, 1e-12) << plan;
  }
}

/// Matrices of more numbers than are worth storing have another plan.
TEST(StoredMatricesOf, HighDegreesAreNotStored) {
  const Problem problem(box("hexahedron", 1), 6);
  EXPECT_EQ(num_stored_numbers(op::Operator(problem.form("u*v*dx"), stored_options("contraction=cell-matrices"))), 0);
}

} // namespace
} // namespace rafter::test
