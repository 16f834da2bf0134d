// SPDX-License-Identifier: BSD-3-Clause
// Compiled kernels agree with interpreted ones at degrees whose loops are long, on one cell of a box per shape; with
// Gauss-Lobatto points at the nodes from degree 1 to 10; and on cell vectors.
#include <gtest/gtest.h>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

using Parameter = std::tuple<std::string, int>; // shape, degree

std::string name_of(const ::testing::TestParamInfo<Parameter>& info) {
  return std::get<0>(info.param) + "_p" + std::to_string(std::get<1>(info.param));
}

std::vector<double> result_of(const Problem& problem, const op::OperatorOptions& options) {
  const op::Operator A(problem.form("((1 + x[0])*inner(grad(u), grad(v)) + kappa*u*v)*dx"), planned(options));
  return values_of(applied(A, random_vector(A, 3)));
}

class Degrees : public ::testing::TestWithParam<Parameter> {
protected:
  const std::string& shape() const { return std::get<0>(GetParam()); }
  int degree() const { return std::get<1>(GetParam()); }
  bool is_tensor() const { return element::is_tensor(element::shape_from_name(shape())); }

  /// Compares all plans, compiled, with the first one, interpreted.
  void check(const std::vector<std::string>& plans, const op::QuadratureOptions& quadrature, bool is_broken) const {
    Problem problem(box(shape(), 1), {{.degree = degree(), .name = "u", .is_broken = is_broken}});
    problem.with("kappa", 0.7);
    const auto expected = result_of(
        problem,
        {.shared_device = std::make_shared<InterpreterDevice>(), .quadrature = quadrature, .plan = plans.front()});
    for (const auto& plan : plans)
      EXPECT_LE(distance(result_of(problem, {.threads = 1, .quadrature = quadrature, .plan = plan}), expected),
                1e-14 * (degree() + 1) * (degree() + 1) * largest(expected))
          << plan;
  }
};

class HighDegrees : public Degrees {};
TEST_P(HighDegrees, AreWhatTheInterpreterSays) {
  if (is_tensor())
    check({"", "contraction=per-derivative factors=recompute"}, {}, false);
  else
    check({"", "contraction=dense factors=recompute"}, {}, false);
}
INSTANTIATE_TEST_SUITE_P(all, HighDegrees,
                         ::testing::Values(Parameter{"interval", 11}, Parameter{"interval", 12},
                                           Parameter{"triangle", 7}, Parameter{"triangle", 9},
                                           Parameter{"quadrilateral", 7}, Parameter{"quadrilateral", 10},
                                           Parameter{"tetrahedron", 5}, Parameter{"tetrahedron", 7},
                                           Parameter{"hexahedron", 5}, Parameter{"hexahedron", 7},
                                           Parameter{"hexahedron", 9}, Parameter{"prism", 5}, Parameter{"prism", 6},
                                           Parameter{"pyramid", 5}, Parameter{"pyramid", 6}),
                         name_of);

class PointsInNodes : public Degrees {};
TEST_P(PointsInNodes, AreWhatTheInterpreterSays) {
  check({""}, {.kind = element::QuadratureKind::gll, .points = degree() + 1}, false);
}
INSTANTIATE_TEST_SUITE_P(all, PointsInNodes,
                         ::testing::Combine(::testing::Values("interval", "quadrilateral", "hexahedron"),
                                            ::testing::Range(1, 11)),
                         name_of);

class DegreesOfCellVectors : public Degrees {};
TEST_P(DegreesOfCellVectors, AreWhatTheInterpreterSays) { check({"", "stores=streaming"}, {}, true); }
INSTANTIATE_TEST_SUITE_P(all, DegreesOfCellVectors,
                         ::testing::Values(Parameter{"quadrilateral", 4}, Parameter{"quadrilateral", 8},
                                           Parameter{"triangle", 6}, Parameter{"tetrahedron", 4},
                                           Parameter{"tetrahedron", 6}, Parameter{"hexahedron", 4},
                                           Parameter{"hexahedron", 5}, Parameter{"hexahedron", 6},
                                           Parameter{"hexahedron", 7}, Parameter{"hexahedron", 8},
                                           Parameter{"prism", 4}, Parameter{"pyramid", 4}),
                         name_of);

} // namespace
} // namespace rafter::test
