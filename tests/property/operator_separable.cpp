// SPDX-License-Identifier: BSD-3-Clause
// Kernels of products of one-dimensional matrices (contraction separable) compute what the simplest program means,
// compiled and interpreted. Forms that are not of this kind are left to collocation.
#include <gtest/gtest.h>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

namespace key = schedule::key;

const std::string convection = "(0.1*inner(grad(u), grad(v)) + 2*u.dx(0)*v + kappa*u*v)*dx";

struct SeparableCase {
  int degree = 1, components = 0, points = 2;
  std::string form, rest; ///< keys of the plan other than the contraction
  element::QuadratureKind rule = element::QuadratureKind::gauss;
};

class SeparableKernels : public ::testing::TestWithParam<std::string> {
protected:
  int dim() const { return box_dimension(GetParam()); }
  /// The meshes are boxes, sheared boxes, and boxes whose cells see their axes differently.
  std::vector<mesh::Mesh> meshes() const {
    return {box(GetParam()), sheared(box(GetParam())), scrambled(box(GetParam()), 2)};
  }
  /// The cases have nodes at the points and elsewhere, matrices by halves and whole, several sub-batches, one field and
  /// several.
  std::vector<SeparableCase> cases() const {
    const auto gll = element::QuadratureKind::gll;
    return {{1, 0, 2, helmholtz_form(), "factors=store"},
            {1, dim(), 3, elasticity_form(dim()), ""},
            {2, 0, 4, "kappa*u*v*dx", "factors=recompute even_odd=2"},
            {2, 0, 3, "inner(grad(u), grad(v))*dx", "factors=recompute-merged vector_width=4"},
            {3, 0, 4, "inner(grad(u), grad(v))*dx", "factors=store-merged", gll},
            {3, 0, 4, "kappa*u*v*dx", "vector_width=2", gll},
            {3, dim(), 5, elasticity_form(dim()), "factors=store vector_width=4 even_odd=0"},
            {4, 0, 6, convection, "factors=recompute"},
            {2, 3, 3, "(inner(grad(u), grad(v)) + kappa*inner(u, v))*dx", "factors=store storage=float"},
            {3, 0, 4, helmholtz_form(), "factors=store compute=float vector_width=8"},
            {2, 0, 3, "inner(grad(u), grad(v))*dx", "mapping=plain"}};
  }
  static op::Operator make(const Problem& problem, const SeparableCase& wanted, op::OperatorOptions options) {
    options.quadrature.points = wanted.points;
    options.quadrature.kind = wanted.rule;
    return {problem.form(wanted.form), planned(options)};
  }
  static void check(mesh::Mesh mesh, const SeparableCase& wanted, op::OperatorOptions options) {
    SCOPED_TRACE(mesh.source + " degree " + std::to_string(wanted.degree) + " " + wanted.form + " " + wanted.rest);
    Problem problem(std::move(mesh), wanted.degree, wanted.components);
    problem.with("kappa", 0.7);
    const bool has_floats = wanted.rest.find("float") != std::string::npos; // floats are compared with doubles
    const auto B = make(problem, wanted, {.shared_device = std::make_shared<InterpreterDevice>(), .plan = simplest});
    const auto expected = values_of(applied(B, random_vector(B, 3)));
    options.plan = "contraction=separable " + wanted.rest;
    const auto A = make(problem, wanted, options);
    for (const auto& info : A.kernels().info()) EXPECT_EQ(info.plan[key::contraction], kernel::Contraction::separable);
    const double rounding = has_floats ? 4 * 0x1p-24 : 1e-13;
    expect_action(A, 3, expected, rounding * (wanted.degree + 1) * (wanted.degree + 1) * largest(expected));
  }
};

TEST_P(SeparableKernels, CompiledKernelsGiveWhatTheSimplestProgramMeans) {
  const auto all = cases();
  const auto on = meshes();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t turn = 0; turn < 2; ++turn) check(on[(i + turn) % on.size()], all[i], {.threads = 2});
}

TEST_P(SeparableKernels, InterpretedProgramsGiveWhatTheSimplestProgramMeans) {
  const auto all = cases();
  const auto on = meshes();
  for (std::size_t i = 0; i < all.size(); ++i)
    check(on[(i + 2) % on.size()], all[i], {.shared_device = std::make_shared<InterpreterDevice>()});
}

TEST_P(SeparableKernels, HighDegrees) {
  // The time of the interpreter grows fast with the degree.
  for (const int degree : dim() == 2 ? std::vector{7, 8, 9} : std::vector{7})
    check(box(GetParam(), 1), {degree, 0, degree + 2, helmholtz_form(), ""}, {.threads = 1});
  check(sheared(box(GetParam())), {dim() == 2 ? 6 : 5, 0, 7, convection, ""}, {.threads = 1});
}

TEST_P(SeparableKernels, CheckedDeviceFindsNoStaleOrForeignAccess) {
  for (const auto& wanted : cases()) check(sheared(box(GetParam())), wanted, {.device = "checked"});
}

TEST_P(SeparableKernels, SeveralFieldsOfOneDegree) {
  Problem problem(sheared(box(GetParam())),
                  {{.degree = 2, .components = dim(), .name = "u"}, {.degree = 2, .name = "p"}});
  const std::string text = "(inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p + 2*p*v_p)*dx";
  const auto result = [&](const std::string& plan, std::shared_ptr<device::Device> device) {
    const op::Operator A(problem.form(text), problem.system(),
                         planned({.shared_device = std::move(device), .plan = plan}));
    return std::pair{values_of(applied(A, random_vector(A, 5))), A.kernels().info().front().plan[key::contraction]};
  };
  const auto expected = result(simplest, std::make_shared<InterpreterDevice>()).first;
  const auto [found, contraction] = result("contraction=separable", device::make_device("host", 1));
  EXPECT_EQ(contraction, kernel::Contraction::separable);
  EXPECT_LE(distance(found, expected), 1e-12 * largest(expected));
}

INSTANTIATE_TEST_SUITE_P(tensor_shapes, SeparableKernels, ::testing::Values("quadrilateral", "hexahedron"),
                         [](const auto& shape) { return shape.param; });

TEST(SeparableContraction, ServesIntervals) {
  Problem problem(box("interval", 11), 3);
  const auto result = [&](const std::string& plan) {
    const op::Operator A(problem.form("(0.1*inner(grad(u), grad(v)) + 2*u.dx(0)*v + u*v)*dx"),
                         planned({.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan}));
    return values_of(applied(A, random_vector(A, 5)));
  };
  const auto expected = result(simplest);
  EXPECT_LE(distance(result("contraction=separable"), expected), 1e-12 * largest(expected));
}

TEST(SeparableContraction, AnotherOneTakesWhatItDoesNotServe) {
  const auto contraction = [](mesh::Mesh mesh, const std::string& form) {
    Problem problem(std::move(mesh), 2);
    const op::Operator A(problem.form(form), planned({.shared_device = std::make_shared<InterpreterDevice>(),
                                                      .plan = "contraction=separable"}));
    return std::string(kernel::name(A.kernels().info().front().plan[key::contraction]));
  };
  EXPECT_EQ(contraction(box("hexahedron"), "u*v*dx"), "separable");
  EXPECT_EQ(contraction(box("hexahedron"), "x[0]*u*v*dx"), "collocated");
  EXPECT_EQ(contraction(curved_box("hexahedron", 1), "u*v*dx"), "collocated");
  EXPECT_EQ(contraction(box("tetrahedron"), "u*v*dx"), "modal");
  EXPECT_EQ(contraction(box("prism"), "u*v*dx"), "dense");
}

/// For the Laplacian of degree 1 stored matrices of cells are as fast (docs/decisions/0094-products-of-arrays.md).
TEST(SeparableContraction, IsTakenOnBoxes) {
  const std::string mass = "u*v*dx", laplacian = "inner(grad(u), grad(v))*dx";
  for (const auto& [degree, form] :
       {std::pair{1, mass}, std::pair{2, mass}, std::pair{4, mass}, std::pair{2, laplacian}, std::pair{4, laplacian}}) {
    Problem problem(box("hexahedron", 16 / degree), degree);
    const op::Operator A(problem.form(form), planned({.threads = 1}));
    EXPECT_EQ(A.kernels().info().front().plan[key::contraction], kernel::Contraction::separable) << form << degree;
  }
}

} // namespace
} // namespace rafter::test
