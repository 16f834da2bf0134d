// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>

#include <bench/measured.hpp>
#include <bench/operators.hpp>
#include <bench/stress_vector.hpp>
#include <rafter/device/device.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

constexpr const char* factorised = "contraction=per-derivative mapping=plain factors=recompute even_odd=0";
constexpr const char* dense = "contraction=dense mapping=plain factors=recompute rows=3 unroll=0";

class StressVector : public testing::Test {
protected:
  std::shared_ptr<device::Device> device_ = device::make_device("host", 1);
  std::shared_ptr<const space::FunctionSpace> space_ =
      make_space(find_case(bake_off_cases(), "elasticity"),
                 {.degree = 2, .million_dofs = 0, .geometry = "sheared", .is_broken = true});
};

TEST_F(StressVector, TwoLoopsComputeWhatOneDoes) {
  auto elasticity = find_case(bake_off_cases(), "elasticity");
  elasticity.extra_points = 2;
  const auto A = make_operator(elasticity, space_, device_, {.plan = factorised});
  for (const bool is_symmetric : {false, true}) {
    const StressVectorOperator two(space_, device_,
                                   {.is_symmetric = is_symmetric, .stress_plan = factorised, .plan = factorised});
    const std::array operators{measured(A),
                               Measured{.apply = [&two](const op::Vector& x, op::Vector& y) { two.apply(x, y); },
                                        .size = A.size(),
                                        .device = device_,
                                        .counts = two.counts(),
                                        .kernels = two.info()}};
    EXPECT_LT(differences(operators)[1], 1e-14 * 16) << is_symmetric;
  }
}

/// Dense tables take 18 D^3 Q^3 operations to integrate with D = p+1 nodes and Q = p+2 points along each axis, and none
/// for the values that are stored at the points.
TEST_F(StressVector, SecondLoopContractsGradientsAlone) {
  const StressVectorOperator two(space_, device_, {.is_symmetric = false, .stress_plan = factorised, .plan = dense});
  const auto kernels = two.info();
  ASSERT_EQ(kernels.size(), 2U);
  const double cells = space_->mesh().num_cells(), table = 18.0 * 27 * 64, at_points = 64 * 100;
  EXPECT_GE(kernels[1].counts.flops, cells * table);
  EXPECT_LT(kernels[1].counts.flops, cells * (table + at_points));
}

TEST_F(StressVector, BytesAreThoseOfTheVectorsThatMeet) {
  const StressVectorOperator nine(space_, device_,
                                  {.is_symmetric = false, .stress_plan = factorised, .plan = factorised});
  const StressVectorOperator six(space_, device_,
                                 {.is_symmetric = true, .stress_plan = factorised, .plan = factorised});
  const double points = 64.0 * static_cast<double>(space_->mesh().num_cells());
  EXPECT_EQ(nine.counts().global_bytes_written - six.counts().global_bytes_written, 8 * 3 * points);
  EXPECT_EQ(nine.counts().global_bytes_read - six.counts().global_bytes_read, 8 * 3 * points);
}

} // namespace
} // namespace rafter::bench
