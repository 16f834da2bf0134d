// SPDX-License-Identifier: BSD-3-Clause
// All combinations of which tests/convergence has samples are tested: orders of convergence by shape, degree, geometry
// and equation.
#include "../support/orders.hpp"

namespace {

using namespace rafter;
using test::OrderCase;

using EquationCase = std::tuple<test::Manufactured (*)(int), OrderCase>;

class Order : public ::testing::TestWithParam<EquationCase> {};

TEST_P(Order, is_optimal_on_boxes_moved_by_a_smooth_map) {
  const auto& [problem, c] = GetParam();
  test::expect_orders(test::orders_on_moved_boxes(problem, c), c.degree);
}

/// Straight cells have degrees up to 5; curved ones have geometry degrees from 2 to 4 under fields of degree 1 to 4.
std::vector<OrderCase> all_cases() {
  auto all = test::order_cases(1, 5);
  for (int geometry_degree = 2; geometry_degree <= 4; ++geometry_degree)
    for (const auto& c : test::order_cases(1, 4, geometry_degree)) all.push_back(c);
  return all;
}

std::string name_of(const ::testing::TestParamInfo<EquationCase>& info) {
  return test::name_of({std::get<1>(info.param), info.index});
}

INSTANTIATE_TEST_SUITE_P(poisson, Order,
                         ::testing::Combine(::testing::Values(test::poisson), ::testing::ValuesIn(all_cases())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(elasticity, Order,
                         ::testing::Combine(::testing::Values(test::elasticity),
                                            ::testing::ValuesIn(test::order_cases(1, 4))),
                         name_of);

} // namespace
