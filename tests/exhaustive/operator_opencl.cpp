// SPDX-License-Identifier: BSD-3-Clause
// An OpenCL device gives the actions of the host at high degrees, where kernels have much private memory. The quick
// tests go up to degree 3 (tests/unit/operator_opencl.cpp).
#include <gtest/gtest.h>

#include <tests/support/opencl.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/shared_device.hpp>

namespace rafter::test {
namespace {

class OpenClAtHighDegrees : public ::testing::TestWithParam<std::tuple<std::string, int>> {
protected:
  void SetUp() override {
    if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  }
  /// Compares y = A x of the form on both devices.
  static void expect_same_action(const form::Form& form, const std::string& plan) {
    static const std::shared_ptr<device::Device> host = device::make_device("host", 1);
    static SharedDevice opencl([] { return std::make_shared<device::OpenClDevice>(); });
    std::vector<std::vector<double>> found;
    for (const auto& device : {host, opencl.get()}) {
      const op::Operator A(form, planned({.shared_device = device, .plan = device == host ? "" : plan}));
      found.push_back(values_of(applied(A, random_vector(A, 3))));
    }
    EXPECT_GT(largest(found[0]), 0);
    EXPECT_LE(distance(found[0], found[1]), 1e-12 * largest(found[0])) << plan;
  }
};

TEST_P(OpenClAtHighDegrees, ActionsAreThoseOfTheHost) {
  const auto& [shape, degree] = GetParam();
  Problem scalar(scrambled(box(shape), 1), degree, 0);
  const auto helmholtz = scalar.form("((1 + x[0]*x[0])*inner(grad(u), grad(v)) + u*v)*dx + u*v*ds(1)");
  Problem vector(curved_box(shape, 2), degree, box_dimension(shape));
  vector.with("kappa", 0.7);
  const auto elasticity = vector.form(elasticity_form(box_dimension(shape)));
  for (const char* plan : {"", "scatter=two-pass", "factors=recompute"}) {
    expect_same_action(helmholtz, plan);
    expect_same_action(elasticity, plan);
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, OpenClAtHighDegrees,
                         ::testing::Combine(::testing::ValuesIn(box_shapes()), ::testing::Values(4, 6)),
                         [](const auto& parameter) {
                           return std::get<0>(parameter.param) + "_p" + std::to_string(std::get<1>(parameter.param));
                         });

} // namespace
} // namespace rafter::test
