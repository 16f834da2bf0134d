// SPDX-License-Identifier: BSD-3-Clause
// Every shape, degree from 1 to 10, kind of map and plan is compiled and compared with the simplest program
// interpreted. These tests run before a release and on request.
#include <gtest/gtest.h>

#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/mapping.hpp>
#include <tests/support/weighed_plans.hpp>

namespace rafter::test {
namespace {

using Parameter = std::tuple<std::string, int>; // shape, degree

class EveryPlan : public ::testing::TestWithParam<Parameter> {
protected:
  static op::QuadratureOptions usual_rule() { return {.points = std::get<1>(GetParam()) + 1}; }
  /// Returns every storage of factors that the planner weighs with every contraction and mapping; the other keys take
  /// turns.
  static std::vector<std::string> plans(const Problem& problem, const std::string& text) {
    const bool is_tensor = element::is_tensor(element::shape_from_name(std::get<0>(GetParam())));
    const std::vector<std::string> keys{"vector_width=4", "vector_width=2", "rows=8 unroll=0",
                                        "prefetch=0",     "vector_width=1", "even_odd=2",
                                        "rows=4",         "unroll=4096",    "subbatches=2 vector_width=4 unroll=0"};
    std::vector<std::string> result{""};
    std::size_t turn = static_cast<std::size_t>(std::get<1>(GetParam()));
    for (const auto& name : recipe_names_of(weighed(problem, text, "", usual_rule()))) {
      const std::string factors = "factors=" + name;
      for (const auto& mapping : schedule::mapping_names(schedule::Target()))
        result.push_back(factors + " mapping=" + mapping + " contraction=dense");
      for (const char* contraction : {"per-derivative", "collocated", "collocated mapping=simd_points", "separable"})
        if (is_tensor) result.push_back(factors + " contraction=" + contraction);
      result.push_back(factors + (is_tensor ? " contraction=collocated even_odd=0" : " contraction=modal"));
      for (int i = 0; i < 3; ++i)
        result.push_back(factors + " contraction=" + (is_tensor ? "collocated " : "dense ") +
                         keys[turn++ % keys.size()]);
    }
    return result;
  }
  static std::vector<mesh::Mesh> meshes(const std::string& shape) {
    return {scrambled(box(shape, 1), 2), curved_box(shape, 1, 1), curved_box(shape, 2, 1)};
  }
  static std::vector<double> result_of(const Problem& problem, const std::string& text, op::OperatorOptions options) {
    const op::Operator A(problem.form(text), planned(options));
    const auto& kernel = A.kernels().info().front();
    const auto plan = schedule::parse_plan(options.plan);
    if (options.shared_device == nullptr && options.plan.find("factors=") != std::string::npos) {
      EXPECT_EQ(kernel::name(kernel.plan[schedule::key::factors]), kernel::name(plan[schedule::key::factors]))
          << options.plan;
    }
    return values_of(applied(A, random_vector(A, 3)));
  }
  static void check(Problem& problem, const std::string& text, const std::vector<std::string>& plans,
                    const op::QuadratureOptions& quadrature = usual_rule()) {
    const int degree = std::get<1>(GetParam());
    const auto expected = result_of(problem, text,
                                    {.shared_device = std::make_shared<InterpreterDevice>(),
                                     .quadrature = quadrature,
                                     .plan = "mapping=plain contraction=dense factors=recompute"});
    for (const auto& plan : plans)
      EXPECT_LE(distance(result_of(problem, text, {.threads = 1, .quadrature = quadrature, .plan = plan}), expected),
                1e-13 * (degree + 1) * (degree + 1) * largest(expected))
          << problem.mesh().source << " " << plan;
  }
  template <class Check> static void for_problems(int components, const Check& check) {
    const auto& [shape, degree] = GetParam();
    for (auto& mesh : meshes(shape)) {
      Problem problem(std::move(mesh), degree, components);
      problem.with("kappa", 0.7);
      check(problem);
    }
  }
};

TEST_P(EveryPlan, HelmholtzWithCoefficientsThatVary) {
  const std::string text = "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[0])*kappa*u*v)*dx";
  for_problems(0, [&](Problem& problem) { check(problem, text, plans(problem, text)); });
}
TEST_P(EveryPlan, HelmholtzWithConstants) {
  for_problems(0, [&](Problem& problem) { check(problem, helmholtz_form(), plans(problem, helmholtz_form())); });
}
TEST_P(EveryPlan, FieldsOfVectorsWithPartsStored) {
  const auto& [shape, degree] = GetParam();
  if (shape != "hexahedron" || degree > 4) GTEST_SKIP() << "three components on hexahedra, where cuts lie in between";
  for_problems(3, [&](Problem& problem) { check(problem, rich_form, plans(problem, rich_form)); });
}
TEST_P(EveryPlan, OtherQuadratureRules) {
  const auto& [shape, degree] = GetParam();
  if (!element::is_tensor(element::shape_from_name(shape))) GTEST_SKIP() << "points per direction";
  using element::QuadratureKind;
  for (const auto& quadrature : {op::QuadratureOptions{.points = degree + 2},
                                 op::QuadratureOptions{.kind = QuadratureKind::gll, .points = degree + 1},
                                 op::QuadratureOptions{.kind = QuadratureKind::gll, .points = degree + 2}})
    for_problems(0, [&](Problem& problem) {
      std::vector<std::string> plans{"", "contraction=per-derivative"};
      for (const auto& name : recipe_names_of(weighed(problem, helmholtz_form(), "", quadrature)))
        for (const char* contraction : {" contraction=collocated", " contraction=dense mapping=plain"})
          plans.push_back("factors=" + name + contraction);
      check(problem, helmholtz_form(), plans, quadrature);
    });
}
TEST_P(EveryPlan, ConvectionDiffusionReaction) {
  for_problems(0, [](Problem& problem) {
    check(problem, "(0.1*inner(grad(u), grad(v)) + (1 + x[0])*u.dx(0)*v + kappa*u*v)*dx + kappa*u*v*ds",
          {"", "mapping=plain"});
  });
}
TEST_P(EveryPlan, Elasticity) {
  const int dim = box_dimension(std::get<0>(GetParam()));
  for_problems(dim, [&](Problem& problem) {
    std::vector<std::string> plans{"", "mapping=plain"};
    for (const auto& name : recipe_names_of(weighed(problem, elasticity_form(dim), "", usual_rule())))
      plans.push_back("factors=" + name);
    check(problem, elasticity_form(dim), plans);
  });
}

INSTANTIATE_TEST_SUITE_P(all, EveryPlan,
                         ::testing::Combine(::testing::Values("interval", "triangle", "quadrilateral", "tetrahedron",
                                                              "hexahedron", "prism", "pyramid"),
                                            ::testing::Range(1, 11)),
                         [](const auto& parameter) {
                           return std::get<0>(parameter.param) + "_p" + std::to_string(std::get<1>(parameter.param));
                         });

} // namespace
} // namespace rafter::test
