// SPDX-License-Identifier: BSD-3-Clause
// Kernels with points in the lanes (mapping simd_points) compute what the simplest program means, compiled and
// interpreted. Forms that the mapping does not support are left to another mapping.
#include <gtest/gtest.h>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/mapping.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

namespace key = schedule::key;

struct PointLanesCase {
  int degree = 1, components = 0, points = 2;
  std::string form, rest; ///< keys of the plan other than the mapping
  element::QuadratureKind rule = element::QuadratureKind::gauss;
};

const std::string varying_in_lanes = "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[1])*kappa*u*v)*dx";

class PointsInLanes : public ::testing::TestWithParam<std::string> {
protected:
  int dim() const { return box_dimension(GetParam()); }
  std::string convection() const {
    return dim() == 2 ? "(u.dx(0)*v + x[0]*u*v.dx(1))*dx" : "(u.dx(0)*v + x[0]*u*v.dx(2))*dx";
  }
  /// The cells are affine, multilinear and curved, and fill one batch and a part of another.
  std::vector<mesh::Mesh> meshes() const {
    return {scrambled(box(GetParam()), 2), curved_box(GetParam(), 1), curved_box(GetParam(), 2)};
  }
  /// The cases have fewer and more points than lanes, as many, no interpolation, values or derivatives alone, and
  /// several components.
  std::vector<PointLanesCase> cases() const {
    const auto gll = element::QuadratureKind::gll;
    return {{1, 0, 2, varying_in_lanes, ""},
            {2, 0, 4, varying_in_lanes, "factors=store"},
            {3, 0, 4, varying_in_lanes, "factors=store-merged vector_width=4"},
            {3, 0, 4, varying_in_lanes, "factors=recompute-merged even_odd=0", gll},
            {4, 0, 5, varying_in_lanes, "factors=recompute vector_width=4", gll},
            {2, dim(), 3, elasticity_form(dim()) + " + inner(u, v)*dx", "factors=recompute vector_width=2", gll},
            {3, 0, 5, "kappa*u*v*dx", "factors=store-merged vector_width=2"},
            {3, 0, 5, dim() == 2 ? "u*v.dx(1)*dx" : "u*v.dx(2)*dx", "factors=recompute"},
            {3, 0, 5, convection(), "factors=recompute vector_width=4"},
            {2, dim(), 3, elasticity_form(dim()), "factors=recompute"},
            {3, dim(), 5, elasticity_form(dim()), "factors=store storage=float vector_width=4"},
            {3, dim(), 5, elasticity_form(dim()), "factors=store compute=float vector_width=8"}};
  }
  static std::string plan(const PointLanesCase& wanted) { return "mapping=simd_points " + wanted.rest; }
  static op::Operator make(const Problem& problem, const PointLanesCase& wanted, op::OperatorOptions options) {
    options.quadrature.points = wanted.points;
    options.quadrature.kind = wanted.rule;
    return {problem.form(wanted.form), planned(options)};
  }
  static void expect_serves(const op::Operator& A) {
    for (const auto& info : A.kernels().info()) EXPECT_EQ(info.plan[key::mapping].name, "simd_points") << info.name;
  }
  static bool has_floats(const PointLanesCase& wanted) { return wanted.rest.find("float") != std::string::npos; }
  static void check(mesh::Mesh mesh, const PointLanesCase& wanted, op::OperatorOptions options) {
    SCOPED_TRACE(mesh.source + " degree " + std::to_string(wanted.degree) + " " + wanted.rest);
    Problem problem(std::move(mesh), wanted.degree, wanted.components);
    problem.with("kappa", 0.7);
    // Floats are compared with floats.
    const std::string meaning = has_floats(wanted) ? "mapping=plain " + wanted.rest : simplest;
    const auto B = make(problem, wanted, {.shared_device = std::make_shared<InterpreterDevice>(), .plan = meaning});
    const auto expected = values_of(applied(B, random_vector(B, 3)));
    options.plan = plan(wanted);
    const auto A = make(problem, wanted, options);
    expect_serves(A);
    const double rounding = wanted.rest.find("compute=float") != std::string::npos ? 0x1p-24 : 1e-13;
    expect_action(A, 3, expected, rounding * (wanted.degree + 1) * (wanted.degree + 1) * largest(expected));
  }
};

TEST_P(PointsInLanes, CompiledKernelsGiveWhatTheSimplestProgramMeans) {
  const auto all = cases();
  const auto on = meshes();
  for (std::size_t i = 0; i < all.size(); ++i) check(on[i % on.size()], all[i], {.threads = 2});
}

TEST_P(PointsInLanes, InterpretedProgramsGiveWhatTheSimplestProgramMeans) {
  const auto all = cases();
  const auto on = meshes();
  for (std::size_t i = 0; i < all.size(); ++i)
    check(on[(i + 1) % on.size()], all[i], {.shared_device = std::make_shared<InterpreterDevice>()});
}

TEST_P(PointsInLanes, HighDegrees) {
  for (const int degree : {6, 7})
    check(curved_box(GetParam(), 1, 1), {degree, 0, 8, helmholtz_form(), ""}, {.threads = 1});
  check(curved_box(GetParam(), 1, 1), {8, dim(), 9, elasticity_form(dim()), ""}, {.threads = 1});
}

TEST_P(PointsInLanes, CheckedDeviceFindsNoStaleOrForeignAccess) {
  for (const auto& wanted : cases()) check(curved_box(GetParam(), 2), wanted, {.device = "checked"});
}

/// One field has more dofs than points along an axis, and no test function of its own.
TEST_P(PointsInLanes, FieldsWithMoreDofsThanPoints) {
  const Problem problem(scrambled(box(GetParam()), 1), {{.degree = 1}, {.degree = 3, .name = "p"}});
  const auto form = problem.form("(inner(grad(u), grad(v_u)) + p*v_u + p.dx(0)*v_u)*dx");
  const auto result = [&](const std::string& plan, std::shared_ptr<device::Device> device) {
    op::OperatorOptions options = planned({.shared_device = std::move(device), .plan = plan});
    options.quadrature.points = 2;
    const op::Operator A(form, problem.system(), options);
    return values_of(applied(A, random_vector(A, 5)));
  };
  const auto expected = result(simplest, std::make_shared<InterpreterDevice>());
  for (const char* plan :
       {"mapping=simd_points", "mapping=simd_points vector_width=4 even_odd=0", "mapping=simd_cells"}) {
    const auto found = result(plan, nullptr);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-12 * largest(expected)) << plan;
  }
}

TEST_P(PointsInLanes, RightHandSidesAndMixedFields) {
  const auto expected = action_and_load_of_two_fields(GetParam(), simplest, std::make_shared<InterpreterDevice>());
  const auto found = action_and_load_of_two_fields(GetParam(), "mapping=simd_points", device::make_device("host", 1));
  EXPECT_LE(distance(found, expected), 1e-12 * largest(expected));
}

INSTANTIATE_TEST_SUITE_P(tensor_shapes, PointsInLanes, ::testing::Values("quadrilateral", "hexahedron"),
                         [](const auto& shape) { return shape.param; });

TEST(PointLanes, AnotherMappingTakesWhatTheyDoNotServe) {
  const auto mapping = [](const std::string& shape, const std::string& rest) {
    Problem problem(box(shape), 3);
    const op::Operator A(problem.form("u*v*dx"), planned({.shared_device = std::make_shared<InterpreterDevice>(),
                                                          .plan = "mapping=simd_points " + rest}));
    return A.kernels().info().front().plan[key::mapping].name;
  };
  EXPECT_EQ(mapping("hexahedron", "vector_width=4"), "simd_points");
  EXPECT_EQ(mapping("hexahedron", "contraction=per-derivative"), "simd_cells");
  EXPECT_EQ(mapping("hexahedron", "contraction=slice-wise"), "simd_cells");
  EXPECT_EQ(mapping("hexahedron", "contraction=dense"), "simd_cells");
  EXPECT_EQ(mapping("hexahedron", "vector_width=1"), "plain");
  for (const char* shape : {"interval", "triangle", "tetrahedron", "prism", "pyramid"})
    EXPECT_EQ(mapping(shape, ""), "simd_cells") << shape;
}

TEST(PointLanes, WorkArraysAreAnEighth) {
  Problem problem(box("hexahedron"), 7);
  const auto work_bytes = [&](const std::string& plan) {
    const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"),
                         planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan}));
    return A.kernels().info().front().work_bytes;
  };
  const double dofs = 8 * 8 * 512; // gathered dofs of a batch and those to be scattered
  // Derivatives along the first axis are kept for one layer of points.
  EXPECT_LE(8 * (work_bytes("mapping=simd_points") - 2 * dofs - 64), 1.1 * work_bytes("mapping=simd_cells"));
}

} // namespace
} // namespace rafter::test
