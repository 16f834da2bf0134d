// SPDX-License-Identifier: BSD-3-Clause
// The laws of operators hold on every shape at every degree from 1 to 8. These tests run before a release and on
// request.
#include <gtest/gtest.h>

#include <tests/support/operator_laws.hpp>

namespace rafter::test {
namespace {

class EveryDegree : public ::testing::TestWithParam<std::tuple<std::string, int>> {
protected:
  const std::string& shape() const { return std::get<0>(GetParam()); }
  int degree() const { return std::get<1>(GetParam()); }
  op::OperatorOptions options_ = planned({.threads = 2});
};

TEST_P(EveryDegree, HelmholtzLaws) {
  check_helmholtz_laws(scrambled(box(shape()), 5), degree(), options_);
  check_helmholtz_laws(curved_box(shape(), 1), degree(), options_);
  check_helmholtz_laws(scrambled(curved_box(shape(), 2), 5), degree(), options_);
}

TEST_P(EveryDegree, ElasticityLaws) {
  check_elasticity_laws(scrambled(box(shape()), 5), degree(), options_, true);
  check_elasticity_laws(curved_box(shape(), 1), degree(), options_, true);
}

TEST_P(EveryDegree, PatchTest) {
  for (const double kappa : {0.0, 2.0}) {
    Problem problem(scrambled(box(shape()), 9), degree());
    // The condition number grows like the fourth power of the degree.
    EXPECT_LE(solution_error(problem, {degree(), problem.dim()}, kappa), patch_tolerance * std::pow(degree(), 4));
  }
}

INSTANTIATE_TEST_SUITE_P(all, EveryDegree,
                         ::testing::Combine(::testing::ValuesIn(box_shapes()), ::testing::Range(1, 9)),
                         [](const auto& parameter) {
                           return std::get<0>(parameter.param) + "_p" + std::to_string(std::get<1>(parameter.param));
                         });

} // namespace
} // namespace rafter::test
