// SPDX-License-Identifier: BSD-3-Clause
// Kernels that keep what set-up computes as floats differ from those in double precision by rounding, and mean what the
// interpreter says.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/operator/precision.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

class StoredFloats : public ::testing::TestWithParam<std::string> {
protected:
  static op::Operator make(const Problem& problem, const std::string& plan, bool is_interpreted) {
    op::OperatorOptions options{.threads = 2, .plan = plan};
    if (is_interpreted) options.shared_device = std::make_shared<InterpreterDevice>();
    return {problem.form("((1 + x[0])*inner(grad(u), grad(v)) + kappa*u*v)*dx"), options};
  }
};

TEST_P(StoredFloats, DifferByRoundingFromDoubles) {
  const int degree = 2;
  Problem problem(curved_box(GetParam(), 2), degree);
  problem.with("kappa", 0.7);
  for (const char* recipe : {"recipe=store", "recipe=store-merged"}) {
    const std::string plan = recipe;
    const auto in_double = make(problem, plan, false), in_float = make(problem, plan + " storage=float", false),
               meant = make(problem, plan + " storage=float", true);
    const auto expected = values_of(applied(in_double, random_vector(in_double, 3)));
    const auto found = values_of(applied(in_float, random_vector(in_float, 3)));
    EXPECT_GT(distance(found, expected), 0) << "something is kept as floats";
    EXPECT_LE(distance(found, expected), op::max_precision_error * largest(expected)) << plan;
    EXPECT_LE(distance(found, values_of(applied(meant, random_vector(meant, 3)))),
              1e-14 * (degree + 1) * (degree + 1) * largest(expected));
    EXPECT_GT(in_float.precision_error(), 0);
    EXPECT_EQ(in_double.precision_error(), 0);
    const auto bytes = [](const op::Operator& A) { return A.kernels().counts().global_bytes_read; };
    EXPECT_LT(bytes(in_float), bytes(in_double));
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, StoredFloats, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(Precision, LargeDifferencesAreRefused) {
  EXPECT_EQ(op::require_precision(1e-7), 1e-7);
  for (const double error : {1e-3, std::numeric_limits<double>::infinity(), std::nan("")}) try {
      op::require_precision(error);
      ADD_FAILURE() << error << " is accepted";
    } catch (const base::InputError& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("storage=double"), std::string::npos);
    }
}

TEST(Precision, PlansThatStoreNothingAreAsBefore) {
  Problem problem(box("hexahedron"), 2);
  const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), {.plan = "recipe=recompute storage=float"});
  EXPECT_EQ(A.precision_error(), 0);
}

TEST(Precision, FunctionalsStayInDouble) {
  Problem problem(curved_box("hexahedron", 2), 2);
  const auto value = [&](const std::string& plan) {
    const Vector u = problem.interpolated(
        Vector(std::make_shared<InterpreterDevice>(), static_cast<std::size_t>(problem.system().size())),
        [](std::span<const double> x, std::size_t) { return x[0]; });
    return op::Functional(problem.functional("inner(grad(u), grad(u))*dx"), problem.system(),
                          {.shared_device = u.device(), .plan = plan})(u);
  };
  EXPECT_EQ(value("recipe=store storage=float"), value("recipe=store"));
}

} // namespace
} // namespace rafter::test
