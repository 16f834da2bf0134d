// SPDX-License-Identifier: BSD-3-Clause
// Residuals of several fields are judged one by one, beside the forces of each.
#include <gtest/gtest.h>

#include <cmath>

#include <rafter/solve/field_balance.hpp>
#include <rafter/solve/solver.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;
using solvers::FieldBalance;
using solvers::Status;

namespace {

/// Two fields of two entries each.
FieldBalance balance_of(const DenseMatrix& A) {
  return FieldBalance(A.device(), {{{0, 2}}, {{2, 4}}},
                      [&A](const device::Vector& x, device::Vector& y) { A.apply(x, y); });
}

TEST(FieldBalance, FindsTheFieldThatIsFarthestFromItsTolerance) {
  const DenseMatrix A = diagonal_matrix({1e10, 1e10, 1, 1});
  const auto fields = balance_of(A);
  const auto x = make_vector({3, 4, 3, 4});
  const auto found = fields.find_unsolved(x, make_vector({1, 0, 1e-3, 0}), 1e-8, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->field, 1u);
  EXPECT_DOUBLE_EQ(found->relative, 1e-3 / 5);
  EXPECT_DOUBLE_EQ(found->excess, 1e-3 / 5 / 1e-8);
  EXPECT_FALSE(fields.find_unsolved(x, make_vector({1, 0, 1e-8, 0}), 1e-8, 0));
  EXPECT_FALSE(fields.find_unsolved(x, make_vector({1, 0, 1e-3, 0}), 1e-8, 2e-3)); // atol is enough
}

TEST(FieldBalance, AsksForNothingBelowRounding) {
  const DenseMatrix A = diagonal_matrix({1e10, 1e10, 1, 1});
  const auto x = make_vector({3, 4, 3, 4});
  EXPECT_FALSE(balance_of(A).find_unsolved(x, make_vector({0, 0, 1e-16, 0}), 1e-30, 0));
}

TEST(FieldBalance, LeavesFieldsThatTheirEquationsDoNotHoldToTheOthers) {
  const DenseMatrix A = diagonal_matrix({1e10, 1e10, 0, 0});
  const auto x = make_vector({3, 4, 3, 4});
  EXPECT_FALSE(balance_of(A).find_unsolved(x, make_vector({0, 0, 1, 0}), 1e-8, 0));
}

TEST(FieldBalance, TakesTheLoadOfAFieldThatIsZero) {
  const DenseMatrix A = diagonal_matrix({1e10, 1e10, 1, 1});
  const auto found = balance_of(A).find_unsolved(make_vector({3, 4, 0, 0}), make_vector({0, 0, 3, 0}), 1e-8, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->field, 1u);
  EXPECT_EQ(found->relative, 1);
}

TEST(FieldBalance, CountsWhatOtherFieldsDo) {
  // The first field is at rest between a load and the second one, as flow under a hydrostatic pressure.
  const DenseMatrix A(4, [](std::size_t i, std::size_t j) { return i == j ? 1.0 : i + 2 == j ? 5.0 : 0.0; });
  const auto x = make_vector({1e-9, 0, 3, 4});
  EXPECT_FALSE(balance_of(A).find_unsolved(x, make_vector({1e-8, 0, 0, 0}), 1e-8, 0));
  EXPECT_TRUE(balance_of(A).find_unsolved(x, make_vector({1e-5, 0, 0, 0}), 1e-8, 0));
}

TEST(FieldBalance, SurvivesNumbersWhoseSquaresDoNot) {
  const DenseMatrix A = diagonal_matrix({1e200, 1e200, 1e-200, 1e-200});
  const auto found = balance_of(A).find_unsolved(make_vector({3, 4, 3, 4}), make_vector({0, 0, 1e-203, 0}), 1e-8, 0);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->relative, 1e-3 / 5, 1e-15);
}

TEST(FieldBalance, SolvesGoOnUntilEveryFieldIsSolved) {
  // Both fields couple their entries; a residual of 1e-8 of the first is far above all of the second.
  const std::vector<double> entries{2e10, 1e10, 0, 0, 1e10, 3e10, 0, 0, 0, 0, 2, 1, 0, 0, 1, 3};
  const DenseMatrix A(4, [&](std::size_t i, std::size_t j) { return entries[4 * i + j]; });
  const auto b = make_vector({3e10, 4e10, 3, 4});
  for (const std::string method : {"cg", "minres", "gmres", "bicgstab"}) {
    SCOPED_TRACE(method);
    solvers::SolverOptions options{.method = method, .preconditioner = "none"};
    options.control.rtol = 1e-8;
    options.fields = std::make_shared<const FieldBalance>(balance_of(A));
    device::Vector x = make_vector({0, 0, 0, 0});
    const auto result = solvers::solve(A, b, x, options);
    ASSERT_EQ(result.status, Status::converged) << result.message;
    for (const double value : values(x)) EXPECT_NEAR(value, 1, 1e-6);
    EXPECT_EQ(static_cast<int>(result.history.size()), result.iterations + 1);
  }
}

} // namespace
