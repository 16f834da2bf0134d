// SPDX-License-Identifier: BSD-3-Clause
// For bilinear forms with coefficient fields, operators that read nodal values compute the same as with these
// coefficients as expressions.
#include <gtest/gtest.h>

#include <rafter/form/parser.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// A pair has the unknown u and a coefficient kappa of degree 2 on one mesh, and a problem with u alone, where kappa is
/// an expression.
struct FieldPair {
  FieldPair(const std::string& shape, int components, bool is_broken)
      : fields(box(shape, 2), {{.degree = 2, .components = components, .is_broken = is_broken},
                               {.degree = 2, .name = "kappa", .is_broken = is_broken}}),
        alone(box(shape, 2), {{.degree = 2, .components = components, .is_broken = is_broken}}) {}
  /// Returns the operator that reads kappa, which depends on x[0], from its nodal values.
  op::Operator with_fields(const op::OperatorOptions& options) const {
    const std::shared_ptr<const form::FieldSpace> unknown = fields.space(0);
    form::Scope scope(fields.dim());
    scope.add_arguments({&unknown, 1});
    scope.add_field(fields.space(1));
    return {form::parse_form("(kappa*inner(grad(u), grad(v)) + inner(u, v))*dx(degree=6)", scope), options};
  }
  op::Operator with_expressions(const op::OperatorOptions& options) const {
    return {alone.form("((1 + x[0]*x[0])*inner(grad(u), grad(v)) + inner(u, v))*dx(degree=6)"), options};
  }
  /// Returns `factor` times the coefficient of with_expressions().
  op::Vector kappa(const op::Operator& A, double factor = 1) const {
    op::Vector values(A.device(), static_cast<std::size_t>(fields.space(1)->num_local()));
    space::interpolate(
        *fields.space(1),
        [&](std::span<const double> x, std::span<double> value) { value[0] = factor * (1 + x[0] * x[0]); },
        values.host_overwrite());
    return values;
  }
  Problem fields, alone;
};

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
        const FieldPair pair(GetParam(), components, is_broken);
        const auto options = [&](const Problem& problem) {
          return is_broken ? interpreted(plan) : options_with_boundary(problem.space(0), plan);
        };
        auto A = pair.with_fields(options(pair.fields));
        const auto B = pair.with_expressions(options(pair.alone));
        EXPECT_EQ(A.size(), B.size()) << "data fields are no unknowns";
        A.set("kappa", pair.kappa(A, 3)); // these values are replaced below
        const Vector x = random_vector(A, 3);
        (void)applied(A, x);
        A.set("kappa", pair.kappa(A));
        const auto expected = values_of(applied(B, x));
        EXPECT_LE(distance(values_of(applied(A, x)), expected), 1e-13);
        auto diagonal = A.make_vector(), expected_diagonal = B.make_vector();
        A.diagonal(diagonal);
        B.diagonal(expected_diagonal);
        EXPECT_LE(distance(values_of(diagonal), expected_diagonal.host_read()), 1e-13);
        auto own = random_vector(A, 3), y = random_vector(A, 4);
        A.apply_with(own, y, {});
        EXPECT_LE(distance(values_of(y), expected), 1e-13);
        // The bytes are those of the vectors of the unknown and of the values of kappa, each once.
        EXPECT_EQ(A.built().input_bytes(), 8.0 * static_cast<double>(A.size() + pair.fields.space(1)->num_local()));
        EXPECT_EQ(A.built().output_bytes(), 8.0 * static_cast<double>(A.size()));
      }
}
INSTANTIATE_TEST_SUITE_P(shapes, CoefficientFieldsOf, ::testing::Values("triangle", "quadrilateral"),
                         [](const auto& shape) { return shape.param; });

TEST(CoefficientFields, MustBeGiven) {
  const FieldPair pair("quadrilateral", 0, false);
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
  const auto expect_part = [&](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_part(message([&] { A.apply(x, y); }), "data fields (kappa) whose values are not given");
  expect_part(message([&] { A.set("kappa", op::Vector(A.device(), 3)); }),
              "the vector of data field 'kappa' has 3 entries");
  expect_part(message([&] { A.set("kapa", x); }), "no data field 'kapa' (did you mean 'kappa'?)");
  A.set("kappa", pair.kappa(A));
  A.apply(x, y);
}

} // namespace
} // namespace rafter::test
