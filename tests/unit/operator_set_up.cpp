// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_laws.hpp>

/// Operators set up what their degree needs.
namespace rafter::test {
namespace {

class SetUp : public testing::TestWithParam<std::string> {
protected:
  /// Says whether edges and faces are numbered once an operator with conditions on the boundary has been applied.
  static bool numbers_edges(const std::string& shape, int degree) {
    Problem problem(scrambled(box(shape), 3), degree);
    problem.with("kappa", 0.7);
    const op::Operator A(problem.form(helmholtz_form()),
                         planned({.shared_device = std::make_shared<InterpreterDevice>(),
                                  .dirichlet = {dirichlet(problem.space(), zero)}}));
    EXPECT_GT(norm(applied(A, random_vector(A, 1))), 0);
    return problem.mesh().has_topology();
  }
};

TEST_P(SetUp, NumbersNoEdgesForDegree1) { EXPECT_FALSE(numbers_edges(GetParam(), 1)); }
TEST_P(SetUp, NumbersEdgesForDegree2) { // those of cells in one dimension are the cells themselves
  EXPECT_EQ(numbers_edges(GetParam(), 2), box_dimension(GetParam()) > 1);
}

INSTANTIATE_TEST_SUITE_P(every_shape, SetUp, testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
