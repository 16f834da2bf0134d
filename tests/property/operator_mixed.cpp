// SPDX-License-Identifier: BSD-3-Clause
// Tests systems of several fields, and forms with known fields.
#include <gtest/gtest.h>

#include <random>

#include <rafter/operator/linear_form.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

std::vector<double> part(const Vector& x, const Problem& problem, std::size_t field) {
  const auto system = problem.system();
  const auto begin = x.host_read().begin() + system.offset(field);
  return {begin, begin + problem.space(field)->num_local()};
}

/// Returns a problem with vectors of degree `degree` and scalars of one degree less.
Problem velocity_and_pressure(mesh::Mesh mesh, int degree) {
  const int dim = mesh.gdim;
  Problem problem(std::move(mesh),
                  {{.degree = degree, .components = dim, .name = "w"}, {.degree = degree - 1, .name = "p"}});
  problem.with("kappa", 0.7);
  return problem;
}
std::string divergence(const std::string& field, int dim) {
  return dim == 1 ? field + "[0].dx(0)" : "div(" + field + ")";
}
std::string stokes(int dim) {
  return "(inner(grad(w), grad(v_w)) - p*" + divergence("v_w", dim) + " - v_p*" + divergence("w", dim) + ")*dx";
}

class Mixed : public ::testing::TestWithParam<std::string> {
protected:
  std::vector<mesh::Mesh> meshes() const { return {scrambled(box(GetParam()), 3), curved_box(GetParam(), 2)}; }
  op::OperatorOptions options_ =
      planned({.shared_device = std::make_shared<InterpreterDevice>(), .quadrature = {.degree = 4}});
};

TEST_P(Mixed, UncoupledBlocksAreTheOperatorsOfTheirFields) {
  for (auto& mesh : meshes()) {
    SCOPED_TRACE(mesh.source);
    const Problem both(mesh, {{.degree = 2, .name = "a"}, {.degree = 1, .name = "b"}});
    const Problem first(mesh, {{.degree = 2, .name = "a"}}), second(mesh, {{.degree = 1, .name = "b"}});
    const std::string laplace = "inner(grad(a), grad(v_a))*dx", mass = "b*v_b*dx";
    const op::Operator A(both.form(laplace + " + " + mass), both.system(), options_);
    const op::Operator L(first.form(laplace), options_), M(second.form(mass), options_);
    const Vector x = random_vector(A, 3);
    const Vector y = applied(A, x);
    Vector xa = L.make_vector(), xb = M.make_vector();
    std::ranges::copy(part(x, both, 0), xa.host_overwrite().begin());
    std::ranges::copy(part(x, both, 1), xb.host_overwrite().begin());
    EXPECT_LE(distance(part(y, both, 0), applied(L, xa).host_read()), 1e-13 * largest(y.host_read()));
    EXPECT_LE(distance(part(y, both, 1), applied(M, xb).host_read()), 1e-13 * largest(y.host_read()));
  }
}

TEST_P(Mixed, CouplingTermsAreATransposedPair) {
  for (auto& mesh : meshes()) {
    const Problem problem = velocity_and_pressure(std::move(mesh), 2);
    SCOPED_TRACE(problem.mesh().source);
    const std::string div_w = divergence("w", problem.dim()), div_v = divergence("v_w", problem.dim());
    const op::Operator B(problem.form("v_p*" + div_w + "*dx"), problem.system(), options_);
    const op::Operator BT(problem.form("p*" + div_v + "*dx"), problem.system(), options_);
    const Vector x = random_vector(B, 1), y = random_vector(B, 2);
    const Vector Bx = applied(B, x), BTy = applied(BT, y);
    EXPECT_NEAR(dot(Bx, y), dot(x, BTy), 1e-13 * norm(Bx) * norm(y));
    EXPECT_EQ(largest(part(Bx, problem, 0)), 0) << "B writes into the rows of p only";
    EXPECT_EQ(largest(part(BTy, problem, 1)), 0) << "B^T writes into the rows of w only";
    EXPECT_GT(largest(part(Bx, problem, 1)), 0);
  }
}

TEST_P(Mixed, StokesIsSymmetricAndIndefinite) {
  const Problem problem = velocity_and_pressure(curved_box(GetParam(), 1), 2);
  const op::Operator A(problem.form(stokes(problem.dim())), problem.system(), options_);
  const Vector x = random_vector(A, 1), y = random_vector(A, 2);
  const Vector Ax = applied(A, x);
  EXPECT_NEAR(dot(Ax, y), dot(x, applied(A, y)), 1e-13 * norm(Ax) * norm(y));
}

TEST_P(Mixed, DivergenceOfAPolynomialIsItsProjection) {
  // The equation (div w, q) = (g, q) has w_c = x_c^2 / 2 and g = sum of x_c, which is exact for degree 2 on straight
  // cells.
  const Problem problem = velocity_and_pressure(scrambled(box(GetParam()), 6), 2);
  const int dim = problem.dim();
  const op::Operator B(problem.form("v_p*" + divergence("w", dim) + "*dx"), problem.system(), options_);
  const Vector w =
      problem.interpolated(B.make_vector(), [](std::span<const double> x, std::size_t c) { return 0.5 * x[c] * x[c]; });
  std::string sum = "(x[0]";
  for (int d = 1; d < dim; ++d) sum += " + x[" + std::to_string(d) + "]";
  Vector b = B.make_vector();
  op::LinearForm(problem.form(sum + ")*v_p*dx"), problem.system(), options_).assemble(b);
  EXPECT_LE(distance(applied(B, w).host_read(), b.host_read()), 1e-13 * largest(b.host_read()));
}

TEST_P(Mixed, DiagonalHoldsTheSquareBlocksOnly) {
  const Problem problem = velocity_and_pressure(box(GetParam()), 2);
  const op::Operator A(problem.form(stokes(problem.dim())), problem.system(), options_);
  Vector d = A.make_vector();
  A.diagonal(d);
  EXPECT_EQ(largest(part(d, problem, 1)), 0);
  std::mt19937 random(4);
  for (int n = 0; n < 4; ++n) {
    const std::size_t i = random() % d.size();
    Vector e = A.make_vector();
    std::ranges::fill(e.host_overwrite(), 0.0);
    e.host_write()[i] = 1;
    EXPECT_NEAR(d.host_read()[i], applied(A, e).host_read()[i], 1e-13 * largest(d.host_read())) << "entry " << i;
  }
}

TEST_P(Mixed, DiagonalDoesNotDependOnTheOrderOfTheTerms) {
  const Problem problem(box(GetParam()), {{.degree = 2, .name = "a"}, {.degree = 1, .name = "b"}});
  const std::string terms[] = {"inner(grad(a), grad(v_a))*dx", "2*b*v_b*dx", "b*v_a*dx", "a*v_b*dx"};
  std::vector<double> expected;
  for (const auto& order : {std::array<std::size_t, 4>{0, 1, 2, 3}, std::array<std::size_t, 4>{2, 3, 1, 0},
                            std::array<std::size_t, 4>{3, 2, 0, 1}, std::array<std::size_t, 4>{1, 2, 0, 3}}) {
    std::string text = terms[order[0]];
    for (std::size_t i = 1; i < 4; ++i) text += " + " + terms[order[i]];
    const op::Operator A(problem.form(text), problem.system(), options_);
    Vector d = A.make_vector();
    A.diagonal(d);
    if (expected.empty()) expected = values_of(d);
    EXPECT_LE(distance(d.host_read(), expected), 1e-13 * largest(expected)) << text;
    EXPECT_GT(largest(part(d, problem, 0)), 0);
    EXPECT_GT(largest(part(d, problem, 1)), 0);
  }
}

TEST_P(Mixed, ConditionsOnOneFieldLeaveTheOtherFree) {
  const Problem problem = velocity_and_pressure(box(GetParam()), 2);
  auto options = options_;
  options.dirichlet = {dirichlet(problem.space(1), [](std::span<const double>, std::size_t) { return 2.5; }, {1})};
  const op::Operator A(problem.form(stokes(problem.dim())), problem.system(), options);
  const auto offset = static_cast<std::int32_t>(problem.system().offset(1));
  EXPECT_GT(A.constraints().entries.size(), 0U);
  for (std::size_t i = 0; i < A.constraints().entries.size(); ++i) {
    EXPECT_GE(A.constraints().entries[i], offset);
    EXPECT_EQ(A.constraints().values[i], 2.5);
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, Mixed, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(MixedCompiled, StokesEqualsItsMeaning) {
  for (const char* shape : {"triangle", "hexahedron", "prism"}) {
    const Problem problem = velocity_and_pressure(curved_box(shape, 1), 2);
    const op::Operator compiled(problem.form(stokes(problem.dim())), problem.system(), planned({.threads = 2}));
    const op::Operator meant(problem.form(stokes(problem.dim())), problem.system(), interpreted());
    const auto expected = values_of(applied(meant, random_vector(meant, 3)));
    EXPECT_LE(distance(applied(compiled, random_vector(compiled, 3)).host_read(), expected), 1e-13 * largest(expected))
        << shape;
  }
}

// --- known fields ----------------------------------------------------------------------------------------------------

class KnownFields : public ::testing::TestWithParam<std::string> {};

TEST_P(KnownFields, FunctionalsOfPolynomialsAreTheirIntegrals) {
  const Problem problem(scrambled(box(GetParam()), 3), {{.degree = 2, .name = "a"}, {.degree = 1, .name = "b"}});
  const op::OperatorOptions options = interpreted();
  Vector fields(options.shared_device, static_cast<std::size_t>(problem.system().size()));
  const auto a = problem.interpolated(
      fields, [](std::span<const double> x, std::size_t) { return x[0] * x[0]; }, 0);
  const auto b = problem.interpolated(
      fields, [](std::span<const double> x, std::size_t) { return 1 + x[0]; }, 1);
  const auto sum = fields.host_overwrite();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = a.host_read()[i] + b.host_read()[i];
  const auto value = [&](const std::string& text) {
    return op::Functional(problem.functional(text), problem.system(), options)(fields);
  };
  // A side across x has this measure, and the length along x is 1.
  const double face = problem.dim() == 1 ? 1 : problem.dim() == 2 ? 0.75 : 0.75 * 1.25;
  EXPECT_NEAR(value("a*dx"), face / 3, 1e-13);
  EXPECT_NEAR(value("b*dx"), face * 1.5, 1e-13);
  EXPECT_NEAR(value("a*b*dx"), face * (1. / 3 + 1. / 4), 1e-13);
  EXPECT_NEAR(value("inner(grad(a), grad(b))*dx"), face, 1e-13);
  EXPECT_NEAR(value("b*ds(2)"), 2 * face, 1e-13);
  EXPECT_NEAR(value("a*dx + b*ds(1)"), face / 3 + face, 1e-13);
}

INSTANTIATE_TEST_SUITE_P(every_shape, KnownFields, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
