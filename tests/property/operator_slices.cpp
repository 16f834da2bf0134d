// SPDX-License-Identifier: BSD-3-Clause
// Slice-wise kernels (contraction slice-wise) compute what the simplest program means, compiled and interpreted: values
// and derivatives, several fields and components, affine, multilinear and curved cells, on quadrilaterals and
// hexahedra. Elsewhere another contraction is taken.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/mapping.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

namespace key = schedule::key;

struct SliceCase {
  int degree = 1, components = 0, points = 2;
  std::string form, rest; ///< keys of the plan other than the contraction
  element::QuadratureKind rule = element::QuadratureKind::gauss;
};

constexpr const char* varying_in_slices = "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[1])*kappa*u*v)*dx";

class SliceWise : public ::testing::TestWithParam<std::string> {
protected:
  int dim() const { return box_dimension(GetParam()); }
  std::string along_last() const { return dim() == 2 ? "dx(1)" : "dx(2)"; }
  /// The cells are affine, multilinear and curved, and fill one batch and a part of another.
  std::vector<mesh::Mesh> meshes() const {
    return {scrambled(box(GetParam()), 2), curved_box(GetParam(), 1), curved_box(GetParam(), 2)};
  }
  /// The cases have fewer and more points than dofs, no interpolation, values or derivatives alone, and several
  /// components.
  std::vector<SliceCase> cases() const {
    const auto gll = element::QuadratureKind::gll;
    return {{1, 0, 2, varying_in_slices, ""},
            {2, 0, 4, varying_in_slices, "factors=store even_odd=2"},
            {3, 0, 3, varying_in_slices, "factors=store-merged vector_width=4"},
            {3, 0, 4, varying_in_slices, "factors=recompute-merged even_odd=0", gll},
            {2, dim(), 3, elasticity_form(dim()) + " + inner(u, v)*dx", "factors=recompute vector_width=2", gll},
            {3, 0, 5, "kappa*u*v*dx", "vector_width=4"},
            {2, 0, 3, "kappa*u*v*dx", "vector_width=4", gll},
            {3, 0, 5, fmt::format("u*v.{}*dx", along_last()), "factors=recompute"},
            {3, 0, 5, fmt::format("(u.dx(0)*v + x[0]*u*v.{})*dx", along_last()), "factors=recompute even_odd=3"},
            {2, dim(), 4, elasticity_form(dim()), "factors=recompute even_odd=0"},
            {3, dim(), 5, elasticity_form(dim()), "factors=store storage=float vector_width=4"},
            {3, dim(), 5, elasticity_form(dim()), "factors=store compute=float vector_width=8"}};
  }
  static op::Operator make(const Problem& problem, const SliceCase& wanted, op::OperatorOptions options) {
    options.quadrature.points = wanted.points;
    options.quadrature.kind = wanted.rule;
    return {problem.form(wanted.form), planned(options)};
  }
  static bool has_floats(const SliceCase& wanted) { return wanted.rest.find("float") != std::string::npos; }
  static void check(mesh::Mesh mesh, const SliceCase& wanted, op::OperatorOptions options) {
    SCOPED_TRACE(fmt::format("{} degree {} {} {}", mesh.source, wanted.degree, wanted.form, wanted.rest));
    Problem problem(std::move(mesh), wanted.degree, wanted.components);
    problem.with("kappa", 0.7);
    // Floats are compared with floats.
    const std::string meaning = has_floats(wanted) ? "mapping=plain " + wanted.rest : simplest;
    const auto B = make(problem, wanted, {.shared_device = std::make_shared<InterpreterDevice>(), .plan = meaning});
    const auto expected = values_of(applied(B, random_vector(B, 3)));
    options.plan = "contraction=slice-wise " + wanted.rest;
    const auto A = make(problem, wanted, options);
    for (const auto& info : A.kernels().info())
      EXPECT_EQ(info.plan[key::contraction], kernel::Contraction::slice_wise) << info.name;
    const double rounding = wanted.rest.find("compute=float") != std::string::npos ? 0x1p-24 : 1e-13;
    expect_action(A, 3, expected, rounding * (wanted.degree + 1) * (wanted.degree + 1) * largest(expected));
  }
};

TEST_P(SliceWise, CompiledKernelsGiveWhatTheSimplestProgramMeans) {
  const auto all = cases();
  const auto on = meshes();
  for (std::size_t i = 0; i < all.size(); ++i) check(on[i % on.size()], all[i], {.threads = 2});
}

TEST_P(SliceWise, InterpretedProgramsGiveWhatTheSimplestProgramMeans) {
  const auto all = cases();
  const auto on = meshes();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& mesh : on) check(mesh, all[i], {.shared_device = std::make_shared<InterpreterDevice>()});
}

TEST_P(SliceWise, HighDegrees) {
  check(curved_box(GetParam(), 1, 1), {7, 0, 8, helmholtz_form(), ""}, {.threads = 1});
  check(curved_box(GetParam(), 1, 1), {8, dim(), 10, elasticity_form(dim()), "even_odd=0"}, {.threads = 1});
}

TEST_P(SliceWise, CheckedDeviceFindsNoStaleOrForeignAccess) {
  for (const auto& wanted : cases()) check(curved_box(GetParam(), 2), wanted, {.device = "checked"});
}

TEST_P(SliceWise, RightHandSidesAndMixedFields) {
  const auto expected = action_and_load_of_two_fields(GetParam(), simplest, std::make_shared<InterpreterDevice>());
  for (const char* plan : {"contraction=slice-wise", "contraction=slice-wise mapping=plain"}) {
    const auto found = action_and_load_of_two_fields(GetParam(), plan, device::make_device("host", 1));
    EXPECT_LE(distance(found, expected), 1e-12 * largest(expected)) << plan;
  }
}

INSTANTIATE_TEST_SUITE_P(tensor_shapes, SliceWise, ::testing::Values("quadrilateral", "hexahedron"),
                         [](const auto& shape) { return shape.param; });

TEST(SliceWiseOf, CellsWithoutGridsOfPointsIsDense) {
  const auto contraction = [](const std::string& shape) {
    Problem problem(box(shape), 2);
    const op::Operator A(
        problem.form("inner(grad(u), grad(v))*dx"),
        planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = "contraction=slice-wise"}));
    return A.kernels().info().front().plan[key::contraction];
  };
  for (const char* shape : {"interval", "quadrilateral", "hexahedron"})
    EXPECT_EQ(contraction(shape), kernel::Contraction::slice_wise) << shape;
  for (const char* shape : {"prism", "pyramid"}) EXPECT_EQ(contraction(shape), kernel::Contraction::dense) << shape;
}

} // namespace
} // namespace rafter::test
