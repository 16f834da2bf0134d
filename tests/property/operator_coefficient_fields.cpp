// SPDX-License-Identifier: BSD-3-Clause
// Bilinear forms with coefficient fields: operators that read nodal values compute what they compute with the same
// coefficients as expressions.
#include <gtest/gtest.h>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// Unknown u and a coefficient kappa of degree 2 on one mesh, and the operator of u alone with kappa as an expression.
struct Pair {
  Pair(const std::string& shape, int components, bool is_broken)
      : fields(box(shape, 2), {{.degree = 2, .components = components, .is_broken = is_broken},
                               {.degree = 2, .name = "kappa", .is_broken = is_broken}}),
        alone(box(shape, 2), {{.degree = 2, .components = components, .is_broken = is_broken}}) {}
  /// `kappa`: of x[0].
  op::Operator with_fields(const op::OperatorOptions& options) const {
    const std::shared_ptr<const form::FieldSpace> unknown = fields.space(0);
    form::Scope scope(fields.dim());
    scope.add_arguments({&unknown, 1});
    scope.add_field(fields.space(1));
    return {form::parse_form("(kappa*inner(grad(u), grad(v)) + inner(u, v))*dx(degree=6)", scope), fields.system(),
            options};
  }
  op::Operator with_expressions(const op::OperatorOptions& options) const {
    return {alone.form("((1 + x[0]*x[0])*inner(grad(u), grad(v)) + inner(u, v))*dx(degree=6)"), options};
  }
  op::Vector kappa(const op::Operator& A) const {
    auto values = A.make_vector();
    space::interpolate(
        *fields.space(1), [](std::span<const double> x, std::span<double> value) { value[0] = 1 + x[0] * x[0]; },
        values.host_overwrite().subspan(static_cast<std::size_t>(fields.system().offset(1))));
    return values;
  }
  Problem fields, alone;
};

op::OperatorOptions interpreted(const char* plan) {
  return planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan});
}
op::OperatorOptions options_with_boundary(const std::shared_ptr<const space::FunctionSpace>& space, const char* plan) {
  auto options = interpreted(plan);
  options.dirichlet.push_back({space, {.is_all = true, .value = [](std::span<const double>, std::span<double> values) {
                                         std::ranges::fill(values, 0.0);
                                       }}});
  return options;
}

class CoefficientFieldsOf : public ::testing::TestWithParam<std::string> {};

TEST_P(CoefficientFieldsOf, BilinearFormsAreAsExpressions) {
  for (const int components : {0, 2})
    for (const bool is_broken : {false, true})
      for (const char* plan : {"factors=store-merged", "factors=recompute-merged"}) {
        SCOPED_TRACE(std::string(plan) + (is_broken ? " broken" : "") + " components " + std::to_string(components));
        const Pair pair(GetParam(), components, is_broken);
        const auto options = [&](const Problem& problem) {
          return is_broken ? interpreted(plan) : options_with_boundary(problem.space(0), plan);
        };
        auto A = pair.with_fields(options(pair.fields));
        const auto B = pair.with_expressions(options(pair.alone));
        A.set_fields(pair.kappa(A));
        const auto n = static_cast<std::size_t>(B.size());
        auto x = random_vector(A, 3), own = B.make_vector();
        std::copy_n(x.host_read().begin(), n, own.host_overwrite().begin());
        auto y = random_vector(A, 4);
        const std::vector<double> before(y.host_read().begin(), y.host_read().end());
        A.apply(x, y);
        auto expected = B.make_vector(), diagonal = A.make_vector(), expected_diagonal = B.make_vector();
        B.apply(own, expected);
        A.diagonal(diagonal);
        B.diagonal(expected_diagonal);
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_NEAR(y.host_read()[i], expected.host_read()[i], 1e-13);
          EXPECT_NEAR(diagonal.host_read()[i], expected_diagonal.host_read()[i], 1e-13);
        }
        for (std::size_t i = n; i < y.size(); ++i) EXPECT_EQ(y.host_read()[i], before[i]) << "entries of kappa";
        A.apply_with(x, y, {});
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y.host_read()[i], expected.host_read()[i], 1e-13);
        // vectors of the unknown and the values of kappa, each once
        EXPECT_EQ(A.built().input_bytes(), 8.0 * static_cast<double>(A.size()));
        EXPECT_EQ(A.built().output_bytes(), 8.0 * static_cast<double>(n));
      }
}
INSTANTIATE_TEST_SUITE_P(shapes, CoefficientFieldsOf, ::testing::Values("triangle", "quadrilateral"),
                         [](const auto& shape) { return shape.param; });

TEST(CoefficientFields, MustBeGiven) {
  const Pair pair("quadrilateral", 0, false);
  auto A = pair.with_fields(interpreted("mapping=plain"));
  auto x = A.make_vector(), y = A.make_vector();
  const auto message = [&](const auto& action) -> std::string {
    try {
      action();
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([&] { A.apply(x, y); }).find("coefficient fields (kappa), whose values are not given"),
            std::string::npos);
  EXPECT_NE(message([&] { A.set_fields(op::Vector(A.device(), 3)); }).find("the vector of the fields has 3 entries"),
            std::string::npos);
  A.set_fields(pair.kappa(A));
  A.apply(x, y);
}

} // namespace
} // namespace rafter::test
