// SPDX-License-Identifier: BSD-3-Clause
// Every shape x degree 1 to 8 x kind of map x plan, compiled, against the simplest program interpreted. Run before a
// release and on request.
#include <gtest/gtest.h>

#include <rafter/schedule/mapping.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

using Parameter = std::tuple<std::string, int>; // shape, degree

class EveryPlan : public ::testing::TestWithParam<Parameter> {
protected:
  static std::vector<std::string> plans(const std::string& shape) {
    std::vector<std::string> result{""};
    const bool is_tensor = element::is_tensor(element::shape_from_name(shape));
    for (const char* recipe : {"recompute", "recompute-merged", "store", "store-merged"}) {
      const std::string of_recipe = std::string("recipe=") + recipe;
      for (const auto& mapping : schedule::mapping_names())
        result.push_back(of_recipe + " mapping=" + mapping + " contraction=dense");
      if (!is_tensor) continue;
      result.push_back(of_recipe + " contraction=per-derivative");
      result.push_back(of_recipe + " contraction=collocated");
      result.push_back(of_recipe + " contraction=collocated even_odd=0");
      result.push_back(of_recipe + " contraction=collocated mapping=simd_points");
    }
    return result;
  }
  static std::vector<mesh::Mesh> meshes(const std::string& shape) {
    return {scrambled(box(shape, 1), 2), curved_box(shape, 1, 1), curved_box(shape, 2, 1)};
  }
  static std::vector<double> result_of(const Problem& problem, const std::string& text, op::OperatorOptions options) {
    options.quadrature.points = std::get<1>(GetParam()) + 1;
    const op::Operator A(problem.form(text), options);
    return values_of(applied(A, random_vector(A, 3)));
  }
  static void check(int components, const std::string& text, const std::vector<std::string>& plans) {
    const auto& [shape, degree] = GetParam();
    for (auto& mesh : meshes(shape)) {
      Problem problem(std::move(mesh), degree, components);
      problem.with("kappa", 0.7);
      const auto expected = result_of(problem, text,
                                      {.shared_device = std::make_shared<InterpreterDevice>(),
                                       .plan = "mapping=plain contraction=dense recipe=recompute"});
      for (const auto& plan : plans)
        EXPECT_LE(distance(result_of(problem, text, {.threads = 1, .plan = plan}), expected),
                  1e-13 * (degree + 1) * (degree + 1) * largest(expected))
            << problem.mesh().source << " " << plan;
    }
  }
};

TEST_P(EveryPlan, HelmholtzWithCoefficientsThatVary) {
  check(0, "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[0])*kappa*u*v)*dx", plans(std::get<0>(GetParam())));
}
TEST_P(EveryPlan, ConvectionDiffusionReaction) {
  check(0, "(0.1*inner(grad(u), grad(v)) + (1 + x[0])*u.dx(0)*v + kappa*u*v)*dx + kappa*u*v*ds", {"", "mapping=plain"});
}
TEST_P(EveryPlan, Elasticity) {
  const int dim = box_dimension(std::get<0>(GetParam()));
  check(dim, elasticity_form(dim), {"", "mapping=plain", "recipe=store-merged", "recipe=recompute"});
}

INSTANTIATE_TEST_SUITE_P(all, EveryPlan,
                         ::testing::Combine(::testing::Values("interval", "triangle", "quadrilateral", "tetrahedron",
                                                              "hexahedron", "prism", "pyramid"),
                                            ::testing::Range(1, 9)),
                         [](const auto& parameter) {
                           return std::get<0>(parameter.param) + "_p" + std::to_string(std::get<1>(parameter.param));
                         });

} // namespace
} // namespace rafter::test
