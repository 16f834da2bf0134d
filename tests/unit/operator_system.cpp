// SPDX-License-Identifier: BSD-3-Clause
// The fields of a system vector begin at known offsets, and padding between them holds no unknowns.
#include <gtest/gtest.h>

#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/function_space.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// The mesh has 6 cells with 5 x 7 = 35 nodes of degree 2 and 12 of degree 1.
Problem three_fields() {
  return Problem(mesh::make_box({.cells = {2, 3}, .size = {1, 1}, .shape = "quadrilateral"}),
                 {{.degree = 2, .name = "a"}, {.degree = 1, .components = 3, .name = "b"}, {.degree = 1, .name = "c"}});
}
const char* const coupled = "(inner(grad(a), grad(v_a)) + a*v_a + 2*inner(b, v_b) + 3*c*v_c + a*v_c + c*v_a)*dx";

TEST(SystemVector, FieldsBeginAtCacheLinesAndWholeNodes) {
  const auto system = three_fields().system();
  ASSERT_EQ(system.spaces[0]->num_local(), 35);
  EXPECT_EQ(system.offset(0), 0);
  EXPECT_EQ(system.offset(1), 48); // a multiple of 16 and of 3
  EXPECT_EQ(system.offset(2), 96); // after 48 + 36
  EXPECT_EQ(system.size(), 108);
  EXPECT_EQ(system.num_unknowns(), 35 + 36 + 12);
  const auto owned = system.owned_ranges();
  ASSERT_EQ(owned.size(), 3U);
  const std::vector<std::pair<int, int>> expected{{0, 35}, {48, 84}, {96, 108}};
  for (std::size_t f = 0; f < 3; ++f) EXPECT_EQ(std::pair(owned[f].begin, owned[f].end), expected[f]);
  EXPECT_EQ(system.padding().size(), 25U);
  EXPECT_EQ(op::make_system({system.spaces[1]}).padding().size(), 0U);
}

class SystemVectorOf : public ::testing::TestWithParam<const char*> {
protected:
  op::OperatorOptions options_ = planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = GetParam()});
};

TEST_P(SystemVectorOf, OperatorsAreTheIdentityOnPadding) {
  const auto problem = three_fields();
  const op::Operator A(problem.form(coupled), problem.system(), options_);
  const Vector x = random_vector(A, 1);
  Vector y = random_vector(A, 2), d = random_vector(A, 3);
  A.apply(x, y);
  A.diagonal(d);
  const auto matrix = A.sparse_matrix();
  EXPECT_EQ(matrix.num_rows(), A.size());
  const auto of_unknowns = A.matrix_of_unknowns();
  EXPECT_EQ(of_unknowns.num_rows(), A.num_unknowns());
  EXPECT_EQ(of_unknowns.num_columns, A.num_unknowns());
  EXPECT_EQ(of_unknowns.values, matrix.restricted(A.owned_ranges()).values);
  const auto padding = problem.system().padding();
  for (const auto entry : padding) {
    const auto i = static_cast<std::size_t>(entry);
    EXPECT_EQ(y.host_read()[i], x.host_read()[i]);
    EXPECT_EQ(d.host_read()[i], 1);
    EXPECT_EQ(matrix(entry, entry), 1);
  }
  A.apply_add(x, y);
  for (const auto entry : padding)
    EXPECT_EQ(y.host_read()[static_cast<std::size_t>(entry)], 2 * x.host_read()[static_cast<std::size_t>(entry)]);
}

INSTANTIATE_TEST_SUITE_P(plans, SystemVectorOf, ::testing::Values("vector_width=4", "mapping=assembled"),
                         [](const auto& plan) { return plan.index == 0 ? "kernels" : "assembled"; });

TEST(SystemVector, FormsLeaveNothingInPadding) {
  const auto problem = three_fields();
  const auto options = interpreted();
  const op::LinearForm L(problem.form("(x[0]*v_a + v_b[1] + v_c)*dx"), problem.system(), options);
  Vector b(options.shared_device, static_cast<std::size_t>(problem.system().size()));
  fill_random(b, 4);
  L.assemble(b);
  for (const auto entry : problem.system().padding()) EXPECT_EQ(b.host_read()[static_cast<std::size_t>(entry)], 0);
}

TEST(SystemVector, SumsCountUnknownsAlone) {
  const auto problem = three_fields();
  const op::Operator A(problem.form(coupled), problem.system(), interpreted());
  Vector ones = A.make_vector(), random = random_vector(A, 5);
  std::ranges::fill(ones.host_overwrite(), 1.0);
  const solvers::VectorOps ops(A);
  EXPECT_EQ(ops.dot(ones, ones), 83);
  double sum = 0;
  for (const auto& owned : A.owned_ranges())
    for (auto i = owned.begin; i < owned.end; ++i) sum += random.host_read()[static_cast<std::size_t>(i)];
  EXPECT_NEAR(ops.dot(ones, random), sum, 1e-13);
  const auto before = values_of(random);
  ops.scale(2, random);
  const auto padding = problem.system().padding();
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(random.host_read()[i],
              before[i] * (std::ranges::binary_search(padding, static_cast<std::int32_t>(i)) ? 1 : 2));
}

} // namespace
} // namespace rafter::test
